#pragma once

#include <array>
#include <cstdint>

namespace tally {

inline constexpr std::uint32_t least_compact_remainder_bits = 8;
inline constexpr std::uint32_t max_compact_remainder_bits = 14;
inline constexpr std::uint32_t max_compact_cells = 48;
inline constexpr std::uint32_t max_mini_buckets = 128;
inline constexpr std::uint32_t compact_line_bytes = 64;

/// How the 512 bits of a line of a CompactDLeftFilter are divided: C cells of r bits, and M mini-buckets, with
/// C (r + 1) + M = 512. `detail/compact/layout.hpp` says where they are.
///
/// With r + 1 bits per cell, and M more, a line tells M 2^r values apart, so a cell takes fewer bits than the
/// log2(M) + r of its value. Of all C and M for a given r, these cost the fewest bits beyond log2(1 / false positive rate)
/// at a load of 93%, or up to 0.1 more where that reaches a round rate: 0.2% with 12.8 bits per key at r = 9, 0.45% with
/// 11.2 at r = 8.
struct CompactLineShape {
  std::uint32_t num_cells = 0;         ///< C
  std::uint32_t num_mini_buckets = 0;  ///< M
};

/// For 8 to 14 remainder bits; for others, a line without cells.
constexpr CompactLineShape compact_line_shape(std::uint32_t remainder_bits) noexcept {
  constexpr std::array<CompactLineShape, 7> shapes = {
      {{48, 80}, {43, 82}, {41, 61}, {38, 56}, {35, 57}, {33, 50}, {31, 47}}};
  const std::uint32_t index = remainder_bits - least_compact_remainder_bits;
  return index < shapes.size() ? shapes[index] : CompactLineShape{};
}

}  // namespace tally
