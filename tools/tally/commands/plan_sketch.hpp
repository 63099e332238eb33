#pragma once

#include "commands/commands.hpp"
#include "shape/count_min_options.hpp"

namespace tally::cli {

/// What `tally plan` prints for counts with an error: sketches with every law of rows, side by side.
/// Throws std::invalid_argument for an exact shape, which needs no plan, and for what contradicts itself.
ExitCode plan_sketch(const CountMinOptions& options, const SharedSketchOptions& shared, bool json);

}  // namespace tally::cli
