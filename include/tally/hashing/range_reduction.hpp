#pragma once

#include <cstdint>

namespace tally {

/// Maps a uniform 64-bit number to [0, range) by its high bits: floor(number * range / 2^64). Some results
/// are more likely than others, by at most range / 2^64 of their probability. The range is at least 1; no
/// division.
constexpr std::uint64_t reduce_to_range(std::uint64_t number, std::uint64_t range) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(number) * range) >> 64);
}

}  // namespace tally
