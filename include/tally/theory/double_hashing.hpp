#pragma once

#include <cstdint>
#include <vector>

#include "tally/export.hpp"

namespace tally::theory {

/// Position i of a key, i = 0 .. k - 1, from hash values h1, h2, h3 that are uniform and independent:
///
///     plain       h1 + i h2                       mod m
///     quadratic   h1 + i h2 + i^2                 mod m     (enhanced double hashing)
///     cubic       h1 + i h2 + i^3                 mod m     (enhanced double hashing)
///     triple      h1 + i h2 + (i (i - 1) / 2) h3  mod m
///     partition   h1 + i h2                       mod m/k, in the i-th of k parts of m/k bits, of any size
///
/// @source Kirsch and Mitzenmacher, "Less Hashing, Same Performance", section 5; triple: Dillinger and Manolios 2004
enum class DoubleHashing : std::uint8_t { plain, quadratic, cubic, triple, partition };

/// False positive probability of a Bloom filter of m bits with n keys, exact at every m and n.
///
/// Our own formula. Up to a shift by h1, and in `plain` and `triple` up to a factor that is invertible modulo
/// m, there are few queries. For each one, all pairs (triples) of hash values are sorted by the set of the
/// query's positions that a key with these values sets; inclusion and exclusion over these sets gives
///
///     f = mean over queries of sum_T (-1)^|T| (share of the pairs that set none of T)^n
///
/// The sum cancels: the absolute error is below about 1e-14, whatever f is.
///
/// @param m  bits; 1 to 2^32; in `partition` a multiple of k
/// @param k  1 to 16
/// @param n  distinct keys; 0 gives 0
/// @throws   std::invalid_argument outside these ranges, or where num_steps is above 2^33
TALLY_EXPORT double double_hashing_false_positive_probability(DoubleHashing scheme, std::uint64_t m,
                                                              std::uint32_t k, std::uint64_t n);

/// The number of steps (one or two nanoseconds each) that this takes: k^2 m times the number of divisors of m
/// in `plain`, k^2 m^2 in `quadratic` and `cubic`, at least k^2 m^3 in `triple`, k^2 m in `partition`. Ranges
/// as above except the last.
TALLY_EXPORT double double_hashing_num_steps(DoubleHashing scheme, std::uint64_t m, std::uint32_t k);

/// Pr(a key has exactly j distinct positions), j = 0 .. k, by iterating over all h2 (and h3): k^2 m steps, in
/// `triple` k^2 m^2. Ranges as above, at most 2^33 steps. Double hashing collapses if h2 has a small order
/// modulo m, that is, if m / gcd(h2, m) < k.
TALLY_EXPORT std::vector<double> double_hashing_distinct_positions(DoubleHashing scheme, std::uint64_t m,
                                                                   std::uint32_t k);

/// The same for k independent uniform positions. m at least 1, k 1 to 1024.
TALLY_EXPORT std::vector<double> independent_distinct_positions(std::uint64_t m, std::uint32_t k);

}  // namespace tally::theory
