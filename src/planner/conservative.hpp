#pragma once

// Only for src/planner/: filters with conservative update, whose keys come in random order.

#include <vector>

#include "planner/search.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally::planner_detail {

/// The rate that is promised is this times the predicted one, or what a simulation says if that is more: the prediction is too
/// low where counters reach values that few keys have alone (theory/conservative_update.hpp).
inline constexpr double conservative_margin = 2;

/// No lower rate is promised because of conservative update: lower ones were not measured.
inline constexpr double least_conservative_rate = 1e-4;

/// Whether the prediction is used: for a histogram that tells, thresholds of 2 to 16 (higher ones take too long) and
/// filters in which it was measured.
bool can_predict_conservative(const theory::CountHistogram& histogram, std::uint64_t theta) noexcept;

/// A solution for a threshold filter with conservative update, and a true count of at most theta - 2, from that with plain
/// counters: fewer counters or a lower rate, with the best k beside. `plain` is the law of plain counters. The same
/// solution where the prediction is not used.
Solution improved_by_conservative_update(const Solution& plain_solution, const Law& plain,
                                         const theory::CountHistogram& histogram, std::uint64_t theta,
                                         std::uint64_t true_count, const Wanted& wanted,
                                         std::uint32_t counter_bits);

/// The promised rates by true count, 0 to theta - 1, before any other bound; empty where the prediction is not used.
std::vector<double> promised_conservative_rates(const theory::CountHistogram& histogram, std::uint64_t theta,
                                                std::uint64_t m, std::uint32_t k);

}  // namespace tally::planner_detail
