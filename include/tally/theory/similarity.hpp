#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// A number and its standard error; both infinite where there is no estimate.
struct Estimate {
  double value = 0.0;
  double standard_error = 0.0;
};

/// Sizes of two sets A and B and how similar they are, estimated from their filters.
struct SimilarityEstimate {
  Estimate num_keys_a;
  Estimate num_keys_b;
  Estimate union_size;         ///< |A or B|
  Estimate intersection_size;  ///< |A and B|
  Estimate jaccard;            ///< |A and B| / |A or B|
  Estimate containment_a;      ///< |A and B| / |A|: the share of A that is in B
  Estimate containment_b;      ///< |A and B| / |B|
};

/// How many positions are not 0 in the filter of A, in that of B, and in at least one of the two.
struct OccupiedPositions {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t either = 0;
};

/// The similarity of two sets from two filters with the same m positions and k hash functions per key. With
/// x(S) = -ln(1 - occupied(S)/m), the expected number of hits of a position by the keys of S,
///
///     |S| = m x(S) / k,    x(A and B) = x(A) + x(B) - x(A or B),
///
///     m Var(x(S)) = g(x(S)),    m Var(x(A and B)) = g(x(A or B)) - g(x(A)) - g(x(B)) + 2 g(x(A and B)),
///
/// with g(x) = exp(x) - 1 - x. The other variances follow from Cov(x(A and B), x(A or B)) = g(x(A)) + g(x(B)) -
/// g(x(A or B)) and Cov(x(A and B), x(A)) = g(x(A and B)), all over m, by the delta method.
///
/// The positions of a key are independent, or one in each of k parts. It stops being true where few positions are 0, as
/// estimate_distinct_keys does, and where the sets are so small that the variances say little. If no position of the union
/// is 0, there is no estimate. A share of an empty set is 0, with an infinite standard error.
///
/// @param m  positions; at least 1
/// @param k  hash functions; 1 to 1024
/// @throws std::invalid_argument for anything else, for a or b above either, and for either above m or above a + b
/// @source |A and B| after Swamidass and Baldi 2007; the variances are derived in docs/theory.md
TALLY_EXPORT SimilarityEstimate estimate_similarity(std::uint64_t m, std::uint32_t k,
                                                    const OccupiedPositions& occupied);

/// The same for blocked Bloom filters: a key has one line of `line_bits` bits, and its k positions there. A bit is hit by a
/// key with the probability s line_bits/m, where s = 1 - (1 - 1/line_bits)^k, and two bits of one line are both hit with
/// t = 1 - 2 (1 - 1/line_bits)^k + (1 - 2/line_bits)^k given the line. So k becomes line_bits s, and
///
///     g(x) = exp(x) - 1 + (line_bits - 1) (exp(x t/s) - 1) - line_bits s x
///
/// @param num_lines, line_bits  at least 1; m is their product
TALLY_EXPORT SimilarityEstimate estimate_similarity_blocked(std::uint64_t num_lines, std::uint32_t line_bits,
                                                            std::uint32_t k,
                                                            const OccupiedPositions& occupied);

/// The same for register-blocked Bloom filters: a key has one line of `num_words` words of `word_bits` bits, and
/// k / num_words positions in each word. With s and t as above for one word, bits of different words are both hit with s^2
/// given the line. So k becomes num_words word_bits s, and
///
///     g(x) = exp(x) - 1 + (word_bits - 1) (exp(x t/s) - 1) + (num_words - 1) word_bits (exp(x s) - 1)
///            - num_words word_bits s x
///
/// @param k  a multiple of num_words
/// @param num_lines, num_words, word_bits  at least 1; m is their product
TALLY_EXPORT SimilarityEstimate estimate_similarity_register_blocked(std::uint64_t num_lines,
                                                                     std::uint32_t num_words,
                                                                     std::uint32_t word_bits, std::uint32_t k,
                                                                     const OccupiedPositions& occupied);

}  // namespace tally::theory
