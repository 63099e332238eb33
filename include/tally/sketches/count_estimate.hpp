#pragma once

#include <cstdint>

namespace tally {

/// What a sketch knows of a count. Always truth <= upper; and lower <= truth with at least the stated
/// probability, for a key (and a stream) chosen without a look at the hash functions.
struct CountEstimate {
  std::uint64_t value = 0;  ///< the least counter: never below the truth, unless `saturated`
  std::uint64_t lower = 0;
  std::uint64_t upper = 0;  ///< `value`; the sum of all weights where `value` is saturated
  double probability = 1;   ///< that lower <= truth
  bool saturated = false;  ///< every counter that could say is at its maximum: the truth may be above `value`

  friend bool operator==(const CountEstimate&, const CountEstimate&) = default;
};

}  // namespace tally
