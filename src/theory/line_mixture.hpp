#pragma once

// Shared by src/theory/blocked_bloom.cpp and src/theory/register_bloom.cpp only.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tally/theory/tails.hpp"
#include "theory/detail.hpp"

namespace tally::theory::detail {

/// ln of sum_j Pr(Binomial(n, 1/num_lines) = j) g(j), where next_g() gives g(1), g(2), ... in turn, rising to 1. A key
/// misses each of the k positions of a query in its line with at most the probability exp(ln_miss).
template <class NextG>
double ln_line_mixture(std::uint64_t num_lines, std::uint32_t k, double ln_miss, std::uint64_t n,
                       NextG next_g) {
  constexpr double no_negatives = 50.0;  // a probability above 1 - exp(-50) is 1
  if (n == 0) return -infinity;
  const double p = 1.0 / static_cast<double>(num_lines);
  const auto keys = static_cast<double>(n);
  const double mean = keys * p;
  // 1 - g(j) is at most k exp(j ln_miss); the mean of that over j bounds 1 - f.
  if (std::log(k) + mean * std::expm1(ln_miss) <= -no_negatives) return 0.0;
  long double sum = 0.0L;
  for (std::uint64_t j = 1; j <= n; ++j) {
    const long double point = std::exp(static_cast<long double>(ln_binomial_point(j, keys, p)));
    sum += point * next_g();
    // The rest of the distribution of j is below point r / (1 - r), r the largest remaining ratio, and g is
    // below 1.
    const double r = mean / (1.0 - p) / static_cast<double>(j + 1);
    if (r < 1.0 && point * (r / (1.0 - r)) < 1e-14L * sum) break;
  }
  return std::min(0.0, static_cast<double>(std::log(sum)));
}

}  // namespace tally::theory::detail
