#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "tally/detail/aligned_words.hpp"
#include "tally/detail/prefetch.hpp"
#include "tally/export.hpp"

namespace tally {

/// Buckets of cells of 8, 12, 16, 24 or 32 bits, packed, all 0 at first.
///
/// Cell j of bucket b begins at bit (b * cells_per_bucket + j) * cell_bits of the words, which are
/// little-endian in memory as everywhere. Cells of 12 and 24 bits may straddle two words.
class TALLY_EXPORT CellTable {
 public:
  static constexpr std::uint32_t max_cells_per_bucket = 64;

  static constexpr bool is_width(std::uint32_t cell_bits) noexcept {
    return cell_bits == 8 || cell_bits == 12 || cell_bits == 16 || cell_bits == 24 || cell_bits == 32;
  }

  /// The number of words that the cells take, plus one: a cell is read with the bytes after it.
  static constexpr std::uint64_t num_words(std::uint64_t num_cells, std::uint32_t cell_bits) noexcept {
    return num_cells / 64 * cell_bits + (num_cells % 64 * cell_bits + 63) / 64 + 1;
  }

  /// Throws std::invalid_argument for a width not in the list or more than 64 cells per bucket.
  CellTable(std::uint64_t num_buckets, std::uint32_t cells_per_bucket, std::uint32_t cell_bits);

  /// Takes over words from a file, num_words() of them.
  CellTable(std::uint64_t num_buckets, std::uint32_t cells_per_bucket, std::uint32_t cell_bits,
            detail::AlignedWords words);

  CellTable(const CellTable&) = default;
  CellTable(CellTable&&) noexcept = default;
  CellTable& operator=(const CellTable& other) { return *this = CellTable(other); }
  CellTable& operator=(CellTable&&) noexcept = default;
  ~CellTable() = default;

  std::uint64_t num_buckets() const noexcept { return num_buckets_; }
  std::uint32_t cells_per_bucket() const noexcept { return cells_per_bucket_; }
  std::uint32_t cell_bits() const noexcept { return cell_bits_; }

  std::uint32_t get(std::uint64_t bucket, std::uint32_t cell) const noexcept {
    const std::uint64_t bit = bit_of(bucket, cell);
    return static_cast<std::uint32_t>(load(bit) >> bit % 8 & mask_);
  }

  void set(std::uint64_t bucket, std::uint32_t cell, std::uint32_t value) noexcept {
    const std::uint64_t bit = bit_of(bucket, cell);
    const std::uint64_t word = load(bit);
    store(bit, (word & ~(mask_ << bit % 8)) | std::uint64_t{value} << bit % 8);
  }

  /// Bit j: whether cell j of the bucket, masked with `mask`, equals `value`.
  std::uint64_t cells_equal(std::uint64_t bucket, std::uint32_t mask, std::uint32_t value) const noexcept {
    std::uint64_t cells = 0;
    if (lowest_bits_ == 0) {
      for (std::uint32_t j = 0; j < cells_per_bucket_; ++j) {
        cells |= std::uint64_t{(get(bucket, j) & mask) == value} << j;
      }
      return cells;
    }
    const std::uint32_t cells_per_word = 64 / cell_bits_;
    const std::uint64_t all_but_highest = (lowest_bits_ << (cell_bits_ - 1)) - lowest_bits_;
    const std::uint64_t masks = (mask & mask_) * lowest_bits_;
    const std::uint64_t values = value * lowest_bits_;
    const std::uint64_t* word = words_.data() + bucket * (bucket_bytes_ / 8);
    for (std::uint32_t j = 0; j < cells_per_bucket_; j += cells_per_word) {
      const std::uint64_t differ = (*word++ & masks) ^ values;
      // The highest bit of each cell that does not differ; no sum carries into the next cell.
      const std::uint64_t equal =
          ~(((differ & all_but_highest) + all_but_highest) | differ | all_but_highest);
      cells |= ((equal >> (cell_bits_ - 1)) * gathering_ >> (64 - cells_per_word)) << j;
    }
    return cells;
  }

  void prefetch_for_read(std::uint64_t bucket) const noexcept {
    const char* const first = bytes() + bit_of(bucket, 0) / 8;
    detail::prefetch_for_read(first);
    if (may_straddle_) detail::prefetch_for_read(first + bucket_bytes_ - 1);
  }
  void prefetch_for_write(std::uint64_t bucket) const noexcept {
    const char* const first = bytes() + bit_of(bucket, 0) / 8;
    detail::prefetch_for_write(first);
    if (may_straddle_) detail::prefetch_for_write(first + bucket_bytes_ - 1);
  }

  void clear() noexcept { words_.clear(); }

  std::span<const std::uint64_t> words() const noexcept { return words_.words(); }
  std::uint64_t* data() noexcept { return words_.data(); }
  const std::uint64_t* data() const noexcept { return words_.data(); }

  /// Whether the words are the same; for tables of one shape.
  friend bool operator==(const CellTable& a, const CellTable& b) noexcept { return a.words_ == b.words_; }

 private:
  std::uint64_t bit_of(std::uint64_t bucket, std::uint32_t cell) const noexcept {
    return (bucket * cells_per_bucket_ + cell) * cell_bits_;
  }
  const char* bytes() const noexcept { return reinterpret_cast<const char*>(words_.data()); }

  // Four bytes hold any cell: one of 12 bits begins within the first or in the middle of a byte.
  std::uint64_t load(std::uint64_t bit) const noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes() + bit / 8, 4);
    return word;
  }
  void store(std::uint64_t bit, std::uint64_t word) noexcept {
    std::memcpy(reinterpret_cast<char*>(words_.data()) + bit / 8, &word, 4);
  }

  detail::AlignedWords words_;
  std::uint64_t num_buckets_;
  std::uint64_t mask_;
  std::uint32_t cells_per_bucket_;
  std::uint32_t cell_bits_;
  std::uint32_t bucket_bytes_;
  std::uint64_t lowest_bits_;  // of the cells of a word; 0 unless each bucket is whole words of whole cells
  std::uint64_t
      gathering_;      // a product with it has the lowest bits of a word's cells side by side at the top
  bool may_straddle_;  // a bucket may extend over two lines
};

/// Every bucket split into two: cells without `bit` go to the first; those with it to the second, with the
/// bit cleared; cells that are 0 come after them. Throws std::bad_alloc if there is not enough memory.
TALLY_EXPORT CellTable split_buckets(const CellTable& cells, std::uint32_t bit);

}  // namespace tally
