#include "tally/summaries/peer_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "tally/detail/checked_math.hpp"
#include "tally/detail/prefetch.hpp"

namespace tally {

namespace {

constexpr std::uint32_t narrow = 8;  // with fewer copies most absent keys fail at the first two positions

std::uint64_t low_bits(std::uint64_t count) { return ~std::uint64_t{0} >> (64 - count); }

}  // namespace

PeerTable::PeerTable(const SummaryLayout& layout)
    : layout_(layout), positions_(layout), num_units_(layout.num_units()) {
  const auto* const dleft = std::get_if<DLeftShape>(&layout.shape);
  if (dleft == nullptr) return;
  cells_per_bucket_ = dleft->cells_per_bucket;
  remainder_mask_ = (std::uint64_t{1} << dleft->remainder_bits) - 1;
  if (dleft->cell_bits() > 8) cells_.emplace<std::vector<std::uint16_t>>();
  if (dleft->cell_bits() > 16) cells_.emplace<std::vector<std::uint32_t>>();
}

std::uint64_t PeerTable::num_bytes(std::uint64_t capacity) const noexcept {
  if (cells_per_bucket_ == 0) return num_units_ * capacity / 8;
  const std::uint64_t cell_bytes = std::visit(
      [](const auto& cells) { return sizeof(typename std::remove_cvref_t<decltype(cells)>::value_type); },
      cells_);
  return num_units_ * capacity * cell_bytes;
}

// An eighth more each time, so that a thousand peers are not copied a thousand times.
std::uint64_t PeerTable::next_capacity() const noexcept {
  if (cells_per_bucket_ != 0) return capacity_ + std::max<std::uint64_t>(1, capacity_ / 8);
  if (capacity_ < 64) return std::max<std::uint64_t>(1, 2 * capacity_);
  return capacity_ + 64 * std::max<std::uint64_t>(1, capacity_ / 512);
}

std::uint64_t PeerTable::num_bytes_grown() const noexcept {
  return free_.empty() && num_used_ == capacity_ ? num_bytes(next_capacity()) : num_bytes();
}

PeerTable::Column PeerTable::add_column() {
  free_.reserve(num_used_ + 1);  // so that free_column needs no memory
  if (free_.empty() && num_used_ == capacity_) grow(next_capacity());
  if (free_.empty()) return num_used_++;
  const Column column = free_.back();
  free_.pop_back();
  return column;
}

void PeerTable::free_column(Column column) {
  clear(column);
  free_.push_back(column);
}

void PeerTable::grow(std::uint64_t capacity) {
  if (cells_per_bucket_ != 0) {
    std::visit(
        [&](auto& cells) {
          std::remove_cvref_t<decltype(cells)> larger(num_units_ * capacity);
          const std::uint64_t row = capacity_ * cells_per_bucket_;
          for (std::uint64_t i = 0; row != 0 && i < cells.size() / row; ++i) {
            std::copy_n(cells.begin() + static_cast<std::ptrdiff_t>(i * row), row,
                        larger.begin() + static_cast<std::ptrdiff_t>(i * capacity * cells_per_bucket_));
          }
          cells = std::move(larger);
        },
        cells_);
    capacity_ = capacity;
    return;
  }
  detail::AlignedWords larger(detail::ceil_div(detail::checked_mul(num_units_, capacity, "PeerTable"), 64));
  for (std::uint64_t i = 0; capacity_ != 0 && i < num_units_; ++i) {
    const std::uint64_t from = i * capacity_;
    const std::uint64_t to = i * capacity;
    if (capacity_ >= 64) {
      std::copy_n(bits_.data() + from / 64, capacity_ / 64, larger.data() + to / 64);
    } else {
      larger.data()[to / 64] |= (bits_.data()[from / 64] >> from % 64 & low_bits(capacity_)) << to % 64;
    }
  }
  bits_ = std::move(larger);
  capacity_ = capacity;
}

std::uint32_t PeerTable::get(Column column, std::uint64_t unit) const noexcept {
  if (cells_per_bucket_ == 0) {
    const std::uint64_t bit = unit * capacity_ + column;
    return static_cast<std::uint32_t>(bits_.data()[bit / 64] >> bit % 64 & 1);
  }
  return std::visit([&](const auto& cells) { return std::uint32_t{cells[cell_index(column, unit)]}; },
                    cells_);
}

void PeerTable::put(Column column, std::uint64_t unit, std::uint32_t value) noexcept {
  if (cells_per_bucket_ == 0) {
    const std::uint64_t bit = unit * capacity_ + column;
    std::uint64_t& word = bits_.data()[bit / 64];
    word = (word & ~(std::uint64_t{1} << bit % 64)) | std::uint64_t{value} << bit % 64;
    return;
  }
  std::visit(
      [&](auto& cells) {
        using Cell = typename std::remove_cvref_t<decltype(cells)>::value_type;
        cells[cell_index(column, unit)] = static_cast<Cell>(value);
      },
      cells_);
}

void PeerTable::clear(Column column) noexcept {
  for (std::uint64_t unit = 0; unit < num_units_; ++unit) put(column, unit, 0);
}

void PeerTable::prefetch(const std::uint64_t* positions) const noexcept {
  const std::uint32_t num_hashes = positions_.num_hashes();
  if (cells_per_bucket_ == 0) {
    const std::uint32_t count = capacity_ <= narrow ? std::min(2u, num_hashes) : num_hashes;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t first = positions[i] * capacity_ / 64;
      for (std::uint64_t word = first; word <= first + (capacity_ - 1) / 64; word += 8) {
        detail::prefetch_for_read(bits_.data() + word);
      }
    }
    return;
  }
  std::visit(
      [&](const auto& cells) {
        for (std::uint32_t i = 0; i < num_hashes; ++i) {
          // The rest of a long row is read in order, which the processor prefetches by itself.
          const auto* const row =
              cells.data() + positions_.bucket_of(positions[i]) * capacity_ * cells_per_bucket_;
          detail::prefetch_for_read(row);
          detail::prefetch_for_read(reinterpret_cast<const char*>(row) + 64);
        }
      },
      cells_);
}

void PeerTable::find_passing(const std::uint64_t* positions, Scratch& scratch,
                             std::vector<Column>& passing) const {
  if (num_used_ == 0) return;
  if (cells_per_bucket_ == 0) return find_in_bits(positions, scratch, passing);
  std::visit([&](const auto& cells) { find_in_cells(cells, positions, scratch, passing); }, cells_);
}

void PeerTable::find_in_bits(const std::uint64_t* positions, Scratch& scratch,
                             std::vector<Column>& passing) const {
  const std::uint32_t num_hashes = positions_.num_hashes();
  const auto append = [&](std::uint64_t word, std::uint64_t first) {
    for (; word != 0; word &= word - 1) {
      passing.push_back(static_cast<Column>(first + static_cast<std::uint64_t>(std::countr_zero(word))));
    }
  };
  if (capacity_ <= 64) {
    std::uint64_t all = low_bits(capacity_);
    for (std::uint32_t i = 0; i < num_hashes && all != 0; ++i) {
      const std::uint64_t bit = positions[i] * capacity_;
      all &= bits_.data()[bit / 64] >> bit % 64;
    }
    append(all, 0);
    return;
  }
  const std::uint64_t num_words = capacity_ / 64;
  scratch.words.assign(num_words, ~std::uint64_t{0});
  std::uint64_t* const all = scratch.words.data();
  for (std::uint32_t i = 0; i < num_hashes; ++i) {
    const std::uint64_t* const row = bits_.data() + positions[i] * num_words;
    std::uint64_t any = 0;
    for (std::uint64_t word = 0; word < num_words; ++word) any |= all[word] &= row[word];
    if (any == 0) return;
  }
  for (std::uint64_t word = 0; word < num_words; ++word) append(all[word], 64 * word);
}

template <class Cell>
void PeerTable::find_in_cells(const std::vector<Cell>& cells, const std::uint64_t* positions,
                              Scratch& scratch, std::vector<Column>& passing) const {
  // Whether any bucket of the key holds its remainder, cell by cell and without a branch: which cell it is
  // does not matter.
  const std::uint64_t row_cells = std::uint64_t{num_used_} * cells_per_bucket_;
  std::vector<Cell>& any_of = scratch.cells<Cell>();
  any_of.assign(row_cells, Cell{0});
  Cell* const found = any_of.data();
  const auto mask = static_cast<Cell>(remainder_mask_);
  for (std::uint32_t i = 0; i < positions_.num_hashes(); ++i) {
    const Cell* const row = cells.data() + positions_.bucket_of(positions[i]) * capacity_ * cells_per_bucket_;
    const auto remainder = static_cast<Cell>(positions_.remainder_of(positions[i]));
    for (std::uint64_t j = 0; j < row_cells; ++j) {
      found[j] = static_cast<Cell>(found[j] | ((row[j] & mask) == remainder ? 1 : 0));
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
