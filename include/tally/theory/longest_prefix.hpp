#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// How much longer than it is the prefix of a request's blocks may seem that a peer holds (SummarySet::longest_prefix).
///
/// A peer holds the first t blocks and not the next one. Its copy has the false positive rate f, that of the copy as it is
/// (summary_false_positive_rate, SummarySet::estimated_false_positive_rate). Each further block that the peer does not hold passes
/// with probability f independently of the others, if digests are uniform, so the prefix seems to have
///
///     t + j blocks or more with probability f^j,        on average f (1 - f^r) / (1 - f) blocks too many
///
/// of r further blocks. Exact for a given copy. Averaged over filters f^j is the least that it can be, as E[R^j] >= E[R]^j; the
/// variance of R is rate_variance_approximate. Keys that were removed since the copy was made come on top: stale blocks
/// pass for certain.
/// f in [0, 1]; else std::invalid_argument.
/// @source ours

/// Pr(the prefix of at least one of num_peers such peers seems longer by num_blocks or more) = 1 - (1 - f^num_blocks)^num_peers,
/// if their copies err independently. num_peers at least 1.
TALLY_EXPORT double overstated_prefix_probability(double f, std::uint64_t num_blocks,
                                                  std::uint64_t num_peers = 1);
TALLY_EXPORT double ln_overstated_prefix_probability(double f, std::uint64_t num_blocks,
                                                     std::uint64_t num_peers = 1);

/// By how many blocks the prefix of one peer seems longer, on average, if num_blocks_left follow that it does not hold.
TALLY_EXPORT double mean_overstated_blocks(double f, std::uint64_t num_blocks_left);

}  // namespace tally::theory
