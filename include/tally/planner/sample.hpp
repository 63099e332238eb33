#pragma once

#include <cstdint>
#include <span>

#include "tally/theory/compound_poisson.hpp"

namespace tally {

/// Histogram of the exact counts of a sample, one count a key; counts of `limit` or more are
/// one lump. `limit` 1 to 10000: the threshold, or more. Counts of 0 are no keys and are left out.
theory::CountHistogram histogram_of_counts(std::span<const std::uint64_t> counts, std::uint64_t limit);

}  // namespace tally
