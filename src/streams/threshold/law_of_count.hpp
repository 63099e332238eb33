#pragma once

#include <cstdint>
#include <vector>

#include "tally/shapes/threshold.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally::detail {

/// The distribution of a count: entry s is the probability of s, the last entry that of its index and above.
using Law = std::vector<double>;

/// The distribution of the sum of two independent counts, with as many entries as `a` has.
Law law_of_sum(const Law& a, const Law& b);

/// The distribution of what other keys have added to the smallest counter of a key: entries 0 to `max_gap`. What is
/// above an entry with a probability of less than 1e-15 is left at 0.
Law law_of_least_counter(const theory::CountHistogram& histogram, const ThresholdShape& shape,
                         std::uint64_t max_gap);

}  // namespace tally::detail
