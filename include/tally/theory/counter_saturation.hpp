#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally::theory {

/// Counters that stay at their maximum. A counter that reaches its maximum i (2^bits - 1) is never lowered again, so the
/// number of such counters grows for as long as keys are replaced. A replacement removes a key and inserts a new one.
///
/// m counters (at least 1), k hash functions (1 to 1024), n keys in the filter (at least 1), i 1 to 2^40, N replacements
/// (any); num_blocks lines of B counters as in blocked_counters.hpp; else std::invalid_argument.

/// Upper bound on the expected number of counters that one replacement brings to i:
///
///     m (Pr(Binomial(k n, 1/m) >= i) - Pr(Binomial(k (n - 1), 1/m) >= i))
///
/// summed without cancellation. It is the expected number of counters whose keys' sum rises from below i to i or more, whichever
/// key is removed, if that choice does not depend on the hashes. A counter that stays at i may do so again, so fewer are
/// newly saturated: by about kappa / (kappa + i - 1) of them, kappa = k n / m, if random keys are removed.
/// @source ours
TALLY_EXPORT double counter_saturation_rate(std::uint64_t m, std::uint32_t k, std::uint64_t n,
                                            std::uint64_t i);

/// Upper bound on the expected number of saturated counters after the filling and N replacements, and so on the probability
/// that there is any: m Pr(Binomial(k n, 1/m) >= i) + N counter_saturation_rate, at most m.
/// @source ours; for N = 0 Fan et al. 2000
TALLY_EXPORT double expected_saturated_counters(std::uint64_t m, std::uint32_t k, std::uint64_t n,
                                                std::uint64_t i, std::uint64_t N);

/// The same if the k counters of a key lie in one of num_blocks lines.
/// @source ours
TALLY_EXPORT double blocked_counter_saturation_rate(std::uint64_t num_blocks, std::uint32_t B,
                                                    std::uint32_t k, std::uint64_t n, std::uint64_t i);
TALLY_EXPORT double blocked_expected_saturated_counters(std::uint64_t num_blocks, std::uint32_t B,
                                                        std::uint32_t k, std::uint64_t n, std::uint64_t i,
                                                        std::uint64_t N);

/// The same for keys with the counts of the histogram at any one time, n_c keys with count c: an approximation for large m. The
/// rate is per insertion, each after the removal of one insertion, and is the larger of two:
///
///     k sum_c n_c Pr(i - c <= S < i) / sum_c c n_c     if all insertions of a key are removed together, and those of the new
///                                                      key follow
///     k sum_c c n_c Pr(S = i - c) / sum_c c n_c        if the insertion that is removed is drawn at random from all
///
/// with S compound Poisson (counter_value_distribution). They are equal if no key has two insertions. i 1 to 10000, and at most
/// the size of the histogram if keys lie beyond it; at least one key.
/// @source ours
TALLY_EXPORT double compound_counter_saturation_rate(const CountHistogram& histogram, std::uint32_t k,
                                                     std::uint64_t m, std::uint64_t i);
TALLY_EXPORT double compound_expected_saturated_counters(const CountHistogram& histogram, std::uint32_t k,
                                                         std::uint64_t m, std::uint64_t i, std::uint64_t N);
TALLY_EXPORT double blocked_compound_expected_saturated_counters(const CountHistogram& histogram,
                                                                 std::uint64_t num_blocks, std::uint32_t B,
                                                                 std::uint32_t k, std::uint64_t i,
                                                                 std::uint64_t N);

/// The share of counters that are saturated after the filling and `replacements_per_key` (0 or more) replacements per key of
/// keys at random: an approximation for large m and n. A counter holds Poisson(kappa) keys, kappa = k n / m; keys come at the
/// rate kappa and each leaves at the rate 1 (the queue M/M/infinity). The share that never reached i falls as a mixture of
/// exponentials. The slowest is exact, and one with the mean rate of all others stands for these, so the result is never too
/// low. For kappa from 0.3 to 1.5 and i from 1 to 7, where tests compare it with the chain, it is at most 2% too high. kappa
/// above 0 and at most 1000; i 1 to 65535.
/// @source ours; the zeros of Charlier's polynomials (Karlin and McGregor 1958)
TALLY_EXPORT double saturated_share(double kappa, std::uint64_t i, double replacements_per_key);

/// The probability that all k counters of an absent key are above 0, if `share` (0 to 1) of all counters are saturated,
/// anywhere: (1 - (1 - share) (1 - 1/m)^(k n))^k. An approximation for large m. It takes the share as independent of the
/// counters that are above 0, which makes it too high, and the k counters as independent, which makes it too low in small
/// filters. Also the probability that the count of a present key is too high. n any.
/// @source ours
TALLY_EXPORT double saturated_false_positive_probability(std::uint64_t m, std::uint32_t k, std::uint64_t n,
                                                         double share);
TALLY_EXPORT double ln_saturated_false_positive_probability(std::uint64_t m, std::uint32_t k, std::uint64_t n,
                                                            double share);

}  // namespace tally::theory
