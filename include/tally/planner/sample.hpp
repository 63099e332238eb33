#pragma once

#include <cstdint>
#include <span>

#include "tally/export.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally {

/// Histogram of the exact counts of a sample, one count per key. Counts of `limit` or more are added up as one group.
/// `limit` is 1 to 10000, and at least the threshold. Counts of 0 are ignored.
TALLY_EXPORT theory::CountHistogram histogram_of_counts(std::span<const std::uint64_t> counts,
                                                        std::uint64_t limit);

}  // namespace tally
