#pragma once

#include <cstdint>

#include "tally/hashing/hash128.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally::test {

/// SplitMix64: the same numbers from the same seed on every platform, which the
/// standard library's distributions do not promise.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }

  /// Uniform on [0, range).
  std::uint64_t below(std::uint64_t range) noexcept { return reduce_to_range(next(), range); }
  /// Uniform on [low, high].
  std::uint64_t between(std::uint64_t low, std::uint64_t high) noexcept {
    return low + below(high - low + 1);
  }
  Hash128 digest() noexcept {
    const std::uint64_t low = next();
    return {low, next()};
  }

 private:
  std::uint64_t state_;
};

}  // namespace tally::test
