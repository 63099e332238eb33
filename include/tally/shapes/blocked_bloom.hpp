#pragma once

#include <cstdint>
#include <type_traits>

#include "tally/export.hpp"
#include "tally/hashing/hash_scheme.hpp"
#include "tally/shapes/bloom.hpp"

namespace tally {

/// The size of a BlockedBloomFilter or RegisterBlockedBloomFilter. It does not convert to or from a BloomShape: the keys
/// of a line share its bits, so the size and number of hashes that meet a false positive rate in one kind of filter miss it
/// in the other.
struct BlockedBloomShape {
  std::uint64_t num_bits = 0;    ///< m: 512 to 2^56, a multiple of 512
  std::uint32_t num_hashes = 0;  ///< k: 1 to 1024; in a RegisterBlockedBloomFilter a multiple of 8

  friend bool operator==(const BlockedBloomShape&, const BlockedBloomShape&) = default;
};

/// Bytes of memory, and of a file's body.
TALLY_EXPORT std::uint64_t num_bytes(const BlockedBloomShape& shape) noexcept;

/// The space from which the scheme draws the positions.
TALLY_EXPORT PositionSpace position_space(const BlockedBloomShape& shape) noexcept;

/// The shape of a BloomFilter with this scheme.
template <HashScheme Scheme>
using BloomShapeFor = std::conditional_t<is_in_one_line(Scheme::layout), BlockedBloomShape, BloomShape>;

}  // namespace tally
