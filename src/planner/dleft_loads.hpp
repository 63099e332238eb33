#pragma once

// Shared by src/planner_*.cpp only: the loads that d-left tables carry, tabulated, because the planner asks
// for hundreds of them and the fluid limit takes some 50 ms for one.

#include <cstdint>

namespace tally::planner_detail {

/// The layouts that are planned for.
inline constexpr std::uint32_t planned_subtables[] = {2, 3, 4};
inline constexpr std::uint32_t planned_cells_per_bucket[] = {8, 16, 32};

bool is_planned_layout(std::uint32_t num_subtables, std::uint32_t cells_per_bucket) noexcept;

/// The events a table may fail by: buckets of one subtable if it is only filled, else insertions.
struct Lifetime {
  std::uint64_t buckets_per_subtable = 0;
  std::uint64_t num_keys = 0;
  std::uint64_t operations = 0;  ///< replacements; 0: it is only filled
};

/// The share of cells in use that is carried at the failure probability. The layout is a planned one.
double carried_load(std::uint32_t num_subtables, std::uint32_t cells_per_bucket, const Lifetime& lifetime,
                    double failure_probability);

/// The way back: at most this is the chance of failing with that share of the cells in use; 1 where nothing
/// is known, never below 1e-36.
double failure_probability_at(std::uint32_t num_subtables, std::uint32_t cells_per_bucket,
                              const Lifetime& lifetime, double load);

}  // namespace tally::planner_detail
