#include "tally/summaries/table.hpp"

#include <algorithm>

namespace tally {

namespace {

const SummaryLayout& checked(const SummaryLayout& layout) {
  check_layout(layout);
  return layout;
}

}  // namespace

SummaryTable::SummaryTable(const SummaryLayout& layout)
    : layout_(checked(layout)),
      num_units_(layout.num_units()),
      num_words_(layout.num_words()),
      mask_(~std::uint64_t{0} >> (64 - layout.unit_bits())),
      unit_bits_(layout.unit_bits()),
      is_bits_(!layout.has_cells()),
      words_(num_words_ + 1) {}

void SummaryTable::put(std::uint64_t unit, std::uint32_t value) noexcept {
  const std::uint64_t bit = unit * unit_bits_;
  std::uint64_t* const word = words_.data() + bit / 64;
  const std::uint64_t shift = bit % 64;
  word[0] = (word[0] & ~(mask_ << shift)) | std::uint64_t{value} << shift;
  if (shift + unit_bits_ <= 64) return;
  const std::uint64_t back = 64 - shift;
  word[1] = (word[1] & ~(mask_ >> back)) | std::uint64_t{value} >> back;
}

void SummaryTable::assign(std::span<const std::uint64_t> words) noexcept {
  std::copy_n(words.begin(), num_words_, words_.data());
}

}  // namespace tally
