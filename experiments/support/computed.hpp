#pragma once

#include "measured.hpp"

namespace tally::experiments {

/// A number that was computed at `num_points` points, not sampled: its limits are the number itself.
inline Measured computed(double value, std::uint64_t num_points) {
  return {value, num_points, [value](double) { return Limits{value, value}; }};
}

/// A zero or a minimum that a scan of `num_points` points found between two of them.
inline Measured found_between(Limits limits, std::uint64_t num_points) {
  return {(limits.low + limits.high) / 2, num_points, [limits](double) { return limits; }};
}

}  // namespace tally::experiments
