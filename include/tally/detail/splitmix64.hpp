#pragma once

#include <cstdint>

namespace tally::detail {

/// The next random number, and the state after it.
/// @source Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators"
constexpr std::uint64_t splitmix64(std::uint64_t& state) noexcept {
  std::uint64_t x = state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace tally::detail
