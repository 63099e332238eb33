#pragma once

#include <cstdint>
#include <span>

#include "tally/export.hpp"
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
TALLY_EXPORT double ln_mean_over_coinciding_positions(std::uint64_t m, std::uint32_t k,
                                                      std::span<const double> w);

/// E[prod_j w_j^(N_j)] - w_1^k for a double hashing scheme, up to terms of the second order in 1/m, as
/// ln_double_hashing_false_positive_probability_expansion counts the keys with fewer than k positions. `triple` has a term of
/// the second order too, as its keys may have one position only, where independent ones hardly ever have. In `partition`
/// positions never coincide: 0. Ranges as above.
/// @source   ours
TALLY_EXPORT double double_hashing_gain_by_coinciding_positions(DoubleHashing scheme, std::uint64_t m,
                                                                std::uint32_t k, std::span<const double> w);

/// By how much other keys that share several positions with a key raise its rate, as a share of the rate that it has with
/// independent positions, for count thresholds above 1. Each of numbers[i] keys raises all positions that it shares with the key together:
/// of one of them Pr(counter >= theta) becomes ratios[i] times as large.
///
///     sum_i numbers_i sum_s N_s / m^2 (ratios_i^s - 1 - s (ratios_i - 1) - s (s - 1) / 2 (ratios_i - 1)^2)
///
/// with N_s as in ln_double_hashing_false_positive_probability_expansion: to the first order in the number of keys that
/// share positions. In `partition` a key with two of the positions has all k: N_k = 1, m is the size of a part, and the last
/// term is left out (from above). In `triple` nothing is shared: 0.
/// @param numbers  at least 0; as many as ratios
/// @param ratios   at least 1
/// @throws         std::invalid_argument outside these ranges
/// @source         ours
TALLY_EXPORT double double_hashing_gain_by_shared_positions(DoubleHashing scheme, std::uint64_t m,
                                                            std::uint32_t k, std::span<const double> numbers,
                                                            std::span<const double> ratios);

}  // namespace tally::theory
