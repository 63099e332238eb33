#pragma once

#include <cstdint>

#include "tally/filters/outcomes.hpp"
#include "tally/filters/statistics.hpp"
#include "tally/shapes/count_min.hpp"
#include "tally/sketches/count_estimate.hpp"
#include "tally/sketches/count_min_bound.hpp"

namespace tally::detail {

/// floor(epsilon a b), a little above rather than below; the largest 64-bit value where it does not fit.
std::uint64_t share_of(double epsilon, std::uint64_t a, std::uint64_t b = 1) noexcept;

/// The estimate of a count whose counters say `count`, in a sketch of sum `total`. `rounding` is what
/// halvings may have added to a counter.
CountEstimate estimate_of(Count count, CountMinBound bound, std::uint64_t total,
                          std::uint64_t rounding) noexcept;

/// Its insertions are the sum of all weights. A row is one hash function with a part of the counters to itself, so
/// the number of keys follows from the counters that are 0; a key never added passes where all of its own are not.
FilterStatistics count_min_statistics(const CountMinShape& shape, const CounterArray& counters,
                                      std::uint64_t total_count);

}  // namespace tally::detail
