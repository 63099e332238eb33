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
  std::uint64_t num_parts = 1;   ///< tables side by side, each with its own part of the buckets and keys
};

/// Without moves: the maximum share of cells in use at this failure probability. The layout must be a planned one.
///
/// From the fluid limit for many buckets, which is no bound for few: deep in its tail it is wrong by many orders of magnitude. The
/// node K of a table is -log10 of the probability of one failure (with replacements, of one insertion; without, of the expected
/// failures per bucket of a subtable), and K' that of the limit at the same load. Then
///
///     K = K' if K' <= K_0, else K_0 (1 + ln(K' / K_0)),   K_0 = max(1/2 + (d / 5) log2 B, d^2 log10(B / 128)):
///
/// where K' rises exponentially as the load falls, K goes on along the tangent. This is a fit. It is a bound by measurement for 2
/// choices and 2 to 64 buckets per subtable, and for 3 or 4 choices under churn with 2 to 16 and filled with 2 to 4
/// (experiments/dleft_few_buckets; docs/theory.md), and an assumption beyond. Up to d c keys nothing fails, because d full buckets
/// have d c elements: a theorem.
double carried_load(std::uint32_t num_subtables, std::uint32_t cells_per_bucket, const Lifetime& lifetime,
                    double failure_probability);

/// Whether that is at least `load`.
bool is_carried(std::uint32_t num_subtables, std::uint32_t cells_per_bucket, const Lifetime& lifetime,
                double failure_probability, double load);

/// The inverse: an upper bound on the failure probability with this share of the cells in use. 1 for loads above the
/// table, never below 1e-36.
double failure_probability_at(std::uint32_t num_subtables, std::uint32_t cells_per_bucket,
                              const Lifetime& lifetime, double load);

}  // namespace tally::planner_detail
