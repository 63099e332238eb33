#include <pybind11/numpy.h>

#include <array>
#include <utility>

#include "arguments.hpp"
#include "filter.hpp"
#include "filter_methods.hpp"
#include "guarded.hpp"
#include "records.hpp"

namespace tally::python {
namespace {

/// An array of bool, which `ask` fills.
template <class Ask>
py::array_t<bool> ask_batch(const Filter& filter, py::handle keys, Ask ask) {
  const KeyBatch batch(keys, filter.hasher());
  py::array_t<bool> results(static_cast<py::ssize_t>(batch.size()));
  bool* first_result = results.mutable_data();
  filter.read(batch.size(), [&](const AnyFilter& own) {
    batch.for_each_part([&](std::size_t first, std::span<const Hash128> digests) {
      ask(own, digests, std::span<bool>(first_result + first, digests.size()));
    });
  });
  return results;
}

py::object count_batch(const Filter& filter, py::handle keys, bool with_saturated) {
  const KeyBatch batch(keys, filter.hasher());
  py::array_t<std::uint64_t> values(static_cast<py::ssize_t>(batch.size()));
  py::array_t<bool> saturated(with_saturated ? static_cast<py::ssize_t>(batch.size()) : 0);
  std::uint64_t* first_value = values.mutable_data();
  bool* first_saturated = saturated.mutable_data();
  filter.read(batch.size(), [&](const AnyFilter& own) {
    batch.for_each_part([&](std::size_t first, std::span<const Hash128> digests) {
      std::array<Count, 512> counts;
      for (std::size_t begin = 0; begin < digests.size(); begin += counts.size()) {
        const std::span part = digests.subspan(begin, std::min(counts.size(), digests.size() - begin));
        own.count_batch(part, std::span(counts).first(part.size()));
        for (std::size_t i = 0; i < part.size(); ++i) {
          first_value[first + begin + i] = counts[i].value;
          if (with_saturated) first_saturated[first + begin + i] = counts[i].saturated;
        }
      }
    });
  });
  if (with_saturated) return py::make_tuple(values, saturated);
  return values;
}

py::object count(const Filter& filter, py::handle key, bool with_saturated) {
  const Hash128 digest = digest_of(key, filter.hasher());
  const Count found = filter.read(1, [&](const AnyFilter& own) { return own.count(digest); });
  if (with_saturated) return py::make_tuple(found.value, found.saturated);
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
  const KeyBatch batch(keys, filter.hasher());
  static_assert(sizeof(CountEstimate) == 40);
  const py::object type = in_records("count_estimate_dtype");
  py::array results(py::reinterpret_borrow<py::dtype>(type),
                    std::vector<py::ssize_t>{static_cast<py::ssize_t>(batch.size())});
  auto* first_result = static_cast<CountEstimate*>(results.mutable_data());
  filter.read(batch.size(), [&](const AnyFilter& own) {
    batch.for_each_part([&](std::size_t first, std::span<const Hash128> digests) {
      own.estimate_batch(digests, {first_result + first, digests.size()});
    });
  });
  return results;
}

}  // namespace

int contains_slot(PyObject* self, PyObject* key) noexcept {
  return in_slot([&] {
    const auto& filter = py::cast<const Filter&>(py::handle(self));
    const Hash128 digest = digest_of(key, filter.hasher());
    return static_cast<int>(filter.read(1, [&](const AnyFilter& own) { return own.may_contain(digest); }));
  });
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
        return ask_batch(filter, keys,
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
        return ask_batch(filter, keys,
                         [theta](const AnyFilter& own, std::span<const Hash128> digests,
                                 std::span<bool> results) { own.at_least_batch(digests, theta, results); });
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
        const CountEstimate found = estimate(filter, digest_of(key, filter.hasher()));
        return record("CountEstimate", "value"_a = found.value, "lower"_a = found.lower,
                      "upper"_a = found.upper, "probability"_a = found.probability,
                      "saturated"_a = found.saturated);
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
        return record("CountEstimate", "value"_a = found.value, "lower"_a = found.lower,
                      "upper"_a = found.upper, "probability"_a = found.probability,
                      "saturated"_a = found.saturated);
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
