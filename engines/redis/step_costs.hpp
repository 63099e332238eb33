#pragma once

#include <cstdint>

// How often a byte can be copied while a command works on a byte, rounded up from times of benchmarks/time_redis_commands
// on empty and on full filters. docs/redis.md has the table.

namespace tally::redis::step_cost {

inline constexpr std::uint64_t count_min_merge = 3;
inline constexpr std::uint64_t cell_merge = 128;  ///< d-left filters insert the items of a source one by one
inline constexpr std::uint64_t growth = 4;
inline constexpr std::uint64_t statistics = 8;
inline constexpr std::uint64_t statistics_of_counters = 24;  ///< whose values are counted
inline constexpr std::uint64_t summary = 6;
inline constexpr std::uint64_t published_change = 100;  ///< of a position, in a delta
inline constexpr std::uint64_t published_cell = 800;
inline constexpr std::uint64_t caught_up_change = 48;  ///< of a position or a cell, before a full copy

}  // namespace tally::redis::step_cost
