#pragma once

#include <cstdint>
#include <type_traits>

#include "tally/export.hpp"
#include "tally/hashing/hash_scheme.hpp"
#include "tally/shapes/counting_bloom.hpp"

namespace tally {

/// The size of a BlockedCountingBloomFilter. It does not convert to or from a CountingBloomShape: the keys of a line share
/// its counters, so the size and number of hashes that meet a false positive rate in one kind of filter miss it in the
/// other.
struct BlockedCountingBloomShape {
  std::uint64_t num_counters =
      0;                         ///< m: to 2^56, a multiple of those in 64 bytes: 128 of 4 bits, 64 of 8 bits
  std::uint32_t num_hashes = 0;  ///< k: 1 to 1024
  std::uint32_t counter_bits = 4;   ///< 1 to 8, 16, 32 or 64; 4 have the fastest loops, for up to 15 hashes
  std::uint64_t max_threshold = 1;  ///< largest theta that queries will use: 1 to 2^counter_bits - 1

  friend bool operator==(const BlockedCountingBloomShape&, const BlockedCountingBloomShape&) = default;
};

/// Bytes of memory, and of a file's body.
TALLY_EXPORT std::uint64_t num_bytes(const BlockedCountingBloomShape& shape) noexcept;

/// The space from which the scheme draws the positions.
TALLY_EXPORT PositionSpace position_space(const BlockedCountingBloomShape& shape) noexcept;

/// Throws std::invalid_argument for the fields that do not depend on the scheme.
TALLY_EXPORT void check_shape(const BlockedCountingBloomShape& shape);

/// The shape of a CountingBloomFilter with this scheme.
template <HashScheme Scheme>
using CountingBloomShapeFor = std::conditional_t<Scheme::layout == PositionLayout::lines,
                                                 BlockedCountingBloomShape, CountingBloomShape>;

}  // namespace tally
