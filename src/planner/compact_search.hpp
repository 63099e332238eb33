#pragma once

// Only for src/planner/: the search for shapes of compact d-left filters.

#include <cstdint>
#include <string_view>

#include "planner/search.hpp"
#include "tally/planner/plan_compact_dleft.hpp"

namespace tally::planner_detail {

struct CompactSolution {
  CompactDLeftShape shape;
  std::uint64_t num_keys = 0;
};

/// The best shape by the rules of plan_compact_dleft. Error messages begin with `structure`.
CompactSolution solve_compact(std::string_view structure, const Requirements& requirements);

/// ln of the false positive rate with this number of keys.
double ln_compact_rate(const CompactDLeftShape& shape, std::uint64_t num_keys);

}  // namespace tally::planner_detail
