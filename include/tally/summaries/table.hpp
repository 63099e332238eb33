#pragma once

#include <cstdint>
#include <span>

#include "tally/detail/aligned_words.hpp"
#include "tally/export.hpp"
#include "tally/storage/cell_table.hpp"
#include "tally/summaries/layout.hpp"

namespace tally {

namespace detail {

/// The unit that begins at `bit`; its width is the number of ones in the mask. Also reads the next word.
inline std::uint32_t read_unit(const std::uint64_t* words, std::uint64_t bit, std::uint64_t mask) noexcept {
  const std::uint64_t low = words[bit / 64] >> bit % 64;
  const std::uint64_t high = words[bit / 64 + 1] << 1 << (63 - bit % 64);
  return static_cast<std::uint32_t>((low | high) & mask);
}

}  // namespace detail

/// The units of a version, all 0 at first: unit i has unit_bits bits, starting at bit i * unit_bits of the
/// words.
class TALLY_EXPORT SummaryTable {
 public:
  /// Throws std::invalid_argument for a layout out of range, std::bad_alloc.
  explicit SummaryTable(const SummaryLayout& layout);

  SummaryTable(const SummaryTable&) = default;
  SummaryTable(SummaryTable&&) noexcept = default;
  SummaryTable& operator=(const SummaryTable& other) { return *this = SummaryTable(other); }
  SummaryTable& operator=(SummaryTable&&) noexcept = default;
  ~SummaryTable() = default;

  const SummaryLayout& layout() const noexcept { return layout_; }
  std::uint64_t num_units() const noexcept { return num_units_; }

  std::uint32_t get(std::uint64_t unit) const noexcept {
    if (is_bits_) return static_cast<std::uint32_t>(words_.data()[unit / 64] >> unit % 64 & 1);
    return detail::read_unit(words_.data(), unit * unit_bits_, mask_);
  }
  void put(std::uint64_t unit, std::uint32_t value) noexcept;

  /// Copies all units from words of the same layout.
  void assign(std::span<const std::uint64_t> words) noexcept;

  /// As many as the layout requires.
  std::span<const std::uint64_t> words() const noexcept { return {words_.data(), num_words_}; }
  void put_word(std::uint64_t i, std::uint64_t word) noexcept { words_.data()[i] = word; }

 private:
  SummaryLayout layout_;
  std::uint64_t num_units_;
  std::uint64_t num_words_;
  std::uint64_t mask_;
  std::uint32_t unit_bits_;
  bool is_bits_;
  detail::AlignedWords words_;  // one word more than the units take
};

}  // namespace tally
