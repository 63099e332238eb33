#include "tally/summaries/peer_table.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "tally/detail/prefetch.hpp"

namespace tally {

namespace {

constexpr std::uint32_t narrow = 8;  // with fewer copies most absent keys fail at the first two positions

std::uint64_t low_bits(std::uint64_t count) { return ~std::uint64_t{0} >> (64 - count); }

// 1, 2 or 4; 0 for bits.
std::uint32_t cell_bytes_of(const SummaryLayout& layout) {
  return layout.has_cells() ? std::bit_ceil((layout.unit_bits() + 7) / 8) : 0;
}

std::uint32_t cells_per_bucket_of(const SummaryLayout& layout) {
  const auto* const dleft = std::get_if<DLeftShape>(&layout.shape);
  return dleft == nullptr ? 0 : dleft->cells_per_bucket;
}

PeerSegments segments_of(const SummaryLayout& layout) {
  if (!layout.has_cells()) return {layout.num_units(), 1};
  const std::uint64_t cells_per_bucket = cells_per_bucket_of(layout);
  return {layout.num_units() / cells_per_bucket, 8 * cells_per_bucket * cell_bytes_of(layout)};
}

// The first 64 columns.
std::uint64_t first_bits(const PeerSegments::Row& row) {
  if (row.num_columns == 0) return 0;
  return row.words[row.first_column / 64] >> row.first_column % 64 &
         low_bits(std::min<std::uint64_t>(64, row.num_columns));
}

}  // namespace

PeerTable::PeerTable(const SummaryLayout& layout)
    : layout_(layout),
      positions_(layout),
      cells_per_bucket_(cells_per_bucket_of(layout)),
      cell_bytes_(cell_bytes_of(layout)),
      segments_(segments_of(layout)) {
  const auto* const dleft = std::get_if<DLeftShape>(&layout.shape);
  if (dleft != nullptr) remainder_mask_ = (std::uint64_t{1} << dleft->remainder_bits) - 1;
}

template <class Use>
auto PeerTable::with_cell_type(Use use) const {
  if (cell_bytes_ == 1) return use(std::uint8_t{0});
  if (cell_bytes_ == 2) return use(std::uint16_t{0});
  return use(std::uint32_t{0});
}

PeerTable::Column PeerTable::add_column() {
  // So that free_column needs no memory.
  if (free_.capacity() <= num_used_) free_.reserve(std::uint64_t{2} * num_used_ + 1);
  if (free_.empty()) {
    segments_.add_column(num_used_);
    return num_used_++;
  }
  const Column column = free_.back();
  free_.pop_back();
  return column;
}

void PeerTable::free_column(Column column) {
  clear(column);
  free_.push_back(column);
}

std::uint32_t PeerTable::get(Column column, std::uint64_t unit) const noexcept {
  const PeerSegments::Row row = segments_.row(row_of(unit));
  if (column >= row.num_columns) return 0;
  const std::uint64_t index = row.first_column + column;
  if (cells_per_bucket_ == 0) return static_cast<std::uint32_t>(row.words[index / 64] >> index % 64 & 1);
  return with_cell_type([&](auto type) {
    const auto* const cells = reinterpret_cast<const decltype(type)*>(row.words);
    return std::uint32_t{cells[index * cells_per_bucket_ + unit % cells_per_bucket_]};
  });
}

void PeerTable::put(Column column, std::uint64_t unit, std::uint32_t value) noexcept {
  const PeerSegments::Row row = segments_.row(row_of(unit));
  assert((value == 0 || column < row.num_columns) && "see PeerTable::reserve");
  if (column >= row.num_columns) return;
  if (value != 0) segments_.mark(column, row_of(unit));
  const std::uint64_t index = row.first_column + column;
  if (cells_per_bucket_ == 0) {
    std::uint64_t& word = row.words[index / 64];
    word = (word & ~(std::uint64_t{1} << index % 64)) | std::uint64_t{value} << index % 64;
    return;
  }
  with_cell_type([&](auto type) {
    auto* const cells = reinterpret_cast<decltype(type)*>(row.words);
    cells[index * cells_per_bucket_ + unit % cells_per_bucket_] = static_cast<decltype(type)>(value);
  });
}

void PeerTable::prefetch(const std::uint64_t* positions) const noexcept {
  const std::uint32_t num_hashes = positions_.num_hashes();
  if (cells_per_bucket_ == 0 && num_used_ <= narrow) {
    for (std::uint32_t i = 0; i < std::min(2u, num_hashes); ++i) {
      const PeerSegments::Row row = segments_.row(positions[i]);
      detail::prefetch_for_read(row.words + row.first_column / 64);
    }
    return;
  }
  if (cells_per_bucket_ == 0) {
    for (std::uint32_t i = 0; i < num_hashes; ++i) {
      const PeerSegments::Row row = segments_.row(positions[i]);
      for (std::uint64_t bit = row.first_column; bit < row.first_column + row.num_columns; bit += 512) {
        detail::prefetch_for_read(row.words + bit / 64);
      }
    }
    return;
  }
  for (std::uint32_t i = 0; i < num_hashes; ++i) {
    // The rest of a long row is read in order, which the processor prefetches by itself.
    const PeerSegments::Row row = segments_.row(positions_.bucket_of(positions[i]));
    const auto first =
        reinterpret_cast<std::uintptr_t>(row.words) + row.first_column * cells_per_bucket_ * cell_bytes_;
    detail::prefetch_for_read(reinterpret_cast<const void*>(first));
    detail::prefetch_for_read(reinterpret_cast<const void*>(first + 64));
  }
}

void PeerTable::find_passing(const std::uint64_t* positions, Scratch& scratch,
                             std::vector<Column>& passing) const {
  if (num_used_ == 0) return;
  if (cells_per_bucket_ == 0) return find_in_bits(positions, scratch, passing);
  with_cell_type([&](auto type) { find_in_cells<decltype(type)>(positions, scratch, passing); });
}

bool PeerTable::passes(Column column, const std::uint64_t* positions) const noexcept {
  const std::uint32_t num_hashes = positions_.num_hashes();
  if (cells_per_bucket_ == 0)
    return std::all_of(positions, positions + num_hashes,
                       [&](std::uint64_t position) { return get(column, position) != 0; });
  return std::any_of(positions, positions + num_hashes, [&](std::uint64_t position) {
    const std::uint64_t first = positions_.bucket_of(position) * cells_per_bucket_;
    for (std::uint64_t cell = first; cell < first + cells_per_bucket_; ++cell)
      if ((get(column, cell) & remainder_mask_) == positions_.remainder_of(position)) return true;
    return false;
  });
}

void PeerTable::find_in_bits(const std::uint64_t* positions, Scratch& scratch,
                             std::vector<Column>& passing) const {
  const std::uint32_t num_hashes = positions_.num_hashes();
  const auto append = [&](std::uint64_t word, std::uint64_t first) {
    for (; word != 0; word &= word - 1) {
      passing.push_back(static_cast<Column>(first + static_cast<std::uint64_t>(std::countr_zero(word))));
    }
  };
  if (num_used_ <= 64) {
    std::uint64_t all = low_bits(num_used_);
    for (std::uint32_t i = 0; i < num_hashes && all != 0; ++i) {
      const PeerSegments::Row row = segments_.row(positions[i]);
      if (row.num_columns < num_used_) [[unlikely]]
        all &= first_bits(row);
      else all &= row.words[row.first_column / 64] >> row.first_column % 64;
    }
    append(all, 0);
    return;
  }
  // Of rows with different numbers of columns, the shortest one decides how many columns can pass.
  std::uint64_t num_words = (std::uint64_t{num_used_} + 63) / 64;
  scratch.words.assign(num_words, ~std::uint64_t{0});
  std::uint64_t* const all = scratch.words.data();
  for (std::uint32_t i = 0; i < num_hashes; ++i) {
    const PeerSegments::Row row = segments_.row(positions[i]);
    if (row.num_columns < 64) {
      num_words = 1;
      all[0] &= first_bits(row);
      if (all[0] == 0) return;
      continue;
    }
    num_words = std::min(num_words, row.num_columns / 64);
    const std::uint64_t* const words = row.words + row.first_column / 64;
    std::uint64_t any = 0;
    for (std::uint64_t word = 0; word < num_words; ++word) any |= all[word] &= words[word];
    if (any == 0) return;
  }
  for (std::uint64_t word = 0; word < num_words; ++word) append(all[word], 64 * word);
}

template <class Cell>
void PeerTable::find_in_cells(const std::uint64_t* positions, Scratch& scratch,
                              std::vector<Column>& passing) const {
  // Whether any bucket of the key holds its remainder, cell by cell and without a branch: which cell it is
  // does not matter.
  const std::uint64_t most_cells = std::uint64_t{num_used_} * cells_per_bucket_;
  std::vector<Cell>& any_of = scratch.cells<Cell>();
  any_of.assign(most_cells, Cell{0});
  Cell* const found = any_of.data();
  const auto mask = static_cast<Cell>(remainder_mask_);
  for (std::uint32_t i = 0; i < positions_.num_hashes(); ++i) {
    const PeerSegments::Row row = segments_.row(positions_.bucket_of(positions[i]));
    const Cell* const cells = reinterpret_cast<const Cell*>(row.words) + row.first_column * cells_per_bucket_;
    const std::uint64_t num_cells = std::min(most_cells, row.num_columns * cells_per_bucket_);
    const auto remainder = static_cast<Cell>(positions_.remainder_of(positions[i]));
    for (std::uint64_t j = 0; j < num_cells; ++j) {
      found[j] = static_cast<Cell>(found[j] | ((cells[j] & mask) == remainder ? 1 : 0));
    }
  }
  for (Column column = 0; column < num_used_; ++column) {
    const Cell* const own = found + std::uint64_t{column} * cells_per_bucket_;
    Cell any = 0;
    for (std::uint32_t j = 0; j < cells_per_bucket_; ++j) any = static_cast<Cell>(any | own[j]);
    if (any != 0) passing.push_back(column);
  }
}

}  // namespace tally
