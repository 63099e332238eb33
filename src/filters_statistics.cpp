#include "tally/filters/statistics.hpp"

#include <algorithm>
#include <limits>

namespace tally::detail {

// A position of the standard and of the partitioned layout is 0 with probability (1 - 1/m)^(kn) ~ exp(-kn/m),
// and one of a line with exp(-(n/lines) (1 - (1 - 1/B)^k)), the mean over a line's Poisson number of keys.
// Both are solved for n. The error of the share of zeros z follows from its variance, that of n by d(ln z) = dz / z.
// The variance is the one at fixed n. For lines, with u = 1 - (1 - 1/B)^k, load = n u / lines and z zeros a line on
// average, the variance of a line's zeros under a Poisson number of keys less cov(zeros, keys)^2 / var(keys) is
//     z + z^2 ((1 - 1/B) exp(load (u^2 - w) / u) - 1 - load u),   w = (1 - 1/B)^(2k) - (1 - 2/B)^k.
template <class Storage>
KeyEstimate estimate_num_keys(const Storage& storage, PositionLayout layout, PositionSpace space) {
  const double m = static_cast<double>(space.num_positions);
  const double k = space.num_hashes;
  const double num_zero = m - static_cast<double>(num_at_least(storage, 1, 0, space.num_positions));
  if (num_zero == 0)
    return {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  const double minus_ln_zeros = -std::log(num_zero / m);
  if (layout != PositionLayout::lines) {
    const double load = minus_ln_zeros;  // estimates k n / m
    const double variance_of_load = (std::expm1(load) - load) / m;
    return {load * m / k, std::sqrt(std::max(0.0, variance_of_load)) * m / k};
  }
  const double positions_per_line = space.positions_per_line;
  const double num_lines = m / positions_per_line;
  const double cleared_per_key = -std::expm1(k * std::log1p(-1 / positions_per_line));
  const double u = cleared_per_key;
  const double w = (1 - u) * (1 - u) - std::pow(1 - 2 / positions_per_line, k);
  const double zeros = num_zero / num_lines;
  const double excess =
      (1 - 1 / positions_per_line) * std::exp(minus_ln_zeros * (u * u - w) / u) - 1 - minus_ln_zeros * u;
  const double variance_of_zeros = zeros + zeros * zeros * excess;
  const double relative_error = std::sqrt(std::max(0.0, variance_of_zeros) / num_lines) / zeros;
  return {minus_ln_zeros * num_lines / cleared_per_key, relative_error * num_lines / cleared_per_key};
}

template KeyEstimate estimate_num_keys(const BitArray&, PositionLayout, PositionSpace);
template KeyEstimate estimate_num_keys(const CounterArray&, PositionLayout, PositionSpace);

}  // namespace tally::detail
