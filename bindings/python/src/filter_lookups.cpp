#include <array>
#include <utility>

#include "arguments.hpp"
#include "batches.hpp"
#include "filter.hpp"
#include "filter_methods.hpp"
#include "records.hpp"

namespace tally::python {
namespace {

py::object count_batch(const Filter& filter, py::handle keys, py::handle wants_saturated) {
  const bool with_saturated = truth(wants_saturated, "with_saturated");
  const KeyBatch batch(keys, filter.hasher());
  py::array_t<std::uint64_t> values(static_cast<py::ssize_t>(batch.size()));
  py::array_t<bool> saturated(with_saturated ? static_cast<py::ssize_t>(batch.size()) : 0);
  std::uint64_t* first_value = values.mutable_data();
  bool* first_saturated = saturated.mutable_data();
  for_all_keys(filter, batch, [&](const AnyFilter& own, std::span<const Hash128> digests, std::size_t first) {
    std::array<Count, KeyBatch::keys_per_part> counts;
    own.count_batch(digests, std::span(counts).first(digests.size()));
    for (std::size_t i = 0; i < digests.size(); ++i) {
      first_value[first + i] = counts[i].value;
      if (with_saturated) first_saturated[first + i] = counts[i].saturated;
    }
  });
  if (with_saturated) return py::make_tuple(values, saturated);
  return values;
}

py::object count(const Filter& filter, py::handle key, py::handle with_saturated) {
  const bool is_pair = truth(with_saturated, "with_saturated");
  const Hash128 digest = digest_of(key, filter.hasher());
  const Count found = filter.read(1, [&](const AnyFilter& own) { return own.count(digest); });
  if (is_pair) return py::make_tuple(found.value, found.saturated);
  return py::int_(found.value);
}

std::uint64_t checked_threshold(const Filter& filter, py::handle threshold) {
  return whole_number(threshold, "threshold", {1, filter.peek().shape().largest_theta()});
}

CountEstimate estimate(const Filter& filter, Hash128 digest) {
  return filter.read(1, [&](const AnyFilter& own) {
    CountEstimate found;
    own.estimate_batch({&digest, 1}, {&found, 1});
    return found;
  });
}

py::array estimate_batch(const Filter& filter, py::handle keys) {
  return estimates_of_keys(filter, keys,
                           [](const AnyFilter& own, std::span<const Hash128> digests,
                              std::span<CountEstimate> results) { own.estimate_batch(digests, results); });
}

}  // namespace

int contains_slot(PyObject* self, PyObject* key) noexcept {
  return slot_of_in<Filter>(self, key,
                            [](const AnyFilter& own, Hash128 digest) { return own.may_contain(digest); });
}

void define_lookups(py::handle cls) {
  method(
      cls, "may_contain(self, key)",
      [](const Filter& filter, py::handle key) {
        const Hash128 digest = digest_of(key, filter.hasher());
        return filter.read(1, [&](const AnyFilter& own) { return own.may_contain(digest); });
      },
      "Whether the key may be in it: True for every key that is, and for others with the false positive "
      "rate. In a\n"
      "ThresholdFilter: whether the key may have reached the threshold. `key in filter` is the same.",
      "key"_a);
  method(
      cls, "may_contain_batch(self, keys)",
      [](const Filter& filter, py::handle keys) {
        return results_of_keys<bool>(
            filter, keys,
            [](const AnyFilter& own, std::span<const Hash128> digests, std::span<bool> results) {
              own.may_contain_batch(digests, results);
            });
      },
      "may_contain for every key, as an array of bool.", "keys"_a);
}

void define_counts(py::handle cls) {
  method(cls, "count(self, key, *, with_saturated=False)", count,
         "How often the key was inserted, or its total weight: never too low, unless a counter is saturated. "
         "With\n"
         "with_saturated: (count, saturated); if saturated, the truth may be any number from the count on.",
         "key"_a, py::kw_only(), "with_saturated"_a = false);
  method(cls, "count_batch(self, keys, *, with_saturated=False)", count_batch,
         "count for every key, as an array of uint64; with with_saturated, also an array of bool.", "keys"_a,
         py::kw_only(), "with_saturated"_a = false);
  method(
      cls, "at_least(self, key, threshold)",
      [](const Filter& filter, py::handle key, py::handle threshold) {
        const std::uint64_t theta = checked_threshold(filter, threshold);
        const Hash128 digest = digest_of(key, filter.hasher());
        return filter.read(1, [&](const AnyFilter& own) {
          bool found = false;
          own.at_least_batch({&digest, 1}, theta, {&found, 1});
          return found;
        });
      },
      "Whether the key may have been inserted `threshold` times: 1 to largest_threshold; in a "
      "ThresholdFilter only its\n"
      "own threshold.",
      "key"_a, "threshold"_a);
  method(
      cls, "at_least_batch(self, keys, threshold)",
      [](const Filter& filter, py::handle keys, py::handle threshold) {
        const std::uint64_t theta = checked_threshold(filter, threshold);
        return results_of_keys<bool>(
            filter, keys,
            [theta](const AnyFilter& own, std::span<const Hash128> digests, std::span<bool> results) {
              own.at_least_batch(digests, theta, results);
            });
      },
      "at_least for every key, as an array of bool.", "keys"_a, "threshold"_a);
  property(
      cls, "largest_threshold", [](const Filter& filter) { return filter.peek().shape().largest_theta(); },
      "The largest threshold that at_least can answer.");
}

void define_sketch(py::handle cls) {
  method(
      cls, "estimate(self, key)",
      [](const Filter& filter, py::handle key) {
        return to_python(estimate(filter, digest_of(key, filter.hasher())));
      },
      "The count of the key with its bounds: truth <= upper always, and lower <= truth with `probability`.",
      "key"_a);
  method(cls, "estimate_batch(self, keys)", estimate_batch,
         "estimate for every key, as a structured array with the fields value, lower, upper, probability and "
         "saturated.",
         "keys"_a);
  method(
      cls, "inner_product(self, other)",
      [](const Filter& filter, const Filter& other) {
        const CountEstimate found =
            filter.read_with(other, [](const AnyFilter& own, const AnyFilter& theirs) {
              return own.visit([&](const auto& sketch) -> CountEstimate {
                using Sketch = std::remove_cvref_t<decltype(sketch)>;
                if constexpr (requires { sketch.inner_product(sketch); }) {
                  const Sketch* same = theirs.get_if<Sketch>();
                  if (same == nullptr)
                    throw std::invalid_argument("CountMinSketch: scheme differs; must be the same");
                  return sketch.inner_product(*same);
                } else {
                  return {};
                }
              });
            });
        return to_python(found);
      },
      "The sum over all keys of the product of their counts in both sketches (the size of a join), with "
      "bounds.",
      "other"_a);
  property(
      cls, "bound",
      [](const Filter& filter) {
        const std::optional<CountMinBound> found = filter.peek().count_min_bound();
        if (!found) throw py::type_error("self is a filter; must be a CountMinSketch");
        const CountMinBound bound = *found;
        return record("CountMinBound", "epsilon"_a = bound.epsilon,
                      "failure_probability"_a = bound.failure_probability);
      },
      "How far an estimate may be too high, as a share of total_count, and the probability of more.");
  property(
      cls, "total_count",
      [](const Filter& filter) {
        return filter.read(1, [](const AnyFilter& own) { return own.totals().num_insertions; });
      },
      "The sum of all weights.");
  method(
      cls, "halve(self)",
      [](Filter& filter) { filter.write(Held::long_batch, [](AnyFilter& own) { own.halve(); }); },
      "Halves every count, rounded up, so that old counts weigh less.");
}

}  // namespace tally::python
