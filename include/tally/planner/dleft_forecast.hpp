#pragma once

#include <cstdint>
#include <vector>

namespace tally {

/// A d-left filter after so many doublings, with as many keys as are planned for then.
struct DLeftSize {
  std::uint32_t num_doublings = 0;
  std::uint64_t num_keys = 0;
  std::uint64_t memory_bytes = 0;
  double false_positive_rate = 0;
};

/// What is predicted of a d-left filter beside its false positive rate.
struct DLeftForecast {
  double load = 0;  ///< share of the cells in use, with all keys in it
  double carried_load =
      0;  ///< the largest share that is carried without moves at the failure probability asked for
  /// Bound on the chance that any insertion of its life is answered 'full', were nothing ever moved. Moves
  /// make it less; how much less is no formula.
  double failure_probability = 0;
  std::uint64_t lifetime_operations = 0;  ///< replacements that this is for
  /// Fingerprints that the side table is expected to hold; without a histogram, the most it may have to.
  double expected_spills = 0;
  bool has_fast_loops = false;   ///< batches go by SIMD; else cell by cell
  std::vector<DLeftSize> sizes;  ///< the first, and after each doubling it may do
};

}  // namespace tally
