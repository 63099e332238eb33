#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "tally/export.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/sketches/counted_keys.hpp"

namespace tally::detail {

/// The parts of one side that a merge of the most frequent keys needs.
struct KeysToMerge {
  const CountedKeys& keys;
  /// At most the smallest count of `keys` if these are full, otherwise 0.
  std::uint64_t floor;
  /// The highest count that a key outside `keys` can have; at most `floor`.
  std::function<std::uint64_t(Hash128)> most_before;
};

/// A key that is in one of the two tables but not in the merged one, with the count that is certain for it.
struct LeftOutKey {
  Hash128 digest;
  std::uint64_t weight = 0;
};

/// Two merged tables of the most frequent keys: what SpaceSaving and TopKeys have in common.
///
/// A key that is missing on one side may have a count of up to most_before there, so its count and its error
/// grow by that amount. The `capacity` greatest counts stay. Those below the sum f of both floors are raised
/// to f, and their errors with them. Guarantees:
/// - for each key kept, count - error <= truth <= count and error <= floor; every other key has a count of at
///   most floor;
/// - floor <= the smallest count kept if the table is full, otherwise floor is 0;
/// - the sum of the counts is at most that of both tables.
///
/// The reason for the last one: a kept count is at most f + x, where x is the excess of the key's counts over
/// the floors of the tables that hold it. The counts of a full table add up to capacity * floor + the sum of
/// its x; a table that is not full has floor 0.
/// Source: Agarwal et al. 2012, who add the whole floor for every key of one side.
struct TALLY_EXPORT MergedKeys {
  CountedKeys keys;
  std::uint64_t floor = 0;
  std::vector<LeftOutKey> left_out;

  /// Both tables have the same capacity. Throws std::bad_alloc.
  static MergedKeys of(const KeysToMerge& a, const KeysToMerge& b, std::string_view structure);
};

}  // namespace tally::detail
