#pragma once

#include <cstdint>

namespace tally {

/// A bijection of 64-bit numbers in which every output bit depends on every input bit.
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

}  // namespace tally
