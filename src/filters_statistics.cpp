#include "tally/filters/statistics.hpp"

#include <algorithm>
#include <limits>

namespace tally::detail {

// A position of the standard and of the partitioned layout is 0 with probability (1 - 1/m)^(kn) ~ exp(-kn/m),
// and one of a line with exp(-(n/lines) (1 - (1 - 1/B)^k)), the mean over a line's Poisson number of keys.
// Both are solved for n. The error of the share of zeros z follows from its variance, that of n by d(ln z) = dz / z.
template <class Storage>
KeyEstimate estimate_num_keys(const Storage& storage, PositionLayout layout, PositionSpace space) {
  const double m = static_cast<double>(space.num_positions);
  const double k = space.num_hashes;
  const double num_zero = m - static_cast<double>(num_at_least(storage, 1, 0, space.num_positions));
  if (num_zero == 0) return {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  const double minus_ln_zeros = -std::log(num_zero / m);
  if (layout != PositionLayout::lines) {
    const double load = minus_ln_zeros;  // estimates k n / m
    const double variance_of_load = (std::expm1(load) - load) / m;
    return {load * m / k, std::sqrt(std::max(0.0, variance_of_load)) * m / k};
  }
  const double positions_per_line = space.positions_per_line;
  const double num_lines = m / positions_per_line;
  const double cleared_per_key = -std::expm1(k * std::log1p(-1 / positions_per_line));
  double sum_of_squares = 0;
  for (std::uint64_t begin = 0; begin < space.num_positions; begin += space.positions_per_line) {
    const std::uint64_t end = begin + space.positions_per_line;
    const double deviation =
        positions_per_line - static_cast<double>(num_at_least(storage, 1, begin, end)) - num_zero / num_lines;
    sum_of_squares += deviation * deviation;
  }
  const double relative_error = std::sqrt(sum_of_squares) / num_zero;
  return {minus_ln_zeros * num_lines / cleared_per_key, relative_error * num_lines / cleared_per_key};
}

template KeyEstimate estimate_num_keys(const BitArray&, PositionLayout, PositionSpace);
template KeyEstimate estimate_num_keys(const CounterArray&, PositionLayout, PositionSpace);

}  // namespace tally::detail
