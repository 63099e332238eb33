#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/theory/double_hashing.hpp"

namespace tally::theory {

/// ln of the false positive rate of a Bloom filter of m bits with n keys under double hashing, up to terms of the second
/// order in 1/m, where the pairs of hash values are too many to count (double_hashing.hpp). Our own formula: an
/// approximation.
///
///     f = f_independent (1 + S + Q)
///
/// f_independent is ln_false_positive_probability_expansion, and p = 1 - (1 - 1/m)^(k n). Double hashing differs from
/// independent positions in two ways:
///
///   S: keys that share several positions with the query. A key whose index runs in steps of a while the query's runs in steps
///   of b, a and b coprime, shares a run of positions, forwards or backwards. With s or more positions there are
///   2 (k - (s - 1) a)+ (k - (s - 1) b)+ runs, summed over all a and b, and so N_s with just s by a second difference. On average
///   N_s n / m^2 keys have one. S + 1 is the mean of p^-U, where U, at most k, is the compound Poisson sum of the sizes s >= 3
///   (Panjer's recursion), less what independent positions have of it, n / m^2 sum_s N_s (s x + s (s - 1) x^2 / 2) at
///   x = (1 - p) / p. In `plain`; `quadratic` has only the steps a = b = 1, `cubic` only the key with all positions of the
///   query, and `triple` nothing.
///
///   Q: queries with fewer than k positions, less what independent positions have of them, k (k - 1) (1/p - 1) / (2 m). In
///   `plain` those whose h2 has an order r < k modulo m: Euler's phi(r) of m have r positions. In `quadratic` and `triple`, for
///   each sum of two indices, 1 of m in which all pairs of this sum coincide, and likewise in `cubic` for i^2 + i j + j^2; in
///   `triple` also those whose h2 and h3 are multiples of m/r for a divisor r of m up to 32. Small filters have all hash values
///   counted (double_hashing_gain_by_coinciding_positions).
///
/// Where it was compared with the exact law: docs/theory.md, "Any size".
///
/// @param scheme  not `partition`, whose law is exact at every size (partition_double.hpp)
/// @param m  bits; at least 1
/// @param k  1 to 1024
/// @param n  distinct keys; 0 gives minus infinity
/// @throws   std::invalid_argument outside these ranges
TALLY_EXPORT double ln_double_hashing_false_positive_probability_expansion(DoubleHashing scheme,
                                                                           std::uint64_t m, std::uint32_t k,
                                                                           std::uint64_t n);

}  // namespace tally::theory
