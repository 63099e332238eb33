#pragma once

// Only for src/planner/: requirements, or their defaults.

#include <algorithm>
#include <cstdint>

#include "tally/planner/plan_dleft.hpp"

namespace tally::planner_detail {

inline constexpr std::uint64_t max_fingerprints = std::uint64_t{1} << 62;
inline constexpr std::uint64_t max_frequent_keys = std::uint64_t{1} << 31;

/// The part of the failure probability that is for the side table; the rest is for the cells.
inline constexpr double side_table_share = 0x1p-10;

inline std::uint32_t doublings_of(const Requirements& requirements) {
  return requirements.max_doublings.value_or(0);
}
inline std::uint64_t frequent_keys_of(const Requirements& requirements) {
  return requirements.num_frequent_keys.value_or(0);
}
inline double failure_of(const Requirements& requirements) {
  return requirements.failure_probability.value_or(default_failure_probability);
}

inline std::uint64_t after_doublings(std::uint64_t number, std::uint32_t num_doublings) {
  const std::uint64_t most = max_fingerprints >> num_doublings;
  return std::min(number, most) << num_doublings;
}

/// The replacements in the planned life of a filter, as Requirements::lifetime_operations says.
inline std::uint64_t operations_of(const Requirements& requirements, std::uint64_t num_keys) {
  if (requirements.lifetime_operations) return *requirements.lifetime_operations;
  return default_replacements_per_key * std::min(num_keys, max_fingerprints / default_replacements_per_key);
}

}  // namespace tally::planner_detail
