#include "tally/detail/sketches/count_min_estimates.hpp"

#include <algorithm>

#include "tally/detail/checked_math.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally::detail {
namespace {

constexpr std::uint64_t unknown = ~std::uint64_t{0};

}  // namespace

std::uint64_t share_of(double epsilon, std::uint64_t a, std::uint64_t b) noexcept {
  // Four roundings, each by 2^-53 at most.
  const double share = epsilon * static_cast<double>(a) * static_cast<double>(b) * (1 + 0x1p-50);
  return share < 0x1p64 ? static_cast<std::uint64_t>(share) : unknown;
}

CountEstimate estimate_of(Count count, CountMinBound bound, std::uint64_t total,
                          std::uint64_t rounding) noexcept {
  const std::uint64_t excess =
      total == unknown ? unknown : saturating_add(share_of(bound.epsilon, total), rounding);
  return {count.value, count.value - std::min(count.value, excess), count.saturated ? total : count.value,
          1 - bound.failure_probability, count.saturated};
}

FilterStatistics count_min_statistics(const CountMinShape& shape, const CounterArray& counters,
                                      std::uint64_t total_count) {
  const PositionSpace space{shape.num_counters(), shape.num_rows(),
                            CounterArray::positions_per_line(shape.counter_bits)};
  FilterStatistics statistics = storage_statistics(counters, PositionLayout::parts, space, 1);
  statistics.num_insertions = total_count;
  return statistics;
}

}  // namespace tally::detail
