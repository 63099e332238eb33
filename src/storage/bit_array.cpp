#include "tally/storage/bit_array.hpp"

#include <bit>

namespace tally {

std::uint64_t BitArray::num_set(std::uint64_t begin, std::uint64_t end) const noexcept {
  if (begin >= end) return 0;
  const std::uint64_t first = begin / 64;
  const std::uint64_t last = (end - 1) / 64;
  const std::uint64_t from_begin = ~std::uint64_t{0} << (begin % 64);
  const std::uint64_t up_to_end = ~std::uint64_t{0} >> (63 - (end - 1) % 64);
  std::uint64_t count = 0;
  for (std::uint64_t i = first; i <= last; ++i) {
    std::uint64_t word = words_.data()[i];
    if (i == first) word &= from_begin;
    if (i == last) word &= up_to_end;
    count += static_cast<std::uint64_t>(std::popcount(word));
  }
  return count;
}

void BitArray::merge(const BitArray& other) noexcept {
  for (std::uint64_t i = 0; i < words_.size(); ++i) words_.data()[i] |= other.words_.data()[i];
}

void BitArray::intersect(const BitArray& other) noexcept {
  for (std::uint64_t i = 0; i < words_.size(); ++i) words_.data()[i] &= other.words_.data()[i];
}

}  // namespace tally
