#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "tally/summaries/table.hpp"

namespace tally::detail {

/// Units read from words, in blocks of 64: as many words per block as a unit has bits, so that no unit
/// straddles two blocks.
class UnitView {
 public:
  /// `words` are those of the layout; for cells there is one more, which only reads need.
  UnitView(const SummaryLayout& layout, std::span<const std::uint64_t> words) noexcept
      : words_(words.data()),
        num_words_(layout.num_words()),
        num_units_(layout.num_units()),
        unit_bits_(layout.unit_bits()),
        mask_(~std::uint64_t{0} >> (64 - unit_bits_)) {}

  std::uint64_t num_blocks() const noexcept { return (num_units_ + 63) / 64; }

  /// For cells only.
  std::uint32_t get(std::uint64_t unit) const noexcept { return read_unit(words_, unit * unit_bits_, mask_); }

  std::span<const std::uint64_t> block(std::uint64_t index) const noexcept {
    const std::uint64_t first = index * unit_bits_;
    return {words_ + first, std::min<std::uint64_t>(unit_bits_, num_words_ - first)};
  }

  /// One past the block's last unit.
  std::uint64_t end_of_block(std::uint64_t index) const noexcept {
    return std::min(64 * index + 64, num_units_);
  }

  bool has_cells() const noexcept { return unit_bits_ > 1; }

  /// Calls visit(unit, value) for every unit that is not 0, in ascending order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint64_t index = 0; index < num_blocks(); ++index) {
      if (has_cells()) {
        for (std::uint64_t unit = 64 * index; unit < end_of_block(index); ++unit) {
          if (const std::uint32_t value = get(unit)) visit(unit, value);
        }
      } else {
        for (std::uint64_t word = words_[index]; word != 0; word &= word - 1) {
          visit(64 * index + static_cast<std::uint64_t>(std::countr_zero(word)), 1u);
        }
      }
    }
  }

 private:
  const std::uint64_t* words_;
  std::uint64_t num_words_;
  std::uint64_t num_units_;
  std::uint32_t unit_bits_;
  std::uint64_t mask_;
};

/// Calls visit(unit, old value, new value) for the units of the block that differ, in ascending order.
template <class Visit>
void for_each_change_of_block(const UnitView& before, const UnitView& after, std::uint64_t block,
                              Visit visit) {
  const std::span<const std::uint64_t> old_words = before.block(block);
  const std::span<const std::uint64_t> new_words = after.block(block);
  if (std::equal(old_words.begin(), old_words.end(), new_words.begin())) return;
  if (after.has_cells()) {
    for (std::uint64_t unit = 64 * block; unit < after.end_of_block(block); ++unit) {
      const std::uint32_t was = before.get(unit);
      const std::uint32_t is = after.get(unit);
      if (was != is) visit(unit, was, is);
    }
    return;
  }
  for (std::uint64_t word = old_words[0] ^ new_words[0]; word != 0; word &= word - 1) {
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(word));
    const auto is = static_cast<std::uint32_t>(new_words[0] >> bit & 1);
    visit(64 * block + bit, 1 - is, is);
  }
}

}  // namespace tally::detail
