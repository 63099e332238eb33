#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "tally/detail/prefetch.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally {

/// Bits of what a change of a counter returns; the bits below them are not specified. So a loop over many counters can
/// combine what the changes return by |.
inline constexpr std::uint32_t counter_saturated = 0x100;
inline constexpr std::uint32_t counter_was_zero = 0x200;

/// A CounterArray for a loop over many counters, with the same offsets and rules. It is a value, so that its numbers stay in
/// registers: as far as the compiler knows, a write to a counter could change the members of an array. `fills_words`: the
/// width divides 64, so that a shift locates a counter; false is right for every width. `Word` is std::uint64_t, or const
/// for reading.
template <bool fills_words, class Word>
class CounterView {
 public:
  /// The words are those of the array, which must outlive this.
  CounterView(const CounterArray& array, std::span<Word> words) noexcept
      : words_(words.data()),
        num_words_(words.size()),
        max_(array.max()),
        reciprocal_(array.reciprocal_),
        per_word_(array.per_word_),
        counter_bits_(array.counter_bits_),
        log_bits_(static_cast<std::uint32_t>(std::countr_zero(array.counter_bits()))) {}

  std::uint64_t max() const noexcept { return max_; }
  std::span<Word> words() const noexcept { return {words_, num_words_}; }

  /// As CounterArray::locate, with one shift where the counters fill the words.
  std::uint64_t locate(std::uint64_t i) const noexcept {
    if constexpr (fills_words) return i << log_bits_;
    __extension__ using Wide = unsigned __int128;
    const auto word = static_cast<std::uint64_t>(static_cast<Wide>(i) * reciprocal_ >> 63);
    return word * 64 + (i - word * per_word_) * counter_bits_;
  }

  std::uint64_t get_at(std::uint64_t offset) const noexcept {
    return words_[offset / 64] >> offset % 64 & max_;
  }

  /// Adds 1 unless the counter is at its maximum; returns counter_saturated if it now is.
  std::uint32_t raise_one_at(std::uint64_t offset) const noexcept {
    Word& word = words_[offset / 64];
    const std::uint64_t value = word >> offset % 64 & max_;
    const std::uint64_t step = value != max_;
    word += step << offset % 64;
    return value + step == max_ ? counter_saturated : 0;
  }

  /// Subtracts 1 unless the counter is 0 or at its maximum; then returns counter_was_zero or counter_saturated.
  std::uint32_t lower_one_at(std::uint64_t offset) const noexcept {
    Word& word = words_[offset / 64];
    const std::uint64_t value = word >> offset % 64 & max_;
    if (value == 0) return counter_was_zero;
    word -= std::uint64_t{value != max_} << offset % 64;
    return value == max_ ? counter_saturated : 0;
  }

  /// Raises the counter to `value` if it is below; `value` is at most max().
  void raise_to_at(std::uint64_t offset, std::uint64_t value) const noexcept {
    Word& word = words_[offset / 64];
    const std::uint64_t before = word >> offset % 64 & max_;
    word += (before < value ? value - before : 0) << offset % 64;
  }

  void prefetch_for_read(std::uint64_t offset) const noexcept {
    detail::prefetch_for_read(words_ + offset / 64);
  }
  void prefetch_for_write(std::uint64_t offset) const noexcept {
    detail::prefetch_for_write(words_ + offset / 64);
  }

 private:
  Word* words_;
  std::uint64_t num_words_;
  std::uint64_t max_;
  std::uint64_t reciprocal_;
  std::uint64_t per_word_;
  std::uint64_t counter_bits_;
  std::uint32_t log_bits_;
};

}  // namespace tally
