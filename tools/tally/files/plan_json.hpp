#pragma once

#include <optional>

#include "tally/planner/plan.hpp"
#include "text/json.hpp"

namespace tally::cli {

/// One of its candidates.
Json candidate_json(const Candidate& candidate);

/// What `tally plan --json` prints. `preference` is that of the requirements.
Json plan_json(const Plan& plan, const std::optional<PlanPreference>& preference);

}  // namespace tally::cli
