#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/hashing/hash_scheme.hpp"

namespace tally {

/// The size of a CountingBloomFilter.
struct CountingBloomShape {
  std::uint64_t num_counters = 0;   ///< m: 1 to 2^56; what the scheme can use
  std::uint32_t num_hashes = 0;     ///< k: 1 to 1024
  std::uint32_t counter_bits = 4;   ///< 1 to 8, 16, 32 or 64; 4 are enough for sets (Summary Cache)
  std::uint64_t max_threshold = 1;  ///< largest theta that queries will use: 1 to 2^counter_bits - 1

  friend bool operator==(const CountingBloomShape&, const CountingBloomShape&) = default;
};

/// Bytes of memory, and of a file's body.
TALLY_EXPORT std::uint64_t num_bytes(const CountingBloomShape& shape) noexcept;

/// The space from which a scheme draws the positions.
TALLY_EXPORT PositionSpace position_space(const CountingBloomShape& shape) noexcept;

/// Throws std::invalid_argument for the fields that do not depend on the scheme.
TALLY_EXPORT void check_shape(const CountingBloomShape& shape);

}  // namespace tally
