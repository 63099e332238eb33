#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tally/hashing/row_schemes.hpp"
#include "tally/theory/tails.hpp"

namespace tally::test {

/// n keys are added once each; then a key never added is asked for. Pr(estimate >= v)?
struct Crowd {
  std::uint64_t width;
  std::uint32_t depth;
  std::uint32_t num_copies;
  std::uint64_t num_keys;
  std::uint64_t value;
};

/// Rows are independent, so the probability is that of one row to the power of their number.
inline double exact_for_independent_rows(const Crowd& crowd) {
  const double ln_row = theory::ln_binomial_upper_tail(crowd.value, static_cast<double>(crowd.num_keys),
                                                       1 / static_cast<double>(crowd.width));
  return std::exp(crowd.depth * crowd.num_copies * ln_row);
}

/// Pr(every one of `depth` cells has at least `value` of n balls, each of which falls into any one with q).
inline double all_cells_at_least(std::uint64_t value, std::uint64_t n, double q, std::uint32_t depth) {
  const auto longest = static_cast<std::uint64_t>(static_cast<double>(n) * q * 4) + value + 40;
  std::vector<double> by_sum(longest * depth + 1);
  by_sum[0] = 1;
  for (std::uint32_t cell = 0; cell < depth; ++cell) {
    std::vector<double> next(by_sum.size());
    for (std::uint64_t sum = 0; sum <= std::min(n, cell * longest); ++sum) {
      if (by_sum[sum] == 0) continue;
      for (std::uint64_t more = value; more <= std::min(longest, n - sum); ++more) {
        next[sum + more] += by_sum[sum] * std::exp(theory::ln_binomial_point(
                                              more, static_cast<double>(n - sum), q / (1 - cell * q)));
      }
    }
    by_sum = next;
  }
  double probability = 0;
  for (const double p : by_sum) probability += p;
  return probability;
}

/// Of two-hash rows in one copy: another key meets all rows with 1 / w^2, else just row j with (w - 1) / w^2.
inline double exact_for_two_hash_rows(const Crowd& crowd) {
  const auto w = static_cast<double>(crowd.width);
  const std::uint64_t n = crowd.num_keys;
  double one_copy =
      std::exp(theory::ln_binomial_upper_tail(crowd.value, static_cast<double>(n), 1 / (w * w)));
  for (std::uint64_t same = 0; same < crowd.value; ++same) {
    one_copy += std::exp(theory::ln_binomial_point(same, static_cast<double>(n), 1 / (w * w))) *
                all_cells_at_least(crowd.value - same, n - same, 1 / (w + 1), crowd.depth);
  }
  return std::pow(one_copy, crowd.num_copies);
}

template <class Rows>
inline double exact_for(const Crowd& crowd) {
  return Rows::law == RowLaw::two_hash ? exact_for_two_hash_rows(crowd) : exact_for_independent_rows(crowd);
}

}  // namespace tally::test
