#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// Blocked Bloom filters: a key selects one of `num_blocks` blocks of B bits, then k independent positions in
/// that block. Blocks are loaded unevenly, and the crowded ones dominate the false positive rate:
///
///     f = sum_j Pr(Binomial(n, 1/num_blocks) = j) g(j)
///
/// with g(j) the false positive probability of a block of B bits that holds j keys. The sum over j ends when
/// the rest is below 1e-14 of it. An f above 1 - exp(-50) is returned as 1.
///
/// num_blocks at least 1; B 1 to 4096; k 1 to 1024; n 0 gives 0; else std::invalid_argument.
/// @source Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters" (2007), who use
///         the Poisson limit of the mixture and the approximate g

/// g(j) is exact, `false_positive_probability_occupancy(B, k, j)`.
TALLY_EXPORT double blocked_bloom_false_positive_probability(std::uint64_t num_blocks, std::uint32_t B,
                                                             std::uint32_t k, std::uint64_t n);
TALLY_EXPORT double ln_blocked_bloom_false_positive_probability(std::uint64_t num_blocks, std::uint32_t B,
                                                                std::uint32_t k, std::uint64_t n);

/// g(j) = (1 - (1 - 1/B)^(k j))^k: faster, and too low by some percent because B is small.
TALLY_EXPORT double blocked_bloom_false_positive_probability_approximate(std::uint64_t num_blocks,
                                                                         std::uint32_t B, std::uint32_t k,
                                                                         std::uint64_t n);
TALLY_EXPORT double ln_blocked_bloom_false_positive_probability_approximate(std::uint64_t num_blocks,
                                                                            std::uint32_t B, std::uint32_t k,
                                                                            std::uint64_t n);

/// The k of 1 to 64 with the lowest exact probability, found by trying k = 1, 2, ... until it rises.
TALLY_EXPORT std::uint32_t best_num_hashes_blocked_bloom(std::uint64_t num_blocks, std::uint32_t B,
                                                         std::uint64_t n);

/// The smallest number of blocks for which the exact probability is at most `target` (in (0, 1)).
/// @throws std::invalid_argument also if 2^50 blocks are not enough
TALLY_EXPORT std::uint64_t blocked_bloom_num_blocks_for(double target, std::uint32_t B, std::uint32_t k,
                                                        std::uint64_t n);

}  // namespace tally::theory
