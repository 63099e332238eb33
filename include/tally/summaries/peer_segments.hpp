#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tally/detail/aligned_words.hpp"
#include "tally/export.hpp"

namespace tally {

/// The memory of a PeerTable: rows, and in each row the same number of bits for every column.
///
/// The rows are divided into segments, at most 4096 of them. A segment has memory for as many columns as were written to
/// it: none at first. So a column that is almost empty takes almost no memory, and a table that grows is copied one
/// segment at a time. What has no memory is 0.
class TALLY_EXPORT PeerSegments {
 public:
  using Column = std::uint32_t;

  /// `column_bits` is 1, or a multiple of 8.
  PeerSegments(std::uint64_t num_rows, std::uint64_t column_bits);

  /// A row is part of `words`: `num_columns` columns from index `first_column` on. Columns after them are 0.
  struct Row {
    std::uint64_t* words;
    std::uint64_t num_columns;
    std::uint64_t first_column;
  };
  Row row(std::uint64_t row) const noexcept {
    const Segment& segment = segments_[row >> row_bits_];
    return {segment.words(), segment.num_columns(), (row & row_mask_) * segment.num_columns()};
  }

  /// Makes room to remember where the column is not 0, which takes half a kilobyte at most and is not part of num_bytes().
  /// Throws std::bad_alloc, and then changes nothing.
  void add_column(Column column) {
    const std::uint64_t num_words = (std::uint64_t{column} + 1) * marks_per_column_;
    if (marks_.size() < num_words) marks_.resize(num_words);
  }
  /// The column may not be 0 in this row.
  void mark(Column column, std::uint64_t row) noexcept {
    const std::uint64_t index = row >> row_bits_;
    marks_[column * marks_per_column_ + index / 64] |= std::uint64_t{1} << index % 64;
  }

  /// Gives the column memory for every row with which `each_row(visit)` calls visit(row), in ascending order.
  /// Throws std::bad_alloc. Then some rows have memory already, but all contents and num_bytes() are as before.
  template <class EachRow>
  void reserve(Column column, EachRow each_row) {
    if (!has_memory_everywhere(column)) {
      const std::uint64_t num_columns = capacity_for(column);
      each_row([&](std::uint64_t row) {
        const std::uint64_t index = row >> row_bits_;
        if (segments_[index].num_columns() <= column) widen(index, num_columns);
      });
    }
    num_bytes_ = num_held_bytes_;
  }

  /// The most memory that the table has at any time while it does so.
  template <class EachRow>
  std::uint64_t peak_bytes_of_reserve(Column column, EachRow each_row) const {
    std::uint64_t most = num_held_bytes_;
    if (has_memory_everywhere(column)) return most;
    const std::uint64_t num_columns = capacity_for(column);
    std::uint64_t held = num_held_bytes_;
    std::uint64_t last = segments_.size();
    each_row([&](std::uint64_t row) {
      const std::uint64_t index = row >> row_bits_;
      if (index == last || segments_[index].num_columns() > column) return;
      last = index;
      held += num_bytes_of(index, num_columns);
      most = std::max(most, held);
      held -= segments_[index].num_bytes();
    });
    return most;
  }

  /// Makes the column 0 in all rows: the time is in proportion to the segments in which it was not.
  void clear(Column column) noexcept;

  std::uint64_t num_bytes() const noexcept { return num_bytes_; }

 private:
  // The sole owner of its memory. As few bytes as possible: they are there without any contents too.
  class Segment {
   public:
    Segment() = default;
    Segment(detail::AlignedWords&& words, std::uint64_t num_columns);
    Segment(Segment&& other) noexcept { swap(other); }
    Segment& operator=(Segment&& other) noexcept {
      swap(other);
      return *this;
    }
    ~Segment() {
      if (words_ != nullptr) release_(words_, num_bytes());
    }

    std::uint64_t* words() const noexcept { return words_; }
    std::uint64_t num_columns() const noexcept { return num_columns_; }
    std::uint64_t num_bytes() const noexcept { return std::uint64_t{64} * num_lines_; }

   private:
    void swap(Segment& other) noexcept {
      std::swap(words_, other.words_);
      std::swap(release_, other.release_);
      std::swap(num_columns_, other.num_columns_);
      std::swap(num_lines_, other.num_lines_);
    }

    std::uint64_t* words_ = nullptr;
    void (*release_)(void* memory, std::uint64_t num_bytes) noexcept = nullptr;
    std::uint32_t num_columns_ = 0;  // for bits a power of two up to 64, or a multiple of 64
    std::uint32_t num_lines_ = 0;
  };

  std::uint64_t num_rows_of(std::uint64_t index) const noexcept {
    return std::min(row_mask_ + 1, num_rows_ - (index << row_bits_));
  }
  std::uint64_t num_bytes_of(std::uint64_t index, std::uint64_t num_columns) const;
  std::uint64_t capacity_for(Column column) const noexcept;
  void clear(std::uint64_t index, Column column) noexcept;
  bool has_memory_everywhere(Column column) const noexcept;
  void widen(std::uint64_t index, std::uint64_t num_columns);

  std::uint64_t row_bits_;  // a segment has 2^row_bits_ rows, the last one fewer
  std::uint64_t row_mask_;
  std::vector<Segment> segments_;
  std::uint64_t num_rows_;
  std::uint64_t column_bits_;
  std::uint64_t marks_per_column_;
  std::vector<std::uint64_t> marks_;  // a bit for each column and segment
  std::uint64_t num_held_bytes_;
  std::uint64_t num_bytes_;  // the same after the last successful reserve
};

}  // namespace tally
