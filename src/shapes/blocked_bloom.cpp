#include "tally/shapes/blocked_bloom.hpp"

namespace tally {
namespace {

BloomShape bits_of(const BlockedBloomShape& shape) noexcept { return {shape.num_bits, shape.num_hashes}; }

}  // namespace

std::uint64_t num_bytes(const BlockedBloomShape& shape) noexcept { return num_bytes(bits_of(shape)); }

PositionSpace position_space(const BlockedBloomShape& shape) noexcept {
  return position_space(bits_of(shape));
}

}  // namespace tally
