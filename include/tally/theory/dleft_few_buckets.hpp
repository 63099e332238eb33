#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// How often a d-left table of few buckets has no room, exactly: the Markov chain of its loads is solved. A state is
/// the loads of the buckets of each subtable, sorted; buckets are chosen independently and uniformly, the least loaded
/// one is taken, and ties go left. Nothing is moved. There are d subtables (1 to 8) of B buckets of c cells (1 to 255),
/// and n elements, at most d B c. The fluid limit (dleft_overflow.hpp) is no bound here: deep in its tail, it may be
/// wrong by many orders of magnitude.
///
/// The probabilities are sums of products of positive numbers, so small ones have few rounding errors, too.
///
/// @throws std::invalid_argument for numbers out of range, for more than max_dleft_exact_buckets, and if there are more
///         than max_dleft_exact_states states with the same number of elements
/// @source ours

inline constexpr std::uint64_t max_dleft_exact_buckets = 12;
inline constexpr std::uint64_t max_dleft_exact_states = 1 << 18;

/// The probability that any of n insertions into an empty table finds its d buckets full.
TALLY_EXPORT double dleft_any_overflow_filling(std::uint32_t d, std::uint64_t B, std::uint32_t c,
                                               std::uint64_t n);

/// The probability that a replacement finds no room, in the steady state: of n elements (at least 1) a random one is
/// removed and a new one inserted; if there is no room, the removed one stays. N such steps from the steady state on
/// meet no room with a probability of at most N times this.
TALLY_EXPORT double dleft_overflow_churning(std::uint32_t d, std::uint64_t B, std::uint32_t c,
                                            std::uint64_t n);

}  // namespace tally::theory
