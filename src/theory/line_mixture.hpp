#pragma once

// Shared by blocked_bloom.cpp, register_bloom.cpp and blocked_counters.cpp of src/theory only.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tally/theory/tails.hpp"
#include "theory/detail.hpp"

namespace tally::theory::detail {

/// Calls use(j, Pr(Binomial(n, 1/num_lines) = j)) for the numbers j = first, first + 1, ... of the n keys that may be in
/// one line, until the rest of that distribution is at most what `use` returned.
template <class Use>
void for_each_number_in_line(std::uint64_t first, std::uint64_t n, std::uint64_t num_lines, Use use) {
  const double p = 1.0 / static_cast<double>(num_lines);
  const auto keys = static_cast<double>(n);
  for (std::uint64_t j = first; j <= n; ++j) {
    const Extended point = std::exp(static_cast<Extended>(ln_binomial_point(j, keys, p)));
    const Extended negligible = use(j, point);
    // The rest is below point r / (1 - r), r the largest remaining ratio (infinite where there is one line).
    const double r = keys * p / (1.0 - p) / static_cast<double>(j + 1);
    if (r < 1.0 && point * (r / (1.0 - r)) <= negligible) break;
  }
}

/// ln of sum_j Pr(Binomial(n, 1/num_lines) = j) g(j), where next_g() gives g(1), g(2), ... in turn, rising to 1. A key
/// misses each of the k positions of a query in its line with at most the probability exp(ln_miss).
template <class NextG>
double ln_line_mixture(std::uint64_t num_lines, std::uint32_t k, double ln_miss, std::uint64_t n,
                       NextG next_g) {
  constexpr double no_negatives = 50.0;  // a probability above 1 - exp(-50) is 1
  if (n == 0) return -infinity;
  const double mean = static_cast<double>(n) / static_cast<double>(num_lines);
  // 1 - g(j) is at most k exp(j ln_miss); the mean of that over j bounds 1 - f.
  if (std::log(k) + mean * std::expm1(ln_miss) <= -no_negatives) return 0.0;
  Extended sum = 0.0;
  for_each_number_in_line(1, n, num_lines, [&](std::uint64_t, Extended point) {
    sum += point * next_g();
    return Extended(1e-14L) * sum;  // g is below 1
  });
  return std::min(0.0, static_cast<double>(std::log(sum)));
}

}  // namespace tally::theory::detail
