#pragma once

#include "measured.hpp"

namespace tally::experiments {

/// A number that was computed at so many points, not sampled: its limits are itself.
inline Measured computed(double value, std::uint64_t num_points) {
  return {value, num_points, [value](double) { return Limits{value, value}; }};
}

/// A zero or a minimum that a scan of so many points found between two of them.
inline Measured found_between(Limits limits, std::uint64_t num_points) {
  return {(limits.low + limits.high) / 2, num_points, [limits](double) { return limits; }};
}

}  // namespace tally::experiments
