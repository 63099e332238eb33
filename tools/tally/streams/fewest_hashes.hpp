#pragma once

#include <cstdint>

#include "tally/shapes/threshold.hpp"

namespace tally::cli {

/// The shape of the fewest hashes that keeps the rate for so many keys in at most so many times the counters of `least`,
/// which is the one of the least memory. Every hash costs a cache miss a key, and near the best number of them the memory
/// hardly depends on it.
ThresholdShape with_fewest_hashes(const ThresholdShape& least, std::uint64_t num_keys, double rate,
                                  double most_memory_factor);

}  // namespace tally::cli
