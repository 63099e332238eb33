#pragma once

#include <cstdint>
#include <span>

#include "tally/export.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally::theory {

/// Counting Bloom filters whose k counters of a key lie in one of `num_blocks` lines of B counters. A key that is in the
/// filter raises k independent counters of its line, and one counter more than once where two of these are equal.
///
/// A key that is not in the filter has all its counters above 0 with the probability
/// blocked_bloom_false_positive_probability(num_blocks, B, k, n) for n distinct keys. This header has what depends on the
/// counters' values. Lines are loaded unevenly, and most of the large counters are in the crowded ones. So every formula
/// is a mixture over the number of keys in a line, which is binomial.
///
/// num_blocks at least 1; B 1 to 4096; k 1 to 1024; else std::invalid_argument.
/// @source ours, after Putze, Sanders, Singler 2007 for the mixture

/// Upper bound on the probability that any counter reaches `i` (1 to 2^40) after n insertions of distinct keys:
///
///     num_blocks B sum_j Pr(Binomial(n, 1/num_blocks) = j) Pr(Binomial(k j, 1/B) >= i)
///
/// The union bound; a bound above 1 is returned as 1. Keys that are inserted more than once are above it.
TALLY_EXPORT double blocked_counter_overflow_union_bound(std::uint64_t num_blocks, std::uint32_t B,
                                                         std::uint32_t k, std::uint64_t n, std::uint64_t i);
TALLY_EXPORT double ln_blocked_counter_overflow_union_bound(std::uint64_t num_blocks, std::uint32_t B,
                                                            std::uint32_t k, std::uint64_t n,
                                                            std::uint64_t i);

/// By how much the keys of a line raise one of its counters: the histogram of these jumps, in which a key that is
/// inserted c times counts as Pr(Binomial(k, 1/B) = b) keys with c b. With k = 1 and m = num_blocks,
/// ln_counter_upper_tail of the result is the law of one counter.
TALLY_EXPORT CountHistogram blocked_counter_jumps(const CountHistogram& histogram, std::uint32_t B,
                                                  std::uint32_t k);

/// `num_keys` distinct keys, each inserted `count` times.
struct RepeatedKeys {
  std::uint64_t count = 1;
  std::uint64_t num_keys = 0;
};

/// The probability that all counters of a key that was inserted true_count < theta times are at least theta, exactly, for
/// the groups of the other keys. A chain follows how much each of the key's counters still lacks while the keys of its line
/// are inserted. theta at least 1. More than 2^16 states are refused; see blocked_threshold_num_states.
TALLY_EXPORT double blocked_threshold_false_positive_probability(std::uint64_t theta,
                                                                 std::uint64_t num_blocks, std::uint32_t B,
                                                                 std::uint32_t k,
                                                                 std::span<const RepeatedKeys> groups,
                                                                 std::uint64_t true_count = 0);
TALLY_EXPORT double ln_blocked_threshold_false_positive_probability(std::uint64_t theta,
                                                                    std::uint64_t num_blocks, std::uint32_t B,
                                                                    std::uint32_t k,
                                                                    std::span<const RepeatedKeys> groups,
                                                                    std::uint64_t true_count = 0);

/// The most states that the chain can have, C(k + gap, k) with gap = theta - true_count; or more than 2^16 if k is above 24,
/// because then the ways in which a key's positions can repeat are too many.
TALLY_EXPORT double blocked_threshold_num_states(std::uint64_t theta, std::uint32_t k,
                                                 std::uint64_t true_count);

/// The same for any number of states: the counters of a line are treated as independent of each other, and keys that are
/// inserted more than once as spread evenly over all lines. It is too low, the more so the lower the rate. theta 1 to 2^40.
TALLY_EXPORT double ln_blocked_threshold_false_positive_probability_approximate(
    std::uint64_t theta, std::uint64_t num_blocks, std::uint32_t B, std::uint32_t k,
    std::span<const RepeatedKeys> groups, std::uint64_t true_count = 0);

}  // namespace tally::theory
