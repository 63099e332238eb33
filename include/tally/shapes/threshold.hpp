#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/hashing/hash_scheme.hpp"
#include "tally/shapes/counter_update.hpp"

namespace tally {

/// The size of a ThresholdFilter. Its counters are just wide enough for the threshold.
struct ThresholdShape {
  std::uint64_t num_counters = 0;  ///< m: 1 to 2^56; what the scheme can use
  std::uint32_t num_hashes = 0;    ///< k: 1 to 1024
  std::uint64_t threshold = 0;     ///< theta, in insertions: 1 to 2^32 - 1
  CounterUpdate update = CounterUpdate::plain;

  friend bool operator==(const ThresholdShape&, const ThresholdShape&) = default;
};

inline constexpr std::uint64_t max_threshold_limit = 0xffffffffu;

/// ceil(log2(threshold + 1)), rounded up to a width that CounterArray supports.
TALLY_EXPORT std::uint32_t counter_bits_for(const ThresholdShape& shape) noexcept;

/// Bytes of memory, and of a file's body.
TALLY_EXPORT std::uint64_t num_bytes(const ThresholdShape& shape) noexcept;

/// The space from which a scheme draws the positions.
TALLY_EXPORT PositionSpace position_space(const ThresholdShape& shape) noexcept;

/// Throws std::invalid_argument for the fields that do not depend on the scheme.
TALLY_EXPORT void check_shape(const ThresholdShape& shape);

}  // namespace tally
