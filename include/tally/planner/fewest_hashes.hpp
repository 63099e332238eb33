#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/shapes/threshold.hpp"

namespace tally {

/// The shape with the fewest hashes that meets the rate for this number of keys and has at most `most_memory_factor`
/// times the counters of `least`, the shape with the least memory. Every hash costs one cache miss per key, and near
/// the best number of hashes the memory hardly depends on that number.
TALLY_EXPORT ThresholdShape with_fewest_hashes(const ThresholdShape& least, std::uint64_t num_keys,
                                               double rate, double most_memory_factor);

}  // namespace tally
