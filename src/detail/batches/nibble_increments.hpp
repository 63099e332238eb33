#pragma once

// Only for src/detail/batches/counter_kernels.cpp.

#include <array>
#include <cstddef>

namespace tally::detail {

/// [i]: a line of 128 counters of 4 bits, all 0 but for counter i, which is 1. Up to 15 of them can be added byte by byte.
struct NibbleIncrements {
  alignas(64) std::array<std::array<unsigned char, 64>, 128> lines{};

  constexpr NibbleIncrements() {
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i][i / 2] = i % 2 == 0 ? 1 : 16;
  }
};

inline constexpr NibbleIncrements nibble_increments{};

}  // namespace tally::detail
