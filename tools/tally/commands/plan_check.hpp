#pragma once

#include <string>

#include "tally/planner/check_plan.hpp"
#include "text/json.hpp"

// `tally plan` with keys, rate and memory: is the memory enough?

namespace tally::cli {

/// A row for each structure, the answer, and if it is no, what would do.
std::string plan_check_text(const PlanCheck& check);
Json plan_check_json(const PlanCheck& check);

}  // namespace tally::cli
