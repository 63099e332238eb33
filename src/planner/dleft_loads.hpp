#pragma once

// Only for src/planner/: a table of the maximum loads of d-left filters. The planner needs hundreds of them, and the
// fluid limit takes about 50 ms for one.

#include <cstddef>
#include <cstdint>

namespace tally::planner_detail {

/// The layouts that the planner considers.
inline constexpr std::uint32_t planned_subtables[] = {2, 3, 4};
inline constexpr std::uint32_t planned_cells_per_bucket[] = {8, 16, 32};

/// The row of a layout in a table; null if it has none.
template <class Row, std::size_t size>
const Row* find_row(const Row (&rows)[size], std::uint32_t num_subtables,
                    std::uint32_t cells_per_bucket) noexcept {
  for (const Row& row : rows) {
    if (row.num_subtables == num_subtables && row.cells_per_bucket == cells_per_bucket) return &row;
  }
  return nullptr;
}

bool is_planned_layout(std::uint32_t num_subtables, std::uint32_t cells_per_bucket) noexcept;

/// The length of a filter's life.
struct Lifetime {
  std::uint64_t buckets_per_subtable = 0;
  std::uint64_t num_keys = 0;
  std::uint64_t operations = 0;  ///< replacements; 0 if the filter is only filled
};

/// The maximum share of cells in use at this failure probability. The layout must be a planned one.
double carried_load(std::uint32_t num_subtables, std::uint32_t cells_per_bucket, const Lifetime& lifetime,
                    double failure_probability);

/// The inverse: an upper bound on the failure probability with this share of the cells in use. 1 for loads above the
/// table, never below 1e-36.
double failure_probability_at(std::uint32_t num_subtables, std::uint32_t cells_per_bucket,
                              const Lifetime& lifetime, double load);

}  // namespace tally::planner_detail
