#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// Count thresholding: a key is reported 'at least theta' when all its k counters are >= theta.
///
/// theta 1 to 2^40; k 1 to 1024; n insertions (with repeats) of other keys; m counters (at least 1);
/// true_count below theta: how often the queried key itself was inserted, not included in n. Else
/// std::invalid_argument. All these formulas treat the insertions as independent. A stream with heavy keys
/// violates that: see compound_poisson.hpp. They also neglect that two of the k positions of one key may be
/// the same counter. Functions with the prefix ln_ return natural logarithms.

/// Pr(Binomial(k n, 1/m) >= theta - true_count)^k.
/// @source Kim, Jeong, Lee, Lee 2019 (count thresholding), equation 2; true_count is ours
TALLY_EXPORT double threshold_false_positive_probability(std::uint64_t theta, std::uint32_t k,
                                                         std::uint64_t n, std::uint64_t m,
                                                         std::uint64_t true_count = 0);
TALLY_EXPORT double ln_threshold_false_positive_probability(std::uint64_t theta, std::uint32_t k,
                                                            std::uint64_t n, std::uint64_t m,
                                                            std::uint64_t true_count = 0);

/// P(theta - true_count, kappa)^k with kappa = k n / m and P the regularised lower incomplete gamma
/// function. Good in large filters; at (theta, n, m) = (10, 100, 1000) and the best k it is 27% above
/// equation 2.
/// @source Kim, Jeong, Lee, Lee 2019, equation 3; true_count is ours
TALLY_EXPORT double threshold_false_positive_probability_approximate(std::uint64_t theta, std::uint32_t k,
                                                                     std::uint64_t n, std::uint64_t m,
                                                                     std::uint64_t true_count = 0);
TALLY_EXPORT double ln_threshold_false_positive_probability_approximate(std::uint64_t theta, std::uint32_t k,
                                                                        std::uint64_t n, std::uint64_t m,
                                                                        std::uint64_t true_count = 0);

/// The best k: below or above kappa*(theta) m / n, whichever has the lower equation 3, the smaller on a tie;
/// limited to 1 to 1024. theta 1 to 2^32; n at least 1.
/// @source Kim, Jeong, Lee, Lee 2019, Theorem 1
TALLY_EXPORT std::uint32_t best_num_hashes_threshold(std::uint64_t theta, std::uint64_t n, std::uint64_t m);

}  // namespace tally::theory
