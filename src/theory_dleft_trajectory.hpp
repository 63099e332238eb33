#pragma once

// Shared by src/theory_dleft_*.cpp only: the differential equations of d-left hashing.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tally/theory/dleft_fluid_limit.hpp"

namespace tally::theory::internal {

/// x_{j,i} for the loads i that are neither always nor never reached: first_load, first_load + 1, ..., each
/// a row of d values. Loads below first_load are 1, loads above the last row 0. The first num_mostly_full
/// values (whole rows) are 1 - x instead, or they would stop short of 1: steps are small.
struct DLeftRows {
  double average_load = 0.0;
  std::size_t first_load = 1;
  std::size_t num_mostly_full = 0;
  std::vector<double> y;
};

/// The path from the empty table through insertions only. Remembers a state every quarter element per
/// bucket, so that asking again, in any order, is quick.
class DLeftFilling {
 public:
  explicit DLeftFilling(std::uint32_t d);

  DLeftRows rows_at(double average_load);
  DLeftLoads loads_at(double average_load);

 private:
  std::uint32_t d_;
  std::vector<DLeftRows> checkpoints_;
};

DLeftLoads dleft_steady_state(std::uint32_t d, double average_load);

void require_num_subtables(const char* function, std::uint32_t d);
void require_average_load(const char* function, double average_load);
void require_num_cells(const char* function, std::uint32_t c);

}  // namespace tally::theory::internal
