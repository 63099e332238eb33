#pragma once

#include <cstdint>

namespace tally::detail {

/// Bit 0 of every counter of a word.
constexpr std::uint64_t lowest_bits(std::uint32_t counter_bits) noexcept {
  std::uint64_t bits = 0;
  for (std::uint32_t i = 0; i < 64 / counter_bits; ++i) bits |= std::uint64_t{1} << (i * counter_bits);
  return bits;
}

}  // namespace tally::detail
