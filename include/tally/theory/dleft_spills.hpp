#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally::theory {

/// The side table of a d-left filter: it holds every fingerprint whose count exceeds `largest`, the largest count of a
/// cell. The count of a fingerprint is the sum of the counts of all keys that have it.
///
/// B R possible fingerprints (see dleft_fingerprints.hpp; B and R at least 1, B R at most 2^63) are drawn uniformly.
/// `histogram` has the keys by their count at any one time; largest is 1 to 9999, and below the size of the histogram if
/// keys lie beyond it. Else std::invalid_argument.

/// B R Pr(S > largest), S compound Poisson with each count c at the rate -ln(1 - 1/(B R)) keys_with_count[c]: the expected
/// number of fingerprints in the side table, at least. A key has a given fingerprint with the probability 1/(B R), and a
/// Poisson number with that rate is 0 as often and else at least 1. So it is never below the true mean, which has the
/// relative distance 1/(B R).
/// @source ours
TALLY_EXPORT double dleft_expected_spills(const CountHistogram& histogram, std::uint64_t B, std::uint64_t R,
                                          std::uint64_t largest);

/// The keys whose own count exceeds `largest`, plus dleft_expected_spills of the others: never below
/// dleft_expected_spills, and hardly above it while few keys share a fingerprint. If B R is above the number of keys, it
/// never rises with B R.
/// @source ours
TALLY_EXPORT double dleft_expected_spills_bound(const CountHistogram& histogram, std::uint64_t B,
                                                std::uint64_t R, std::uint64_t largest);

/// Upper bound on the probability that there are ever more than `capacity` fingerprints in the side table, from the time
/// when all keys are in the filter, over N replacements that keep the histogram:
///
///     (N + 1) exp(x - e - x ln(x / e)),   x = capacity + 1, e = expected
///
/// Chernoff's bound for each of the N + 1 states, all of which have the same law if no removal depends on the hashes. It
/// holds for counts of one filter because they are negatively associated. 1 if x is not above e.
///
/// @param expected  dleft_expected_spills or an upper bound; finite and at least 0
/// @param N         any
/// @source ours; Joag-Dev and Proschan 1983, "Negative association of random variables"
TALLY_EXPORT double dleft_spills_tail(double expected, std::uint64_t capacity, std::uint64_t N);
TALLY_EXPORT double ln_dleft_spills_tail(double expected, std::uint64_t capacity, std::uint64_t N);

/// The least capacity for which dleft_spills_tail is at most failure_probability, in (0, 1). expected at most 2^53.
/// @source ours
TALLY_EXPORT std::uint64_t dleft_spill_capacity(double expected, std::uint64_t N, double failure_probability);

/// Upper bound on the expected largest number of fingerprints in the side table over that life: the x >= expected with
/// x ln(x / expected) - x + expected = ln(N + 1).
/// @source ours
TALLY_EXPORT double dleft_expected_most_spills(double expected, std::uint64_t N);

}  // namespace tally::theory
