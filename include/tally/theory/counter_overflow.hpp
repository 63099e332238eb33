#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// The distribution of the largest counter of a counting Bloom filter.
///
/// m counters (at least 1), k hash functions (1 to 1024), n insertions, i a counter value (1 to 2^40); else
/// std::invalid_argument. Each function is an upper bound of Pr(largest counter >= i). A bound above 1 is
/// trivial and is returned as 1. Only the union bound connects the counters of one filter, so they need not
/// be independent. Nothing here covers removals if more than n keys were ever in the filter at once. A b-bit
/// counter is at its maximum from i = 2^b - 1 on and would overflow at i = 2^b.
/// @source Fan, Cao, Almeida, Broder, "Summary Cache", section on Bloom filters

/// m Pr(Binomial(k n, 1/m) >= i): the union bound with the true distribution of one counter; the tightest.
TALLY_EXPORT double counter_overflow_union_bound(std::uint64_t m, std::uint32_t k, std::uint64_t n,
                                                 std::uint64_t i);
TALLY_EXPORT double ln_counter_overflow_union_bound(std::uint64_t m, std::uint32_t k, std::uint64_t n,
                                                    std::uint64_t i);

/// m C(n k, i) / m^i, the paper's first bound.
TALLY_EXPORT double counter_overflow_bound(std::uint64_t m, std::uint32_t k, std::uint64_t n,
                                           std::uint64_t i);
TALLY_EXPORT double ln_counter_overflow_bound(std::uint64_t m, std::uint32_t k, std::uint64_t n,
                                              std::uint64_t i);

/// m (e n k / (i m))^i, the paper's second bound.
TALLY_EXPORT double counter_overflow_bound_simple(std::uint64_t m, std::uint32_t k, std::uint64_t n,
                                                  std::uint64_t i);
TALLY_EXPORT double ln_counter_overflow_bound_simple(std::uint64_t m, std::uint32_t k, std::uint64_t n,
                                                     std::uint64_t i);

/// m (e ln 2 / i)^i, for every k <= (m/n) ln 2. At i = 16 it is 1.37e-15 m: four bits are enough.
TALLY_EXPORT double counter_overflow_bound_best_k(std::uint64_t m, std::uint64_t i);
TALLY_EXPORT double ln_counter_overflow_bound_best_k(std::uint64_t m, std::uint64_t i);

/// The asymptotic mean of the largest counter, G(m) (1 + ln(k n / m) / ln G(m)), where G is the inverse of
/// the Gamma function. The relative error is O(1 / (ln G(m))^2), and ln G(m) is about 3 for the largest
/// possible m, so this is a rough guide. n at least 1.
TALLY_EXPORT double expected_largest_counter(std::uint64_t m, std::uint32_t k, std::uint64_t n);

/// G(x): the y >= 2 with Gamma(y) = x, for x >= 1 and finite.
TALLY_EXPORT double inverse_gamma_function(double x);

}  // namespace tally::theory
