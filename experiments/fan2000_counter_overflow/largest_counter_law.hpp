#pragma once

#include <cmath>
#include <cstdint>

#include "tally/theory/tails.hpp"

namespace tally::experiments {

/// Pr(largest of m counters >= i) after `num_increments` that each fall on a random one of them.
///
/// m independent Poisson numbers below i, given that their sum is num_increments, with the rate that makes this sum
/// their mean; the chance of the sum by the normal law. The errors of that law with and without the limit i cancel
/// but for a part of order 1/m.
inline double largest_counter_tail(std::uint64_t m, std::uint64_t num_increments, std::uint64_t i) {
  const auto counters = static_cast<double>(m);
  const auto sum = static_cast<double>(num_increments);
  const double mean = sum / counters;
  if (static_cast<double>(i - 1) <= mean) return 1;  // not enough room below i
  struct Moments {
    double ln_total = 0, mean = 0, variance = 0;
  };
  const auto below_i = [&](double rate) {
    double term = 1;
    double total = 0, first = 0, second = 0;
    for (std::uint64_t l = 0; l < i; ++l) {
      const auto value = static_cast<double>(l);
      total += term;
      first += term * value;
      second += term * value * value;
      term *= rate / (value + 1);
    }
    return Moments{std::log(total), first / total, second / total - (first / total) * (first / total)};
  };
  double low = mean;
  double high = mean;
  while (below_i(high).mean < mean) high *= 2;
  for (int step = 0; step < 200; ++step) {
    const double middle = (low + high) / 2;
    (below_i(middle).mean < mean ? low : high) = middle;
  }
  const Moments moments = below_i(high);
  const double ln_below = counters * moments.ln_total - sum * std::log(high) -
                          std::log(moments.variance) / 2 -
                          (counters * mean - sum * std::log(mean) - std::log(mean) / 2);
  return -std::expm1(std::fmin(ln_below, 0));
}

}  // namespace tally::experiments
