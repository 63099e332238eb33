#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// Register-blocked Bloom filters: a key selects one of `num_blocks` blocks of `num_words` words of B bits, and in each
/// word k / num_words independent positions. Given the number j of keys in a block, its words are independent, so
///
///     f = sum_j Pr(Binomial(n, 1/num_blocks) = j) g(j)^num_words
///
/// with g(j) the exact false positive probability of a filter of B bits, k / num_words hashes and j keys. With one
/// position per word, g(j) = 1 - (1 - 1/B)^j. The sum ends as in blocked_bloom.hpp, and an f above 1 - exp(-50) is
/// returned as 1.
///
/// It stops being true where positions of a word depend on each other. With one position per word, none do: they are
/// different bits of a digest. With more, the others come from mixes of the digest, which act as independent bits.
///
/// num_blocks at least 1; num_words 1 to 64; B 1 to 4096; k a multiple of num_words, 1 to 1024; n 0 gives 0; else
/// std::invalid_argument.
/// @source the mixture over blocks after Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters" (2007)
TALLY_EXPORT double register_bloom_false_positive_probability(std::uint64_t num_blocks,
                                                              std::uint32_t num_words, std::uint32_t B,
                                                              std::uint32_t k, std::uint64_t n);
TALLY_EXPORT double ln_register_bloom_false_positive_probability(std::uint64_t num_blocks,
                                                                 std::uint32_t num_words, std::uint32_t B,
                                                                 std::uint32_t k, std::uint64_t n);

}  // namespace tally::theory
