#include "tally/shapes/blocked_bloom.hpp"

#include "tally/storage/bit_array.hpp"

namespace tally {

std::uint64_t num_bytes(const BlockedBloomShape& shape) noexcept {
  return 8 * BitArray::num_words(shape.num_bits);
}

PositionSpace position_space(const BlockedBloomShape& shape) noexcept {
  return {shape.num_bits, shape.num_hashes, BitArray::positions_per_line};
}

}  // namespace tally
