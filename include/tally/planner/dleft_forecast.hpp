#pragma once

#include <cstdint>
#include <vector>

namespace tally {

/// A d-left filter after a number of doublings, with the keys that it is planned for at that size.
struct DLeftSize {
  std::uint32_t num_doublings = 0;
  std::uint64_t num_keys = 0;
  std::uint64_t memory_bytes = 0;
  double false_positive_rate = 0;
};

/// The predictions for a d-left filter beside its false positive rate.
struct DLeftForecast {
  double load = 0;  ///< share of the cells in use when all keys are in the filter
  /// The maximum share at the required failure probability and max_moves_per_insertion.
  double carried_load = 0;
  /// The maximum share at the required failure probability if nothing were moved.
  double carried_load_without_moves = 0;
  /// Required, or the default; 0 if it is planned as if nothing were moved.
  double max_moves_per_insertion = 0;
  /// Expected share of the insertions that move a key, when the filter is full: theory::dleft_moves_limit.
  double moves_per_insertion = 0;
  /// What the planner allows for the probability that any insertion of the filter's life returns `full`, because the cells or
  /// the side table have no room: a theorem, a bound by measurement, a fit or an assumption, by size and moves (docs/theory.md).
  double failure_probability = 0;
  std::uint64_t lifetime_operations = 0;  ///< replacements in the planned life
  /// Expected number of fingerprints in the side table; without a histogram, the largest expected number.
  double expected_spills = 0;
  bool has_fast_loops = false;   ///< whether batches use vector instructions; else they go cell by cell
  std::vector<DLeftSize> sizes;  ///< at first, and after each possible doubling
};

}  // namespace tally
