#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// Upper bound on the probability that n elements, each with one random bucket in every one of d subtables, cannot all be
/// placed in d B buckets of c cells, whatever is moved:
///
///     sum over s from d to d B - 1 of C(d B, s) Pr(Binomial(n, (s / (d B))^d) > c s)
///
/// A theorem. Elements have no placement if and only if some s buckets have more than c s elements that have no other bucket
/// (Hall 1935). An element has all of its buckets among s given ones with probability prod_i s_i / B, where s_i of them are in
/// subtable i, and that is at most (s / (d B))^d. The binomial tail is replaced by its Chernoff bound. Tight enough to be
/// useful up to a few thousand buckets, and far below 1 only below dleft_orientable_load.
///
/// @param d  2 to 8
/// @param B  buckets per subtable, 1 to 2^20; the time is in proportion to d B
/// @param c  1 to 255
/// @throws std::invalid_argument for anything else
/// @source ours, by Hall's theorem
TALLY_EXPORT double ln_dleft_no_placement_bound(std::uint32_t d, std::uint64_t B, std::uint32_t c,
                                                std::uint64_t n);
TALLY_EXPORT double dleft_no_placement_bound(std::uint32_t d, std::uint64_t B, std::uint32_t c,
                                             std::uint64_t n);

}  // namespace tally::theory
