#include <array>

#include "arguments.hpp"
#include "batches.hpp"
#include "filter.hpp"
#include "filter_methods.hpp"
#include "records.hpp"

namespace tally::python {
namespace {

std::uint64_t insert_batch(Filter& filter, py::handle keys) {
  const KeyBatch batch(keys, filter.hasher());
  std::uint64_t num_full = 0;
  for_all_keys(filter, batch, [&](AnyFilter& own, std::span<const Hash128> digests, std::size_t) {
    num_full += own.insert_batch(digests);
  });
  return num_full;
}

InsertResult insert(Filter& filter, py::handle key) {
  const Hash128 digest = digest_of(key, filter.hasher());
  return filter.write(1, [&](AnyFilter& own) { return own.insert(digest); });
}

ThresholdState insert_to_threshold(Filter& filter, py::handle key) {
  const Hash128 digest = digest_of(key, filter.hasher());
  return filter.write(1, [&](AnyFilter& own) {
    ThresholdState state{};
    own.insert_batch({&digest, 1}, {&state, 1});
    return state;
  });
}

InsertOutcome test_and_insert(Filter& filter, py::handle key) {
  const Hash128 digest = digest_of(key, filter.hasher());
  return filter.write(1, [&](AnyFilter& own) {
    InsertOutcome outcome{};
    own.insert_batch({&digest, 1}, {&outcome, 1});
    return outcome;
  });
}

InsertResult add(Filter& filter, py::handle key, py::handle weight) {
  const std::uint64_t own_weight = whole_number(weight, "weight");
  const Hash128 digest = digest_of(key, filter.hasher());
  return filter.write(1, [&](AnyFilter& own) {
    const std::uint64_t num_saturated = own.add_batch({&digest, 1}, {&own_weight, 1});
    return num_saturated != 0 ? InsertResult::saturated : InsertResult::counted;
  });
}

std::uint64_t add_batch(Filter& filter, py::handle keys, py::handle weights) {
  const KeyBatch batch(keys, filter.hasher());
  std::optional<Numbers> numbers;
  if (!weights.is_none()) numbers.emplace(weights, batch.size(), "weights");
  std::array<std::uint64_t, KeyBatch::keys_per_part> ones;
  ones.fill(1);
  std::uint64_t num_saturated = 0;
  for_all_keys(filter, batch, [&](AnyFilter& own, std::span<const Hash128> digests, std::size_t first) {
    num_saturated += own.add_batch(digests, numbers ? numbers->span().subspan(first, digests.size())
                                                    : std::span(ones).first(digests.size()));
  });
  return num_saturated;
}

}  // namespace

void define_inserts(py::handle cls, const KindTraits& kind) {
  if (kind.takes_weights) {
    method(
        cls, "add(self, key, weight=1)",
        [](Filter& filter, py::handle key, py::handle weight) {
          return member(EnumClass::insert_result, add(filter, key, weight));
        },
        "Adds a weight (0 to 2^64 - 1) to the count of the key. Returns InsertResult.counted, or saturated "
        "if one of its\n"
        "counters is at its maximum.",
        "key"_a, "weight"_a = 1);
    method(cls, "add_batch(self, keys, weights=None)", add_batch,
           "add for every key, in order; weights has one for each key. Returns the number of keys with a "
           "saturated counter.",
           "keys"_a, "weights"_a = py::none());
    return;
  }
  if (kind.tells_states) {
    method(
        cls, "insert(self, key)",
        [](Filter& filter, py::handle key) {
          return member(EnumClass::threshold_state, insert_to_threshold(filter, key));
        },
        "Inserts the key once. Returns ThresholdState.at_least once it has reached the threshold, else "
        "below.",
        "key"_a);
    method(
        cls, "insert_batch(self, keys)",
        [](Filter& filter, py::handle keys) {
          return results_of_keys<bool, ThresholdState>(
              filter, keys,
              [](AnyFilter& own, std::span<const Hash128> digests, std::span<ThresholdState> states) {
                own.insert_batch(digests, states);
              });
        },
        "Inserts every key, in order. Returns an array of bool: whether the key has then reached the "
        "threshold.",
        "keys"_a);
  } else if (kind.can_remove) {
    method(
        cls, "insert(self, key)",
        [](Filter& filter, py::handle key) { return member(EnumClass::insert_result, insert(filter, key)); },
        kind.can_fill_up ? "Inserts the key. Returns InsertResult.counted, or full: there was no room, and "
                           "nothing changed."
                         : "Inserts the key. Returns InsertResult.counted, or saturated: a counter is at its "
                           "maximum and stays.",
        "key"_a);
    method(
        cls, "insert_batch(self, keys)", insert_batch,
        kind.can_fill_up
            ? "Inserts every key, in order. Returns the number of keys that were refused because it is full."
            : "Inserts every key. Returns 0: the filter cannot fill up.",
        "keys"_a);
  } else {
    method(
        cls, "insert(self, key)", [](Filter& filter, py::handle key) { (void)insert(filter, key); },
        "Inserts the key.", "key"_a);
    method(
        cls, "insert_batch(self, keys)",
        [](Filter& filter, py::handle keys) { (void)insert_batch(filter, keys); }, "Inserts every key.",
        "keys"_a);
  }
  method(
      cls, "test_and_insert(self, key)",
      [](Filter& filter, py::handle key) {
        return member(EnumClass::insert_outcome, test_and_insert(filter, key));
      },
      "Inserts the key. Returns InsertOutcome.new_key if it was certainly absent, seen if it may have been "
      "there, or full.",
      "key"_a);
  method(
      cls, "test_and_insert_batch(self, keys)",
      [](Filter& filter, py::handle keys) {
        return results_of_keys<std::uint8_t, InsertOutcome>(
            filter, keys,
            [](AnyFilter& own, std::span<const Hash128> digests, std::span<InsertOutcome> outcomes) {
              own.insert_batch(digests, outcomes);
            });
      },
      "test_and_insert for every key, in order, as an array of the numbers of InsertOutcome (uint8): a key "
      "that is in the\n"
      "batch twice is new and then seen.",
      "keys"_a);
}

void define_removals(py::handle cls) {
  method(
      cls, "remove(self, key)",
      [](Filter& filter, py::handle key) {
        const Hash128 digest = digest_of(key, filter.hasher());
        return member(EnumClass::remove_result,
                      filter.write(1, [&](AnyFilter& own) { return own.remove(digest); }));
      },
      "Removes the key once; remove only what was inserted. Returns RemoveResult.removed, saturated (its "
      "counters at the\n"
      "maximum stay), or refused: the key is certainly absent, and nothing changed.",
      "key"_a);
  method(
      cls, "remove_batch(self, keys)",
      [](Filter& filter, py::handle keys) {
        return results_of_keys<std::uint8_t, RemoveResult>(
            filter, keys,
            [](AnyFilter& own, std::span<const Hash128> digests, std::span<RemoveResult> results) {
              own.remove_batch(digests, results);
            });
      },
      "remove for every key, in order, as an array of the numbers of RemoveResult (uint8).", "keys"_a);
}

}  // namespace tally::python
