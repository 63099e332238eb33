#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// Fingerprints of a d-left counting Bloom filter: n distinct keys are thrown uniformly into B R values.
///
/// B is the number of buckets in one subtable and R the number of remainders in use: 2^r for r remainder
/// bits, 2^r - 1 if the remainder 0 means an empty cell. B and R at least 1, d 1 to 8, i 1 to 2^40, n and N
/// any; else std::invalid_argument. For each function, the variant with the prefix ln_ returns the natural
/// logarithm, finite where the probability underflows, -infinity for 0. Only a shared fingerprint causes a
/// false positive, never a bucket, so neither d nor the number of cells in a bucket matters here.

/// Probability that a key never inserted is reported present: 1 - (1 - 1/(B R))^n. Exact for a uniform H, and
/// for every way of storing the fingerprints that loses none.
/// @source Bonomi et al. 2006, section 3.2, third claim
TALLY_EXPORT double dleft_false_positive_probability(std::uint64_t B, std::uint64_t R, std::uint64_t n);
TALLY_EXPORT double ln_dleft_false_positive_probability(std::uint64_t B, std::uint64_t R, std::uint64_t n);

/// Expected number of distinct fingerprints of n keys, D = B R (1 - (1 - 1/(B R))^n).
TALLY_EXPORT double dleft_distinct_fingerprints(std::uint64_t B, std::uint64_t R, std::uint64_t n);

/// D / (d B): cells in use per bucket. Keys that share a fingerprint share a cell, so this, not n / (d B),
/// is the average load of the fluid limit.
TALLY_EXPORT double dleft_distinct_load(std::uint32_t d, std::uint64_t B, std::uint64_t R, std::uint64_t n);

/// Bound on Pr(some value is shared by at least i of the n keys) for a static set: C(n, i) / (B R)^(i - 1). A
/// bound above 1 is trivial and is returned as 1.
///
/// Erratum: the paper prints C(m, 5) (1/(B R))^5 ~ 5.62e-17 for its m = 49152 keys, B R = 2^25. That is the
/// probability that five given keys have one *given* value. Any of B R values will do: the bound is 1.89e-9.
/// @source Bonomi et al. 2006, section 5.1, corrected
TALLY_EXPORT double dleft_shared_fingerprint_bound(std::uint64_t B, std::uint64_t R, std::uint64_t n,
                                                   std::uint64_t i);
TALLY_EXPORT double ln_dleft_shared_fingerprint_bound(std::uint64_t B, std::uint64_t R, std::uint64_t n,
                                                      std::uint64_t i);

/// Expected number of insertions, among N that each replace a random key of a set of n, after which
/// the new key shares its fingerprint with at least i - 1 others: N Pr(Binomial(n - 1, 1/(B R)) >= i - 1).
/// With counters that hold at most i - 1 these are the insertions that overflow one. n at least 1.
/// @source ours; it explains the six 4-fold values of Bonomi et al. 2006, section 5.1
TALLY_EXPORT double dleft_expected_shared_insertions(std::uint64_t B, std::uint64_t R, std::uint64_t n,
                                                     std::uint64_t i, std::uint64_t N);
TALLY_EXPORT double ln_dleft_expected_shared_insertions(std::uint64_t B, std::uint64_t R, std::uint64_t n,
                                                        std::uint64_t i, std::uint64_t N);

}  // namespace tally::theory
