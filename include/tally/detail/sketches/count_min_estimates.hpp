#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/filters/statistics.hpp"
#include "tally/shapes/count_min.hpp"
#include "tally/sketches/count_estimate.hpp"
#include "tally/sketches/count_min_bound.hpp"

namespace tally::detail {

/// floor(epsilon a b), rounded slightly up rather than down; the largest 64-bit value if it does not fit.
TALLY_EXPORT std::uint64_t share_of(double epsilon, std::uint64_t a, std::uint64_t b = 1) noexcept;

/// The estimate for counters that give `count`, in a sketch with sum `total`. `rounding` is the most that
/// halvings may have added to a counter.
TALLY_EXPORT CountEstimate estimate_of(Count count, CountMinBound bound, std::uint64_t total,
                                       std::uint64_t rounding) noexcept;

/// The number of insertions is the sum of all weights. A row is one hash function with its own part of the
/// counters. So the number of keys follows from the number of counters that are 0. A key that was never added
/// passes if none of its counters is 0.
TALLY_EXPORT FilterStatistics count_min_statistics(const CountMinShape& shape, const CounterArray& counters,
                                                   std::uint64_t total_count);

}  // namespace tally::detail
