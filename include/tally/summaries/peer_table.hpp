#pragma once

#include <cstdint>
#include <vector>

#include "tally/export.hpp"
#include "tally/summaries/layout.hpp"
#include "tally/summaries/peer_segments.hpp"
#include "tally/summaries/positions.hpp"

namespace tally {

/// The units of many copies of one layout, side by side, one column per copy. For bits, a row holds position
/// i of all copies; for cells, bucket b of all copies. Unused columns are 0, and no key passes them.
class TALLY_EXPORT PeerTable {
 public:
  using Column = PeerSegments::Column;

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

  PeerTable(PeerTable&&) noexcept = default;
  PeerTable& operator=(PeerTable&&) noexcept = default;

  /// Adds a column of zeros. Throws std::bad_alloc, and then changes nothing.
  Column add_column();
  /// Marks the column as unused.
  void free_column(Column column);
  std::uint64_t num_columns() const noexcept { return num_used_ - free_.size(); }
  /// One past the greatest column after the next add_column.
  std::uint64_t end_of_columns_grown() const noexcept { return num_used_ + free_.empty(); }

  /// Gives the column memory for every unit with which `each(visit)` calls visit(unit), in ascending order. Throws
  /// std::bad_alloc, and then changes neither contents nor num_bytes().
  template <class Each>
  void reserve(Column column, Each each) {
    segments_.reserve(column, each_row(each));
  }
  /// The most memory that the table has at any time while it does so.
  template <class Each>
  std::uint64_t peak_bytes_of_reserve(Column column, Each each) const {
    return segments_.peak_bytes_of_reserve(column, each_row(each));
  }

  std::uint32_t get(Column column, std::uint64_t unit) const noexcept;
  /// For a unit with memory (see reserve), or 0.
  void put(Column column, std::uint64_t unit, std::uint32_t value) noexcept;
  void clear(Column column) noexcept { segments_.clear(column); }

  /// Prefetches the lines of a key's positions.
  void prefetch(const std::uint64_t* positions) const noexcept;

  /// Appends the columns in which the key passes at all its positions, in ascending order.
  void find_passing(const std::uint64_t* positions, Scratch& scratch, std::vector<Column>& passing) const;

  /// Whether the key passes in one column.
  bool passes(Column column, const std::uint64_t* positions) const noexcept;

  const SummaryLayout& layout() const noexcept { return layout_; }
  const SummaryPositions& positions() const noexcept { return positions_; }
  std::uint64_t num_bytes() const noexcept { return segments_.num_bytes(); }

 private:
  std::uint64_t row_of(std::uint64_t unit) const noexcept {
    return cells_per_bucket_ == 0 ? unit : unit / cells_per_bucket_;
  }
  // Calls visit(row) for the row of every unit.
  template <class Each>
  auto each_row(Each& each) const {
    return [this, &each](auto visit) { each([&](std::uint64_t unit) { visit(row_of(unit)); }); };
  }
  template <class Use>
  auto with_cell_type(Use use) const;
  void find_in_bits(const std::uint64_t* positions, Scratch& scratch, std::vector<Column>& passing) const;
  template <class Cell>
  void find_in_cells(const std::uint64_t* positions, Scratch& scratch, std::vector<Column>& passing) const;

  SummaryLayout layout_;
  SummaryPositions positions_;
  std::vector<Column> free_;
  // What lookups read, side by side.
  std::uint64_t remainder_mask_ = 0;
  std::uint32_t cells_per_bucket_;  // 0: bits
  std::uint32_t cell_bytes_;        // 1, 2 or 4; 0: bits
  std::uint32_t num_used_ = 0;      // columns that were ever in use
  PeerSegments segments_;           // a row for each bit, or for each bucket
};

}  // namespace tally
