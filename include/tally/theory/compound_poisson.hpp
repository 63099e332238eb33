#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tally/export.hpp"

namespace tally::theory {

/// The number of keys with each count, up to a limit. The numbers of keys may be expected values.
struct TALLY_EXPORT CountHistogram {
  /// keys_with_count[c]: keys with count c; entry 0 is not used.
  std::vector<double> keys_with_count;
  /// Keys with a count of keys_with_count.size() or more.
  double keys_beyond = 0.0;
  /// The sum of their counts: at least keys_beyond times keys_with_count.size().
  double insertions_beyond = 0.0;

  /// All keys with a count of at least 1.
  [[nodiscard]] double num_distinct() const;
  /// The sum of all counts; if insertions_beyond is too low, its smallest possible value is used.
  [[nodiscard]] double num_insertions() const;
};

/// A histogram from (count, number of keys) pairs in any order; counts at or above `limit` are added to the
/// fields `_beyond`. limit 1 to 10000; counts at least 1; numbers of keys finite and at least 0.
TALLY_EXPORT CountHistogram make_count_histogram(const std::vector<std::pair<std::uint64_t, double>>& counts,
                                                 std::uint64_t limit);

/// Count thresholding when keys repeat unevenly: each key adds its whole count to a counter. A counter is
/// then a compound Poisson sum with jumps of size c at the rate k n_c / m, where n_c keys have count c.
/// Panjer's recursion gives its distribution in about theta^2 steps. The jumps are tilted so that neither
/// very small nor very large probabilities underflow. Jumps of theta and more are treated together.
///
/// theta 1 to 10000, and at most the size of the histogram if keys lie beyond it; k 1 to 1024; m at least 1;
/// numbers of keys finite and at least 0; else std::invalid_argument. The Poisson distribution replaces a
/// binomial one with the same mean, which is good while m is large compared with theta.
/// @source beyond the paper of Kim et al. 2019; Panjer 1981, "Recursive evaluation of a family of
///         compound distributions"

/// Pr(counter = s) for s = 0 .. theta - 1. Values below the smallest double are 0.
TALLY_EXPORT std::vector<double> counter_value_distribution(const CountHistogram& histogram, std::uint32_t k,
                                                            std::uint64_t m, std::uint64_t theta);

/// ln Pr(counter >= theta), as a sum of positive terms.
TALLY_EXPORT double ln_counter_upper_tail(const CountHistogram& histogram, std::uint32_t k, std::uint64_t m,
                                          std::uint64_t theta);

/// Pr(counter >= theta - true_count)^k for a key inserted true_count < theta times. The histogram is that of
/// the other keys; one key more or less hardly matters unless it is a heavy one.
TALLY_EXPORT double compound_threshold_false_positive_probability(const CountHistogram& histogram,
                                                                  std::uint64_t theta, std::uint32_t k,
                                                                  std::uint64_t m,
                                                                  std::uint64_t true_count = 0);
TALLY_EXPORT double ln_compound_threshold_false_positive_probability(const CountHistogram& histogram,
                                                                     std::uint64_t theta, std::uint32_t k,
                                                                     std::uint64_t m,
                                                                     std::uint64_t true_count = 0);

/// Expected histogram, up to `limit`, of `total` insertions drawn by Zipf's law: rank i of num_ranks with
/// probability proportional to i^-exponent. Counts are treated as independent Poisson numbers. The first
/// 65536 ranks are computed one by one, the rest by Gauss quadrature in ln(rank), with a relative error below
/// 1e-6. num_ranks at least 1; exponent 0 to 20; total any; limit 1 to 10000; else std::invalid_argument.
TALLY_EXPORT CountHistogram zipf_count_histogram(std::uint64_t num_ranks, double exponent,
                                                 std::uint64_t total, std::uint64_t limit);

}  // namespace tally::theory
