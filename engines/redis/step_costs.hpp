#pragma once

#include <cstdint>

// How often a byte can be copied while a command works on a byte, rounded up from times of benchmarks/time_redis_commands
// on filters that are empty, and from times of one full filter of 0.8 MiB of each kind. docs/redis.md has the table.

namespace tally::redis::step_cost {

inline constexpr std::uint64_t count_min_merge = 3;
inline constexpr std::uint64_t cell_merge = 128;  ///< d-left filters insert the items of a source one by one
inline constexpr std::uint64_t growth = 4;
inline constexpr std::uint64_t statistics = 24;
inline constexpr std::uint64_t summary = 40;

}  // namespace tally::redis::step_cost
