#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "tally/detail/compact/layout.hpp"

namespace tally::detail {

/// The cells of a line, read and written by plain code: for what is rare (moves, visits of all fingerprints), and as the
/// oracle of the kernels.
class CompactLineCells {
 public:
  struct Cell {
    std::uint32_t mini_bucket;
    std::uint32_t remainder;

    friend bool operator==(const Cell&, const Cell&) = default;
  };

  /// Any bytes are safe: at worst the cells are wrong.
  CompactLineCells(const CompactLayout& layout, const unsigned char* line) noexcept : layout_(layout) {
    const Planes planes(layout, line);
    for_each_run(layout, line, [&](std::uint32_t mini_bucket, std::uint32_t first, std::uint32_t end) {
      for (size_ = first; size_ < end; ++size_) cells_[size_] = {mini_bucket, planes.remainder(line, size_)};
      return false;
    });
  }

  /// Calls visit(cell, how many are equal to it) for each fingerprint of a line, in order, until one call returns true.
  /// Returns whether one did. Reads the line only so far.
  template <class Visit>
  static bool any_fingerprint(const CompactLayout& layout, const unsigned char* line, Visit visit) {
    const Planes planes(layout, line);
    return for_each_run(layout, line, [&](std::uint32_t mini_bucket, std::uint32_t first, std::uint32_t end) {
      // Equal cells are in one run.
      std::array<std::uint32_t, max_compact_cells> remainders;
      for (std::uint32_t i = first; i < end; ++i) remainders[i] = planes.remainder(line, i);
      for (auto here = remainders.begin() + first; here != remainders.begin() + end; ++here) {
        if (std::find(remainders.begin() + first, here, *here) != here) continue;
        const auto count = std::count(here, remainders.begin() + end, *here);
        if (visit(Cell{mini_bucket, *here}, static_cast<std::uint32_t>(count))) return true;
      }
      return false;
    });
  }

  /// How many cells of a line are in use, without reading them.
  static std::uint32_t size_of(const CompactLayout& layout, const unsigned char* line) noexcept {
    const std::uint64_t starts = bits_from(line, layout.first_start);
    return static_cast<std::uint32_t>(std::bit_width(starts & ((std::uint64_t{1} << layout.num_cells) - 1)));
  }

  std::uint32_t size() const noexcept { return size_; }
  bool is_full() const noexcept { return size_ == layout_.num_cells; }
  const Cell* begin() const noexcept { return cells_.data(); }
  const Cell* end() const noexcept { return cells_.data() + size_; }

  std::uint32_t count(const Cell& cell) const noexcept {
    return static_cast<std::uint32_t>(std::count(begin(), end(), cell));
  }

  /// Adds the cell as the first one of its run. The line must not be full.
  void insert(const Cell& cell) noexcept {
    const auto is_before = [&](const Cell& other) { return other.mini_bucket < cell.mini_bucket; };
    Cell* const at = std::find_if_not(cells_.data(), cells_.data() + size_, is_before);
    std::copy_backward(at, cells_.data() + size_, cells_.data() + size_ + 1);
    *at = cell;
    ++size_;
  }

  /// Removes the first cell that is equal. There must be one.
  void remove(const Cell& cell) noexcept {
    Cell* const at = std::find(cells_.data(), cells_.data() + size_, cell);
    std::copy(at + 1, cells_.data() + size_, at);
    --size_;
  }

  void write(unsigned char* line) const noexcept {
    std::fill_n(line, compact_line_bytes, static_cast<unsigned char>(0));
    for (std::uint32_t i = 0; i < size_; ++i) {
      const Cell& cell = cells_[i];
      line[i] = static_cast<unsigned char>(cell.remainder);
      for (std::uint32_t plane = 0; plane < layout_.num_planes; ++plane) {
        if ((cell.remainder >> (8 + plane) & 1) != 0) set_bit(line, plane_bit(plane, i));
      }
      set_bit(line, layout_.occupied_bit(cell.mini_bucket));
      if (i > 0 && cell.mini_bucket != cells_[i - 1].mini_bucket) set_bit(line, layout_.first_start + i - 1);
    }
    if (size_ > 0) set_bit(line, layout_.first_start + size_ - 1);
  }

 private:
  /// The bits of a line from `first` on, at least num_cells of them; garbage above.
  static std::uint64_t bits_from(const unsigned char* line, std::uint32_t first) noexcept {
    const std::uint32_t byte = std::min(first / 8, compact_line_bytes - 8);
    std::uint64_t word;
    std::memcpy(&word, line + byte, sizeof word);
    return word >> (first - 8 * byte);
  }
  /// The bits of all remainders above the low 8.
  class Planes {
   public:
    Planes(const CompactLayout& layout, const unsigned char* line) noexcept : num_planes_(layout.num_planes) {
      for (std::uint32_t plane = 0; plane < num_planes_; ++plane) {
        planes_[plane] = bits_from(line, layout.first_plane + plane * layout.num_cells);
      }
    }
    std::uint32_t remainder(const unsigned char* line, std::uint32_t cell) const noexcept {
      std::uint32_t remainder = line[cell];
      for (std::uint32_t plane = 0; plane < num_planes_; ++plane) {
        remainder |= static_cast<std::uint32_t>(planes_[plane] >> cell & 1) << (8 + plane);
      }
      return remainder;
    }

   private:
    std::uint32_t num_planes_;
    std::array<std::uint64_t, max_compact_remainder_bits - 8> planes_;
  };

  /// Calls visit(mini-bucket, first cell, one past the last cell) for each mini-bucket that has a cell, in order, until
  /// one call returns true. Returns whether one did.
  template <class Visit>
  static bool for_each_run(const CompactLayout& layout, const unsigned char* line, Visit visit) {
    const std::uint32_t num_used = size_of(layout, line);
    std::uint64_t starts = bits_from(line, layout.first_start) & ((std::uint64_t{1} << num_used) - 1);
    std::uint32_t next = 0;
    for (std::uint32_t first = 0; first < layout.num_mini_buckets; first += 64) {
      const std::uint32_t count = std::min(layout.num_mini_buckets - first, std::uint32_t{64});
      std::uint64_t word = bits_from(line, layout.occupied_bit(first));
      if (count < 64) word &= (std::uint64_t{1} << count) - 1;
      for (; word != 0 && next != num_used; word &= word - 1) {
        const auto end = static_cast<std::uint32_t>(std::countr_zero(starts)) + 1;
        starts &= starts - 1;
        if (visit(first + static_cast<std::uint32_t>(std::countr_zero(word)), next, end)) return true;
        next = end;
      }
    }
    return false;
  }
  static void set_bit(unsigned char* line, std::uint32_t index) noexcept {
    line[index / 8] = static_cast<unsigned char>(line[index / 8] | 1u << (index % 8));
  }
  std::uint32_t plane_bit(std::uint32_t plane, std::uint32_t cell) const noexcept {
    return layout_.first_plane + plane * layout_.num_cells + cell;
  }

  CompactLayout layout_;
  std::array<Cell, max_compact_cells> cells_;
  std::uint32_t size_ = 0;
};

}  // namespace tally::detail
