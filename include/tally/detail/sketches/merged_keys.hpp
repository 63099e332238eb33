#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "tally/hashing/hash128.hpp"
#include "tally/sketches/counted_keys.hpp"

namespace tally::detail {

/// What a merge of the most frequent keys reads of one side.
struct KeysToMerge {
  const CountedKeys& keys;
  /// At most the least count of `keys` if these are full, else 0.
  std::uint64_t floor;
  /// The most that a key counts which is not in `keys`; at most `floor`.
  std::function<std::uint64_t(Hash128)> most_before;
};

/// A key that is in one of two tables and not in the merged one, with what it counted for certain while it was.
struct LeftOutKey {
  Hash128 digest;
  std::uint64_t weight = 0;
};

/// Two tables of the most frequent keys merged: what SpaceSaving and TopKeys have in common.
///
/// A key that one side does not keep may count most_before there: its count and its error grow by that. The greatest
/// counts stay, `capacity` of them, and those that are below the sum f of both floors are raised to it with their errors. Law:
/// - of each key kept, count - error <= truth <= count and error <= floor; every other key counts at most floor;
/// - floor <= the least count kept, if the table is full; else it is 0;
/// - the sum of the counts is at most that of both tables.
/// Why the last: a count that is kept is at most f + x, where x is how far the key's counts stand above the floors of the
/// tables that hold it. The counts of a full table sum up to capacity * floor + the sum of its x; another table has floor 0.
/// Source: Agarwal et al. 2012, who take the whole floor for every key of one side.
struct MergedKeys {
  CountedKeys keys;
  std::uint64_t floor = 0;
  std::vector<LeftOutKey> left_out;

  /// Both tables have the same capacity. Throws std::bad_alloc.
  static MergedKeys of(const KeysToMerge& a, const KeysToMerge& b, std::string_view structure);
};

}  // namespace tally::detail
