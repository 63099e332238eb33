#include "tally/filters/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "tally/theory/estimate.hpp"

namespace tally::detail {

namespace {

// A position of a line is 0 with exp(-(n/lines) u), u = 1 - (1 - 1/B)^k, the mean over a line's Poisson number of
// keys; solved for n. The error of the share of zeros z follows from its variance, that of n by d(ln z) = dz / z.
// The variance is the one at fixed n: with load = n u / lines and z zeros a line on average, the variance of a
// line's zeros under a Poisson number of keys less cov(zeros, keys)^2 / var(keys) is
//     z + z^2 ((1 - 1/B) exp(load (u^2 - w) / u) - 1 - load u),   w = (1 - 1/B)^(2k) - (1 - 2/B)^k.
KeyEstimate estimate_from_lines(PositionSpace space, std::uint64_t num_zero) {
  const double m = static_cast<double>(space.num_positions);
  const double k = space.num_hashes;
  const double positions_per_line = space.positions_per_line;
  const double num_lines = m / positions_per_line;
  const double load = -std::log(static_cast<double>(num_zero) / m);
  const double u = -std::expm1(k * std::log1p(-1 / positions_per_line));
  const double w = (1 - u) * (1 - u) - std::pow(1 - 2 / positions_per_line, k);
  const double zeros = static_cast<double>(num_zero) / num_lines;
  const double excess = (1 - 1 / positions_per_line) * std::exp(load * (u * u - w) / u) - 1 - load * u;
  const double variance_of_zeros = zeros + zeros * zeros * excess;
  const double relative_error = std::sqrt(std::max(0.0, variance_of_zeros) / num_lines) / zeros;
  return {load * num_lines / u, relative_error * num_lines / u};
}

}  // namespace

template <class Storage>
KeyEstimate estimate_num_keys(const Storage& storage, PositionLayout layout, PositionSpace space) {
  const std::uint64_t num_zero = space.num_positions - num_at_least(storage, 1, 0, space.num_positions);
  if (layout == PositionLayout::lines && num_zero != 0) return estimate_from_lines(space, num_zero);
  const auto estimate = theory::estimate_distinct_keys(space.num_positions, space.num_hashes, num_zero);
  return {estimate.num_keys, estimate.standard_error};
}

template KeyEstimate estimate_num_keys(const BitArray&, PositionLayout, PositionSpace);
template KeyEstimate estimate_num_keys(const CounterArray&, PositionLayout, PositionSpace);

}  // namespace tally::detail
