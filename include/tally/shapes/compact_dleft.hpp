#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/shapes/compact_line.hpp"
#include "tally/shapes/dleft.hpp"

namespace tally {

/// The size of a CompactDLeftFilter: two subtables of lines. The remainder_bits also say how a line is divided; see
/// CompactLineShape.
struct CompactDLeftShape {
  std::uint64_t num_lines_per_subtable = 0;  ///< 1 to 2^40
  std::uint32_t remainder_bits = 9;          ///< r: 8 to 14
  std::uint64_t spill_capacity =
      64;  ///< fingerprints that may be counted higher than by their cells: 0 to 2^32
  DLeftMoves moves = DLeftMoves::search;  ///< none or search

  CompactLineShape line() const noexcept { return compact_line_shape(remainder_bits); }
  std::uint64_t num_lines() const noexcept { return 2 * num_lines_per_subtable; }
  std::uint64_t num_cells() const noexcept { return num_lines() * line().num_cells; }
  /// How many fingerprints share a line of one subtable: R of the formulas.
  std::uint64_t fingerprints_per_line() const noexcept {
    return std::uint64_t{line().num_mini_buckets} << remainder_bits;
  }
  /// How many fingerprints there are: F of the formulas.
  double num_fingerprints() const noexcept {
    return static_cast<double>(num_lines_per_subtable) * static_cast<double>(fingerprints_per_line());
  }

  friend bool operator==(const CompactDLeftShape&, const CompactDLeftShape&) = default;
};

/// Bytes of lines and side table, in memory.
TALLY_EXPORT std::uint64_t num_bytes(const CompactDLeftShape& shape) noexcept;

/// Throws std::invalid_argument that names the field out of range.
TALLY_EXPORT void check_shape(const CompactDLeftShape& shape);

namespace detail {
/// Throws std::invalid_argument naming the first field that differs and gives keys different fingerprints or lines.
TALLY_EXPORT void require_same_fingerprints(const CompactDLeftShape& mine, const CompactDLeftShape& theirs);

/// Throws std::invalid_argument unless lines of this number of words and such a side table fit the shape.
TALLY_EXPORT void require_contents_of(const CompactDLeftShape& shape, std::uint64_t num_words,
                                      std::uint64_t spill_capacity);
}  // namespace detail

}  // namespace tally
