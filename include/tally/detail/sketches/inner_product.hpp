#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/shapes/count_min.hpp"
#include "tally/sketches/count_estimate.hpp"
#include "tally/sketches/count_min_bound.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally::detail {

/// One factor: the counters of a sketch, the sum of its weights, and the most that halvings may have added to
/// a counter.
struct InnerFactor {
  const CounterArray& counters;
  std::uint64_t total_count;
  std::uint64_t rounding;
};

/// The minimum over the rows of the sum of products of counters, with its bounds. A row in which a saturated
/// counter is multiplied by one that is not 0 gives no bound on the truth. Such rows count only if all rows
/// are like that.
TALLY_EXPORT CountEstimate inner_product(const InnerFactor& a, const InnerFactor& b,
                                         const CountMinShape& shape, CountMinBound bound) noexcept;

}  // namespace tally::detail
