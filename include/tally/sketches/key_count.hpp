#pragma once

#include <cstdint>
#include <string_view>

#include "tally/hashing/hash128.hpp"

namespace tally {

/// A key of a stream, and how often it came, or with what total weight: for certain
///
///     count - error <= truth <= count
struct KeyCount {
  std::string_view key;  ///< its bytes, until the structure that they are in changes
  Hash128 digest;
  std::uint64_t count = 0;
  std::uint64_t error = 0;  ///< at most `count`

  constexpr std::uint64_t least() const noexcept { return count - error; }

  friend bool operator==(const KeyCount&, const KeyCount&) = default;
};

/// Whether `count` is above that share of `total`: count > share total.
constexpr bool is_above_share(std::uint64_t count, double share, std::uint64_t total) noexcept {
  return static_cast<long double>(count) > static_cast<long double>(share) * static_cast<long double>(total);
}

}  // namespace tally
