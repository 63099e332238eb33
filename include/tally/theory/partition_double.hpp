#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// False positive probability of the partition scheme with double hashing, exact at every n:
/// k parts of p bits, p prime, position i of a key is h1 + i h2 mod p in part i.
///
///     f = E + (1 - E) sum_{j=0..k} (-1)^j C(k, j) (1 - j/(p+1))^n,    E = 1 - (1 - 1/p^2)^n
///
/// E is the probability that some key has the same pair (h1, h2) as the query; any other key collides with it
/// in at most one part. The alternating sum cancels, so it is computed with 400 digits.
///
/// @param p  bits in one part; must be prime for the formula to hold (not checked) and at least k
/// @param k  parts; 1 to 1024
/// @param n  distinct keys; 0 gives the probability 0
/// @throws   std::invalid_argument if p < 2, p < k or k is out of range
/// @source   Kirsch and Mitzenmacher, "Less Hashing, Same Performance", section 3
TALLY_EXPORT double partition_double_false_positive_probability(std::uint64_t p, std::uint32_t k,
                                                                std::uint64_t n);
TALLY_EXPORT double ln_partition_double_false_positive_probability(std::uint64_t p, std::uint32_t k,
                                                                   std::uint64_t n);

}  // namespace tally::theory
