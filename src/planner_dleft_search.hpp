#pragma once

// Shared by src/planner_*.cpp only: the one search for d-left shapes.

#include <cstdint>
#include <string_view>

#include "planner_search.hpp"
#include "tally/planner/dleft_forecast.hpp"
#include "tally/planner/plan_dleft.hpp"

namespace tally::planner_detail {

struct DLeftSolution {
  DLeftShape shape;
  std::uint64_t num_keys = 0;
};

/// As plan_dleft says. Errors begin with `structure`.
DLeftSolution solve_dleft(std::string_view structure, const DLeftRequest& request);

/// ln of the false positive rate with so many keys in it.
double ln_dleft_rate(const DLeftShape& shape, std::uint64_t num_keys);

/// What will become of the shape that was found. Its layout is a planned one.
DLeftForecast forecast_of(const DLeftSolution& solution, const DLeftRequest& request);

}  // namespace tally::planner_detail
