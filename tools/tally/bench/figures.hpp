#pragma once

#include <string>
#include <vector>

#include "tally/planner/plan.hpp"

namespace tally::cli {

/// The times per key in batches that `tally bench --json` has written to a file. Throws std::system_error if it cannot be
/// read, and std::invalid_argument that names the file, the candidate and the field for anything else.
std::vector<MeasuredFilter> read_figures(const std::string& path);

/// Throws std::invalid_argument if no candidate has figures of its own: the file is of other requirements.
void require_own_figures(const std::string& path, const Plan& plan);

}  // namespace tally::cli
