#pragma once

#include <cstdint>
#include <span>

#include "tally/theory/double_hashing.hpp"

// A key some of whose k positions are the same: a counter that j of them share holds j times the key's count.

namespace tally::theory {

/// ln E[prod_j w_j^(N_j)], where N_j positions of m are hit by just j of k independent uniform positions: with
/// w_j = Pr(counter >= theta - j true_count) the false positive rate of a key that was inserted true_count times, if counters are
/// independent of each other. Our own formula:
///
///     E = k! / m^k [x^k] (1 + sum_j w_j x^j / j!)^m
///
/// @param m  positions; at least 1
/// @param k  1 to 1024
/// @param w  w_1, w_2, ... in [0, 1], w_1 above 0; the last one is also that of all further j
/// @throws   std::invalid_argument outside these ranges
/// @source   ours
double ln_mean_over_coinciding_positions(std::uint64_t m, std::uint32_t k, std::span<const double> w);

/// E[prod_j w_j^(N_j)] - w_1^k for a double hashing scheme, up to terms of the second order in 1/m, as
/// ln_double_hashing_false_positive_probability_expansion counts the keys with fewer than k positions. `triple` has a term of
/// the second order too, as its keys may have one position only, where independent ones hardly ever have. In `partition`
/// positions never coincide: 0. Ranges as above.
/// @source   ours
double double_hashing_gain_by_coinciding_positions(DoubleHashing scheme, std::uint64_t m, std::uint32_t k,
                                                   std::span<const double> w);

}  // namespace tally::theory
