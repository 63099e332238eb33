#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// False positive probabilities of standard Bloom filters.
///
/// In this header m is the number of bits (at least 1), k the number of hash functions (1 to 1024) and
/// n the number of distinct keys (0 gives the probability 0, unless a function says otherwise).
/// Every function throws std::invalid_argument for parameters outside these ranges. For each function, the
/// variant with the prefix ln_ returns the natural logarithm, finite where the probability underflows,
/// -infinity for 0.

/// Probability that a key never inserted is reported present:
///
///     (1 - (1 - 1/m)^(k n))^k
///
/// It treats the k bits of the query as independent, so it lies a little below the true value
/// (`false_positive_probability_occupancy`). Stable for every m and n up to 2^64 - 1.
/// @source Fan, Cao, Almeida, Broder, "Summary Cache", section on Bloom filters
TALLY_EXPORT double false_positive_probability(std::uint64_t m, std::uint32_t k, std::uint64_t n);
TALLY_EXPORT double ln_false_positive_probability(std::uint64_t m, std::uint32_t k, std::uint64_t n);

/// The usual approximation (1 - exp(-k n / m))^k; good for large m.
/// @source Fan, Cao, Almeida, Broder, "Summary Cache", Tables 3 to 5
TALLY_EXPORT double false_positive_probability_approximate(std::uint64_t m, std::uint32_t k, std::uint64_t n);
TALLY_EXPORT double ln_false_positive_probability_approximate(std::uint64_t m, std::uint32_t k,
                                                              std::uint64_t n);

/// The true probability for k independent uniform positions per key: E[(X/m)^k], X the number of set bits.
///
/// Computed the other way round, so that m may be anything: the k positions of the query fall on D distinct
/// bits, and k n throws must cover these D. All terms are positive. Takes about k^2 n steps; more than 2^31
/// steps are refused.
/// @source Bose et al., "On the false-positive rate of Bloom filters" (2008), for the gap
TALLY_EXPORT double false_positive_probability_occupancy(std::uint64_t m, std::uint32_t k, std::uint64_t n);
TALLY_EXPORT double ln_false_positive_probability_occupancy(std::uint64_t m, std::uint32_t k,
                                                            std::uint64_t n);

/// The first terms of the occupancy law in powers of 1/m, from the first three cumulants of the number of set bits. Takes a
/// few steps at any size. For k <= 100 at the best fill, ln of the result is off by less than 0.02 from n = 5, 1e-3 from
/// n = 10 and 1e-6 from n = 100: the error falls as k^4/m^3. Do not use it below n = 5.
TALLY_EXPORT double false_positive_probability_expansion(std::uint64_t m, std::uint32_t k, std::uint64_t n);
TALLY_EXPORT double ln_false_positive_probability_expansion(std::uint64_t m, std::uint32_t k,
                                                            std::uint64_t n);

/// The same for a filter divided into k parts of m/k bits, one position in each: (1 - (1 - k/m)^n)^k. m is at
/// least k. Never below `false_positive_probability`.
/// @source Kirsch and Mitzenmacher, "Less Hashing, Same Performance", section 2
TALLY_EXPORT double false_positive_probability_partitioned(std::uint64_t m, std::uint32_t k, std::uint64_t n);
TALLY_EXPORT double ln_false_positive_probability_partitioned(std::uint64_t m, std::uint32_t k,
                                                              std::uint64_t n);

/// The real k that minimizes the approximation: (m/n) ln 2. n at least 1.
TALLY_EXPORT double best_num_hashes_real(std::uint64_t m, std::uint64_t n);

/// The whole k next to `best_num_hashes_real` (below or above) with the lower `false_positive_probability`,
/// the smaller k on a tie; limited to 1 to 1024. n at least 1.
TALLY_EXPORT std::uint32_t best_num_hashes(std::uint64_t m, std::uint64_t n);

/// The approximation at the real best k: 2^-k = exp(-(m/n) (ln 2)^2) = 0.6185^(m/n). No filter with a
/// whole k is better under the approximation. n at least 1.
TALLY_EXPORT double best_false_positive_probability(std::uint64_t m, std::uint64_t n);
TALLY_EXPORT double ln_best_false_positive_probability(std::uint64_t m, std::uint64_t n);

}  // namespace tally::theory
