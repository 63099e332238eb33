#include "tally/detail/sketches/inner_product.hpp"

#include <algorithm>
#include <utility>

#include "tally/detail/checked_math.hpp"
#include "tally/detail/sketches/count_min_estimates.hpp"

namespace tally::detail {
namespace {

constexpr std::uint64_t most = ~std::uint64_t{0};

std::uint64_t saturating_mul(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? most : product;
}

struct RowSum {
  std::uint64_t value = 0;
  bool saturated = false;
};

RowSum sum_of_row(const CounterArray& a, const CounterArray& b, std::uint64_t first, std::uint64_t width) {
  RowSum sum;
  for (std::uint64_t i = first; i < first + width; ++i) {
    const std::uint64_t x = a.get(i);
    const std::uint64_t y = b.get(i);
    sum.value = saturating_add(sum.value, saturating_mul(x, y));
    sum.saturated |= (x == a.max() && y != 0) || (y == b.max() && x != 0);
  }
  sum.saturated |= sum.value == most;
  return sum;
}

}  // namespace

CountEstimate inner_product(const InnerFactor& a, const InnerFactor& b, const CountMinShape& shape,
                            CountMinBound bound) noexcept {
  RowSum least{most, true};
  for (std::uint32_t row = 0; row < shape.num_rows(); ++row) {
    const RowSum sum = sum_of_row(a.counters, b.counters, row * shape.width, shape.width);
    if (sum.saturated != least.saturated ? least.saturated : sum.value < least.value) least = sum;
  }
  CountEstimate result{least.value, 0, least.value, 1 - bound.failure_probability, least.saturated};
  if (least.saturated) result.upper = saturating_mul(a.total_count, b.total_count);
  if (a.total_count == most || b.total_count == most) return result;
  // Every counter of a may be too high by a.rounding, and so on.
  std::uint64_t excess = share_of(bound.epsilon, a.total_count, b.total_count);
  for (const auto& [x, y] : {std::pair{a.rounding, b.total_count}, std::pair{b.rounding, a.total_count},
                             std::pair{saturating_mul(a.rounding, b.rounding), shape.width}}) {
    excess = saturating_add(excess, saturating_mul(x, y));
  }
  result.lower = least.value - std::min(least.value, excess);
  return result;
}

}  // namespace tally::detail
