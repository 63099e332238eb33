#pragma once

// Only for src/planner/: which candidate comes first if the user says what matters.

#include <span>
#include <string>
#include <vector>

#include "tally/planner/plan.hpp"

namespace tally::planner_detail {

/// Whether a filter that can fill up may be recommended although others meet the requirements: only if keys are removed or
/// counted, or if it is known how often they repeat.
bool may_lead_with_dleft(const Requirements& requirements);

/// Gives every candidate its times. Returns warnings that name the candidates without figures. Throws
/// std::invalid_argument for a figure that is no time, and for one of two that have the same shape.
std::vector<std::string> add_operation_costs(std::vector<Candidate>& candidates,
                                             std::span<const MeasuredFilter> figures);

/// Orders by the preference: first the candidates that may be recommended, then the others. Keeps the order of equals,
/// and the whole order if there is no preference.
void order_by_preference(const Requirements& requirements, std::vector<Candidate>& candidates);

/// Why the first candidate comes first by the preference, and what that costs.
std::string reason_for_preference(const Requirements& requirements, const Plan& plan);

/// "cells of 12 bits have no vector loops: ..."
std::string price_of_slow_cells(const Candidate& slow);

/// The number that the plan optimizes: "takes 16.9 bits per key", "has a false positive rate of 0.00113" or
/// "holds 1.2e+06 keys".
std::string achievement(const Requirements& requirements, const Candidate& candidate);

}  // namespace tally::planner_detail
