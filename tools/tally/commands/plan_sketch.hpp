#pragma once

#include "commands/commands.hpp"
#include "shape/options.hpp"

namespace tally::cli {

/// What `tally plan` prints for sketches: one with each kind of rows, side by side. Throws std::invalid_argument for an
/// exact shape, which needs no plan, and for options that contradict each other.
ExitCode plan_sketch(const ShapeOptions& options, bool json);

}  // namespace tally::cli
