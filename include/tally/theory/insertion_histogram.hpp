#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally::theory {

/// Expected histogram, up to `limit`, of num_insertions insertions of num_keys distinct keys, if all keys are inserted about
/// equally often: each insertion is of a key at random, and every key was inserted at least once. The count of a key is then
/// Poisson(a) given that it is not 0, with a such that the mean is num_insertions / num_keys.
///
/// num_keys at least 1; num_insertions at least num_keys; limit 1 to 10000; else std::invalid_argument.
/// @source ours
TALLY_EXPORT CountHistogram insertion_count_histogram(std::uint64_t num_keys, std::uint64_t num_insertions,
                                                      std::uint64_t limit);

}  // namespace tally::theory
