#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// The largest of s shares, if each of n keys belongs to one of them, chosen uniformly and independently.
///
/// In this header n is the number of distinct keys (0 to 2^40), s the number of shares (at least 1), and the size of a
/// share is its number of keys, not of insertions: a key that is inserted often makes its share busier, not larger. Anything
/// else throws std::invalid_argument. One probability takes up to 40 microseconds, below 1e-5 a few; its relative error is
/// below 1e-9.

/// Upper bound on the probability that the largest share has more than c keys:
///
///     min(1, s Pr(Binomial(n, 1/s) > c))
///
/// The true probability P is between 1 - (1 - u/s)^s and u, u = s Pr(..) being the bound, because the sizes of shares are
/// negatively associated. So u is above P by a factor of at most 1 + u for u up to 1: by nothing that matters where u is
/// small. It is exact for s = 1, and for s = 2 if u is below 1. At c below n/s both are 1.
///
/// The bound holds for digests that are uniform, such as those of XXH3-128. Keys that an attacker chose need a keyed hash.
/// @source the union bound; Joag-Dev and Proschan 1983 for the negative association; Raab and Steger 1998, "Balls into
///         Bins", for where the largest share is as n and s grow
TALLY_EXPORT double probability_of_larger_share(std::uint64_t n, std::uint64_t s, std::uint64_t c);
/// The natural logarithm, finite where the probability underflows; -infinity for 0.
TALLY_EXPORT double ln_probability_of_larger_share(std::uint64_t n, std::uint64_t s, std::uint64_t c);

/// The least c with probability_of_larger_share(n, s, c) <= failure_probability, which is above 0 and below 1. At least
/// n/s, and at most n/s + L/3 + sqrt(L^2/9 + 2 L n/s) rounded up, with L = ln(s / failure_probability) (Bernstein).
/// Takes up to 25 probabilities.
TALLY_EXPORT std::uint64_t largest_share(std::uint64_t n, std::uint64_t s, double failure_probability);

}  // namespace tally::theory
