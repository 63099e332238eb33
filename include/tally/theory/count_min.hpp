#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// Count-Min sketches: how far an estimate may lie above the truth, and with what probability it lies
/// farther.
///
/// In this header w is the width (counters in a row), depth the number of rows, N the sum of all weights, and
/// epsilon the error as a share of N. An estimate is never below the truth; these functions bound
///
///     Pr(estimate > truth + epsilon N)
///
/// for any stream of positive weights in any order, and a key chosen without knowledge of the hash functions.
/// A bound above 1 is returned as 1. w, depth and num_copies at least 1; epsilon and delta in (0, 1); else
/// std::invalid_argument. For each function, the variant with the prefix ln_ returns the natural logarithm.

/// Independent rows, each with a pairwise-independent hash: (1 / (w epsilon))^depth, by Markov's inequality
/// in every row. epsilon may be any positive number.
/// @source Cormode and Muthukrishnan 2003 (Count-Min), reviewed in Kirsch and Mitzenmacher 2008, section 9.1
TALLY_EXPORT double count_min_failure_probability(std::uint64_t w, std::uint32_t depth, double epsilon);
TALLY_EXPORT double ln_count_min_failure_probability(std::uint64_t w, std::uint32_t depth, double epsilon);

/// The smallest width and depth for (epsilon, delta): ceil(e / epsilon) and ceil(ln(1 / delta)).
/// Widths above 2^56 throw std::invalid_argument, here and below.
/// @source the same
TALLY_EXPORT std::uint64_t count_min_width(double epsilon);
TALLY_EXPORT std::uint32_t count_min_depth(double delta);

/// Rows g_j = h1 + j h2 mod w, j = 0 .. depth - 1, w prime (not checked) and at least depth:
///
///     (2 / (epsilon w^2) + (2 / (w epsilon))^depth)^num_copies
///
/// The first term is for keys that agree in both hash values, and so in every row. For depth >= 3 the paper's
/// step from "negatively dependent" to the product needs more than pairwise independence; with strong hashes,
/// simulations show the bound. epsilon may be any positive number.
/// @source Kirsch and Mitzenmacher 2008, Theorem 9.1
TALLY_EXPORT double count_min_two_hash_failure_probability(std::uint64_t w, std::uint32_t depth,
                                                           double epsilon, std::uint32_t num_copies = 1);
TALLY_EXPORT double ln_count_min_two_hash_failure_probability(std::uint64_t w, std::uint32_t depth,
                                                              double epsilon, std::uint32_t num_copies = 1);

/// With a width of at least 2 e / epsilon (the sketch uses the next prime) and a depth of ceil(ln(1 /
/// (epsilon (1 - 1 / (2 e^2))))), one copy fails with a probability of at most epsilon.
/// @source Kirsch and Mitzenmacher 2008, Theorem 9.1
TALLY_EXPORT std::uint64_t count_min_two_hash_width(double epsilon);
TALLY_EXPORT std::uint32_t count_min_two_hash_depth(double epsilon);

/// Copies, each with a fresh pair of hashes, such that all fail with a probability of at most delta:
/// ceil(ln(1 / delta) / ln(1 / epsilon)).
/// @source Kirsch and Mitzenmacher 2008, section 9.2, which counts two hash functions per copy
TALLY_EXPORT std::uint32_t count_min_two_hash_copies(double epsilon, double delta);

}  // namespace tally::theory
