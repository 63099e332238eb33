#pragma once

#include <vector>

#include "shape/options.hpp"

namespace tally::cli {

/// Adds the flags of planned d-left filters, as one group of the help.
std::vector<Option> add_dleft_plan_options(CommandLine app, Requirements& wanted);

/// Adds the flags of exact shapes of d-left filters. --num-subtables alone is a requirement for the planner.
std::vector<Option> add_dleft_shape_options(CommandLine app, ShapeOptions& options);

}  // namespace tally::cli
