#pragma once

#include <cstdint>
#include <string_view>

#include "tally/hashing/hash128.hpp"

namespace tally {

/// A key of a stream, and how often it occurred, or its total weight. It is certain that
///
///     count - error <= truth <= count
struct KeyCount {
  std::string_view key;  ///< its bytes, valid until the structure that holds them changes
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
