#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/theory/double_hashing.hpp"

namespace tally::theory {

/// ln of the false positive rate of a Bloom filter of m bits with n keys under double hashing, up to terms of the second
/// order in 1/m, where the pairs of hash values are too many to count (double_hashing.hpp). Our own formula: an
/// approximation.
///
/// With p = 1 - (1 - 1/m)^(k n), positions that were independent would be covered with probability p^k. Double hashing
/// differs from them in two ways:
///
///   keys that share several positions with the query. A key whose index runs in steps of a while the query's runs in steps
///   of b, a and b coprime, shares a run of s positions; there are (k - (s - 1) a)+ (k - (s - 1) b)+ such runs. So
///
///     e = n/m^2 (1 - p)^2 (2 sum_{s >= 2} p^-s sum_{a, b coprime} (k - (s - 1) a)+ (k - (s - 1) b)+ - p^-2 k^2 (k - 1)^2 / 2)
///
///   in `plain`, of which `quadratic` keeps the steps a = b = 1, `cubic` the key with all positions of the query, and `triple`
///   nothing; p^k becomes p^k exp(e), an upper bound of what the runs add.
///
///   queries with fewer than k positions. In `plain` those whose h2 has an order r < k modulo m: Euler's phi(r) of m have r
///   positions. In `quadratic` and `triple`, for each sum of two indices, 1 of m in which all pairs of this sum coincide;
///   in `triple` also those whose h2 and h3 are multiples of m/r for a divisor r of m up to 32.
///
/// What it leaves out is tested against the exact law: see docs/theory.md.
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
