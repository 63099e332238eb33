#pragma once

#include <optional>

#include "commands/commands.hpp"
#include "shape/options.hpp"
#include "tally/planner/forecast_counts.hpp"

namespace tally::cli {

/// What `tally plan` prints for sketches: one with each kind of rows, side by side, and if the stream is given, what they
/// are expected to report. Throws std::invalid_argument for an exact shape, which needs no plan, and for options that
/// contradict each other.
ExitCode plan_sketch(const ShapeOptions& options, const std::optional<ZipfStream>& stream, bool json);

}  // namespace tally::cli
