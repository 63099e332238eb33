#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/hashing/hash_scheme.hpp"

namespace tally {

/// The size of a SharedDuplicateFilter. The same size and number of hashes give a lower false positive rate in a BloomFilter,
/// and in a BlockedBloomFilter: here the keys of a word share its 64 bits.
struct DuplicateShape {
  std::uint64_t num_bits = 0;    ///< m: 64 to 2^56, a multiple of 64
  std::uint32_t num_hashes = 0;  ///< k: 1 to max_num_hashes

  static constexpr std::uint32_t bits_per_word = 64;
  static constexpr std::uint32_t max_num_hashes = 10;  ///< a digest has no more slices of 6 bits

  friend bool operator==(const DuplicateShape&, const DuplicateShape&) = default;
};

/// Bytes of memory.
TALLY_EXPORT std::uint64_t num_bytes(const DuplicateShape& shape) noexcept;

/// The space from which the positions are drawn: its lines are the words.
TALLY_EXPORT PositionSpace position_space(const DuplicateShape& shape) noexcept;

/// Throws std::invalid_argument that names the first field that is out of range.
TALLY_EXPORT void check_shape(const DuplicateShape& shape);

}  // namespace tally
