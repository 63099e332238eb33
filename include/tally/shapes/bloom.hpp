#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/hashing/hash_scheme.hpp"

namespace tally {

/// The size of a BloomFilter.
struct BloomShape {
  std::uint64_t num_bits = 0;    ///< m: 1 to 2^56; what the scheme can use (see HashScheme)
  std::uint32_t num_hashes = 0;  ///< k: 1 to 1024

  friend bool operator==(const BloomShape&, const BloomShape&) = default;
};

/// Bytes of memory, and of a file's body.
TALLY_EXPORT std::uint64_t num_bytes(const BloomShape& shape) noexcept;

/// The space from which a scheme draws the positions.
TALLY_EXPORT PositionSpace position_space(const BloomShape& shape) noexcept;

}  // namespace tally
