#pragma once

// Shared by src/theory_dleft_*.cpp only: the loads of a d-left hash table through insertions and replacements.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tally/theory/dleft_fluid_limit.hpp"

namespace tally::theory::detail {

inline constexpr std::uint32_t max_subtables = 8;

/// x_{j,i} for the loads i that are neither always nor never reached: first_load, first_load + 1, ..., each
/// a row of d values. Loads below first_load are 1, loads above the last row 0. The first num_mostly_full
/// values (whole rows) are 1 - x instead: x itself would stop short of 1, because steps are small.
struct DLeftRows {
  double average_load = 0.0;
  std::size_t first_load = 1;
  std::size_t num_mostly_full = 0;
  std::vector<double> y;
};

/// The path from the empty table through insertions only. It stores a state every quarter element per bucket,
/// so that repeated queries, in any order, are fast.
class DLeftFilling {
 public:
  explicit DLeftFilling(std::uint32_t d);

  DLeftRows rows_at(double average_load);
  DLeftLoads loads_at(double average_load);

 private:
  std::uint32_t d_;
  std::vector<DLeftRows> checkpoints_;
};

/// The number of steps per element after which a table is in the steady state. Each step per element reduces
/// the influence of the start by a factor e. The tails, which are powers of the rest, take longest: after 32
/// steps 1e-90 is right to 1e-8 in the worst case.
inline constexpr double steady_after = 48.0;

/// Replaces random elements in `rows` by new ones. Returns the integral of prod_j x_{j,c} over the steps,
/// counted in steps per bucket; c at least 1.
double dleft_replace(std::uint32_t d, DLeftRows& rows, double steps_per_element, std::uint32_t c);

DLeftRows dleft_steady_state(std::uint32_t d, double average_load);

DLeftLoads dleft_loads_of(std::uint32_t d, const DLeftRows& rows);

/// In any state with that average, at most about 1e-120 of the buckets have more.
std::size_t largest_dleft_load(std::uint32_t d, double average_load);

void require_num_subtables(const char* function, std::uint32_t d);
void require_average_load(const char* function, double average_load);
void require_num_cells(const char* function, std::uint32_t c);

}  // namespace tally::theory::detail
