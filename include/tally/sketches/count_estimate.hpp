#pragma once

#include <cstdint>

namespace tally {

/// The estimate of a count. Always truth <= upper; and lower <= truth with at least the stated probability,
/// for a key (and a stream) chosen without knowledge of the hash functions.
struct CountEstimate {
  std::uint64_t value = 0;  ///< the smallest counter: never below the truth, unless `saturated`
  std::uint64_t lower = 0;
  std::uint64_t upper = 0;  ///< `value`; the sum of all weights if `value` is saturated
  double probability = 1;   ///< that lower <= truth
  bool saturated = false;  ///< all of the key's counters are at their maximum: the truth may be above `value`

  friend bool operator==(const CountEstimate&, const CountEstimate&) = default;
};

}  // namespace tally
