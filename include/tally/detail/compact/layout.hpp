#pragma once

#include <cstdint>

#include "tally/shapes/compact_line.hpp"

namespace tally::detail {

/// Where the parts of a line are. Bit b is bit b % 8 of byte b / 8.
///
///   0                 C bytes: the low 8 bits of each cell's remainder
///   first_plane       r - 8 planes of C bits: bits 8 and up of each cell's remainder, one plane per bit
///   first_start       C bits: bit i - 1 is set if cell i is the first of its mini-bucket, or the first unused cell.
///                     (Bit -1 would always be set.)
///   first_occupied    M bits: bit q - 64 is set if mini-bucket q has a cell, for q from 64 on; then those for q
///                     from 0 to 63
///
/// Cells are ordered by mini-bucket, and unused ones come last, as zeros. So an empty line is all zeros, and in a full one
/// bit C - 1 of the starts is set. Mini-bucket q has the run of cells from the k-th start to the next one, k being the
/// number of occupied mini-buckets below q.
///
/// Run lengths in unary (a bit for each cell and each mini-bucket, as in vector quotient filters) take as many bits, but
/// then a lookup needs selects in two words instead of one.
struct CompactLayout {
  std::uint32_t remainder_bits;
  std::uint32_t num_cells;
  std::uint32_t num_mini_buckets;
  std::uint32_t num_planes;
  std::uint32_t first_plane;
  std::uint32_t first_start;
  std::uint32_t first_occupied;

  explicit constexpr CompactLayout(std::uint32_t bits) noexcept
      : remainder_bits(bits),
        num_cells(compact_line_shape(bits).num_cells),
        num_mini_buckets(compact_line_shape(bits).num_mini_buckets),
        num_planes(bits - 8),
        first_plane(8 * num_cells),
        first_start(first_plane + num_planes * num_cells),
        first_occupied(first_start + num_cells) {}

  /// The bit of an occupied mini-bucket.
  constexpr std::uint32_t occupied_bit(std::uint32_t mini_bucket) const noexcept {
    if (num_mini_buckets <= 64) return first_occupied + mini_bucket;
    return mini_bucket < 64 ? 448 + mini_bucket : first_occupied + mini_bucket - 64;
  }

  /// The part of a fingerprint that is stored in a line: mini-bucket << remainder_bits | remainder.
  static constexpr std::uint32_t in_line_bits(std::uint32_t remainder_bits) noexcept {
    return remainder_bits + 7;
  }
};

}  // namespace tally::detail
