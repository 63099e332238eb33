#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "tally/detail/aligned_words.hpp"
#include "tally/summaries/layout.hpp"
#include "tally/summaries/positions.hpp"

namespace tally {

/// The units of many copies of one layout, side by side, one column per copy. For bits, a row holds position
/// i of all copies; for cells, bucket b of all copies. Unused columns are 0, and no key passes them.
class PeerTable {
 public:
  using Column = std::uint32_t;

  /// Buffers for queries; one per thread, reused for every query.
  struct Scratch {
    std::vector<std::uint64_t> words;
    std::vector<std::uint8_t> cells8;
    std::vector<std::uint16_t> cells16;
    std::vector<std::uint32_t> cells32;

    template <class Cell>
    std::vector<Cell>& cells() {
      if constexpr (sizeof(Cell) == 1) return cells8;
      else if constexpr (sizeof(Cell) == 2) return cells16;
      else return cells32;
    }
  };

  /// Throws std::invalid_argument for a layout out of range.
  explicit PeerTable(const SummaryLayout& layout);

  /// Move-only: in the library of g++ 12, copying Cells when memory runs out is undefined behaviour.
  PeerTable(PeerTable&&) noexcept = default;
  PeerTable& operator=(PeerTable&&) noexcept = default;

  /// Adds a column of zeros. Throws std::bad_alloc, and then changes nothing.
  Column add_column();
  /// Marks the column as unused.
  void free_column(Column column);
  std::uint64_t num_columns() const noexcept { return num_used_ - free_.size(); }
  /// One past the greatest column after the next add_column.
  std::uint64_t end_of_columns_grown() const noexcept { return num_used_ + free_.empty(); }

  std::uint32_t get(Column column, std::uint64_t unit) const noexcept;
  void put(Column column, std::uint64_t unit, std::uint32_t value) noexcept;
  void clear(Column column) noexcept;

  /// Prefetches the lines of a key's positions.
  void prefetch(const std::uint64_t* positions) const noexcept;

  /// Appends the columns in which the key passes at all its positions, in ascending order.
  void find_passing(const std::uint64_t* positions, Scratch& scratch, std::vector<Column>& passing) const;

  const SummaryLayout& layout() const noexcept { return layout_; }
  const SummaryPositions& positions() const noexcept { return positions_; }
  std::uint64_t num_bytes() const noexcept { return num_bytes(capacity_); }
  /// The memory with one more column.
  std::uint64_t num_bytes_grown() const noexcept;

 private:
  using Cells =
      std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::uint32_t>>;

  std::uint64_t num_bytes(std::uint64_t capacity) const noexcept;
  std::uint64_t next_capacity() const noexcept;
  void grow(std::uint64_t capacity);
  std::uint64_t cell_index(Column column, std::uint64_t unit) const noexcept {
    return (unit / cells_per_bucket_ * capacity_ + column) * cells_per_bucket_ + unit % cells_per_bucket_;
  }
  void find_in_bits(const std::uint64_t* positions, Scratch& scratch, std::vector<Column>& passing) const;
  template <class Cell>
  void find_in_cells(const std::vector<Cell>& cells, const std::uint64_t* positions, Scratch& scratch,
                     std::vector<Column>& passing) const;

  SummaryLayout layout_;
  SummaryPositions positions_;
  std::uint64_t num_units_;
  std::uint32_t cells_per_bucket_ = 0;  // 0: bits
  std::uint64_t remainder_mask_ = 0;
  std::uint64_t capacity_ = 0;  // columns; for bits 0, a power of two up to 64, or a multiple of 64
  std::vector<Column> free_;
  std::uint32_t num_used_ = 0;  // columns that were ever in use
  detail::AlignedWords bits_;   // position i of column c is bit i * capacity_ + c
  Cells cells_;
};

}  // namespace tally
