#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tally/filters/compact_dleft.hpp"

namespace tally::test {

/// Small filters of every kind of line, where keys share fingerprints' lines all the time.
inline std::vector<CompactDLeftShape> small_compact_shapes() {
  std::vector<CompactDLeftShape> shapes;
  for (std::uint32_t bits = least_compact_remainder_bits; bits <= max_compact_remainder_bits; ++bits) {
    shapes.push_back({.num_lines_per_subtable = 3 + bits % 3, .remainder_bits = bits, .spill_capacity = 40});
  }
  shapes.push_back({.num_lines_per_subtable = 1, .remainder_bits = 9, .spill_capacity = 40});
  shapes.push_back({.num_lines_per_subtable = 4, .remainder_bits = 9, .spill_capacity = 0});
  shapes.push_back(
      {.num_lines_per_subtable = 4, .remainder_bits = 8, .spill_capacity = 3, .moves = DLeftMoves::none});
  return shapes;
}

/// The lines of a filter, as bytes, with an insertion and a removal in plain code. It has no side table and makes no moves.
class PlainCompactLines {
 public:
  explicit PlainCompactLines(const CompactDLeftShape& shape)
      : layout_(shape.remainder_bits), bytes_(shape.num_lines() * compact_line_bytes) {}

  const std::vector<unsigned char>& bytes() const { return bytes_; }

  struct Place {
    std::uint64_t left;   // a line of the left subtable
    std::uint64_t right;  // a line of the right one, counted from the first line of all
    detail::CompactLineCells::Cell cell;
  };

  std::uint32_t count(const Place& place) const {
    return cells_of(place.left).count(place.cell) + cells_of(place.right).count(place.cell);
  }
  detail::CompactInserted insert(const Place& place) {
    const auto left = cells_of(place.left);
    const auto right = cells_of(place.right);
    const std::uint32_t held = count(place);
    std::uint64_t line = right.size() < left.size() ? place.right : place.left;
    if (left.count(place.cell) != 0) line = place.left;
    if (right.count(place.cell) != 0) line = place.right;
    auto cells = cells_of(line);
    if (held == detail::max_compact_copies || cells.is_full()) return detail::CompactInserted::no_room;
    cells.insert(place.cell);
    cells.write(bytes_.data() + line * compact_line_bytes);
    return held == 0 ? detail::CompactInserted::first : detail::CompactInserted::again;
  }
  detail::CompactRemoved remove(const Place& place) {
    const std::uint32_t held = count(place);
    if (held == 0) return detail::CompactRemoved::absent;
    const std::uint64_t line = cells_of(place.left).count(place.cell) != 0 ? place.left : place.right;
    auto cells = cells_of(line);
    cells.remove(place.cell);
    cells.write(bytes_.data() + line * compact_line_bytes);
    return held == 1 ? detail::CompactRemoved::last : detail::CompactRemoved::one;
  }

 private:
  detail::CompactLineCells cells_of(std::uint64_t line) const {
    return {layout_, bytes_.data() + line * compact_line_bytes};
  }

  detail::CompactLayout layout_;
  std::vector<unsigned char> bytes_;
};

/// How many cells the fingerprint has in its left line, and in its right one.
inline std::pair<std::uint32_t, std::uint32_t> num_copies_of(const CompactDLeftFilter& filter,
                                                             std::uint64_t fingerprint) {
  const detail::CompactTable& table = filter.table();
  const detail::CompactSpot spot = table.finder().spot_of_fingerprint(fingerprint);
  const std::uint32_t bits = filter.shape().remainder_bits;
  const detail::CompactLineCells::Cell cell{static_cast<std::uint32_t>(spot.in_line >> bits),
                                            static_cast<std::uint32_t>(spot.in_line & ((1u << bits) - 1))};
  return {table.cells_of(table.finder().line_of(spot.left)).count(cell),
          table.cells_of(table.finder().line_of(spot.right)).count(cell)};
}

/// Inserts the keys; returns how many were refused.
inline std::uint64_t num_full_of(CompactDLeftFilter& filter, const std::vector<Hash128>& keys) {
  std::vector<InsertResult> results(keys.size());
  filter.insert_batch(keys, results);
  return static_cast<std::uint64_t>(std::count(results.begin(), results.end(), InsertResult::full));
}

}  // namespace tally::test
