#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/hashing/hash128.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally::cli {

inline constexpr std::size_t max_read_window = 256;

/// Reads `num_lines` (1 to 4) random lines of 64 bytes per digest, each prefetched when the digests of one window, at most
/// max_read_window, are looked at: the physical limit of a filter in this memory. Returns a sum of what was read. A window
/// of 1 reads without prefetch.
inline std::uint64_t read_lines(std::span<const std::uint64_t> words, std::span<const Hash128> digests,
                                std::uint32_t num_lines, std::size_t window) {
  const std::uint64_t num_all = words.size() / 8;
  const std::uint64_t* at[4 * max_read_window];
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < digests.size(); i += window) {
    const std::size_t count = window < digests.size() - i ? window : digests.size() - i;
    for (std::size_t j = 0; j < count; ++j) {
      const auto [low, high] = digests[i + j];
      const std::uint64_t numbers[4] = {low, high, low << 32 | low >> 32, high << 32 | high >> 32};
      for (std::uint32_t line = 0; line < num_lines; ++line) {
        const std::uint64_t* const first = words.data() + 8 * reduce_to_range(numbers[line], num_all);
        if (window > 1) __builtin_prefetch(first);
        at[num_lines * j + line] = first;
      }
    }
    for (std::size_t j = 0; j < num_lines * count; ++j) sum += *at[j];
  }
  return sum;
}

}  // namespace tally::cli
