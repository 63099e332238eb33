#pragma once

#include <cstdint>

#include "tally/shapes/dleft.hpp"
#include "tally/theory/dleft_fingerprints.hpp"

namespace tally::experiments {

/// The table of Bonomi et al. 2006, Section 5: 4 subtables of 2048 buckets of 8 cells of 14 + 2 bits.
inline constexpr DLeftShape paper_shape{.buckets_per_subtable = 2048,
                                        .num_subtables = 4,
                                        .cells_per_bucket = 8,
                                        .remainder_bits = 14,
                                        .counter_bits = 2};

inline constexpr double paper_num_buckets = 4 * 2048;

/// Keys at a load in keys per bucket; 6 is the paper's: 49152 keys.
inline std::uint64_t keys_at(double load) { return static_cast<std::uint64_t>(load * paper_num_buckets); }

/// Cells in use per bucket then: keys that share a fingerprint share a cell.
inline double distinct_load(double load) {
  return theory::dleft_distinct_load(4, 2048, paper_shape.fingerprint_space().num_remainders(),
                                     keys_at(load));
}

}  // namespace tally::experiments
