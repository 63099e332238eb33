#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tally/detail/aligned_words.hpp"
#include "tally/detail/prefetch.hpp"
#include "tally/export.hpp"

namespace tally {

template <bool fills_words, class Word>
class CounterView;

/// The number of counters with a value from `least` to `greatest`.
struct HistogramBin {
  std::uint64_t least = 0;
  std::uint64_t greatest = 0;
  std::uint64_t num_counters = 0;

  friend bool operator==(const HistogramBin&, const HistogramBin&) = default;
};

/// An array of counters of 1 to 8, 16, 32 or 64 bits, all 0 at first.
///
/// A counter saturates and stays there: at its maximum 2^counter_bits - 1 it is never raised and never
/// lowered again, because how far the truth lies above it is unknown.
///
/// A 64-bit word holds floor(64 / counter_bits) counters, the first in its low bits;
/// no counter straddles two words, and the bits left over at the top stay clear:
///
///     counter_bits   1   2   3   4   5   6   7   8  16  32  64
///     a word holds  64  32  21  16  12  10   9   8   4   2   1
///
class TALLY_EXPORT CounterArray {
 public:
  static constexpr bool is_width(std::uint32_t counter_bits) noexcept {
    return (counter_bits >= 1 && counter_bits <= 8) || counter_bits == 16 || counter_bits == 32 ||
           counter_bits == 64;
  }

  /// The smallest width whose maximum is at least `value`.
  static std::uint32_t width_for(std::uint64_t value) noexcept;

  static constexpr std::uint32_t positions_per_line(std::uint32_t counter_bits) noexcept {
    return 8 * (64 / counter_bits);
  }

  /// The number of words that the counters take.
  static constexpr std::uint64_t num_words(std::uint64_t num_counters, std::uint32_t counter_bits) noexcept {
    const std::uint64_t per_word = 64 / counter_bits;
    return num_counters / per_word + (num_counters % per_word != 0);
  }

  /// Throws std::invalid_argument for a width not in the table.
  CounterArray(std::uint64_t num_counters, std::uint32_t counter_bits);

  /// Takes over words from a file; `words` has num_words(num_counters, counter_bits) of them.
  CounterArray(std::uint64_t num_counters, std::uint32_t counter_bits, detail::AlignedWords words);

  CounterArray(const CounterArray&) = default;
  CounterArray(CounterArray&&) noexcept = default;
  CounterArray& operator=(const CounterArray& other) { return *this = CounterArray(other); }
  CounterArray& operator=(CounterArray&&) noexcept = default;
  ~CounterArray() = default;

  std::uint64_t size() const noexcept { return num_counters_; }
  std::uint32_t counter_bits() const noexcept { return counter_bits_; }
  std::uint64_t max() const noexcept { return max_; }

  std::uint64_t get(std::uint64_t i) const noexcept { return get_at(locate(i)); }
  void set(std::uint64_t i, std::uint64_t value) noexcept { set_at(locate(i), value); }
  std::uint64_t increment(std::uint64_t i) noexcept { return increment_at(locate(i)); }

  /// The index of counter i's lowest bit among all bits of the words. Callers that visit a counter twice
  /// compute it once.
  std::uint64_t locate(std::uint64_t i) const noexcept {
    // i / per_word by a multiplication: exact for i below 2^57.
    __extension__ using Wide = unsigned __int128;
    const auto word = static_cast<std::uint64_t>(static_cast<Wide>(i) * reciprocal_ >> 63);
    return word * 64 + (i - word * per_word_) * counter_bits_;
  }

  std::uint64_t get_at(std::uint64_t offset) const noexcept {
    return words_.data()[offset / 64] >> offset % 64 & max_;
  }

  void set_at(std::uint64_t offset, std::uint64_t value) noexcept {
    std::uint64_t& word = words_.data()[offset / 64];
    word = (word & ~(max_ << offset % 64)) | value << offset % 64;
  }

  /// Adds 1 unless the counter is at its maximum; returns the new value.
  std::uint64_t increment_at(std::uint64_t offset) noexcept {
    std::uint64_t& word = words_.data()[offset / 64];
    const std::uint64_t value = word >> offset % 64 & max_;
    const std::uint64_t step = value != max_;
    word += step << offset % 64;
    return value + step;
  }

  /// Subtracts 1 from a counter above 0, unless it is at its maximum.
  void decrement_at(std::uint64_t offset) noexcept {
    std::uint64_t& word = words_.data()[offset / 64];
    const std::uint64_t value = word >> offset % 64 & max_;
    word -= std::uint64_t{value != max_} << offset % 64;
  }

  /// Raises the counter to `value` if it is below; `value` is at most max().
  void raise_to_at(std::uint64_t offset, std::uint64_t value) noexcept {
    if (get_at(offset) < value) set_at(offset, value);
  }

  void prefetch_for_read(std::uint64_t offset) const noexcept {
    detail::prefetch_for_read(words_.data() + offset / 64);
  }
  void prefetch_for_write(std::uint64_t offset) const noexcept {
    detail::prefetch_for_write(words_.data() + offset / 64);
  }

  /// The number of counters of at least `value` among positions [begin, end).
  std::uint64_t num_at_least(std::uint64_t value, std::uint64_t begin, std::uint64_t end) const noexcept;

  /// One bin for every value up to 255, bins of powers of two for larger values, and one bin for the maximum;
  /// up to the last bin that is not empty.
  std::vector<HistogramBin> histogram() const;

  /// Adds the counters of `other`, of the same size and width, one by one, saturating. A counter that is
  /// saturated in either is saturated in the sum.
  void merge(const CounterArray& other) noexcept;

  /// Halves every counter, rounded up; one at its maximum stays there.
  void halve() noexcept;

  /// Sets every counter to 0, including those at their maximum.
  void clear() noexcept { words_.clear(); }

  std::span<const std::uint64_t> words() const noexcept { return words_.words(); }

  friend bool operator==(const CounterArray& a, const CounterArray& b) noexcept {
    return a.num_counters_ == b.num_counters_ && a.counter_bits_ == b.counter_bits_ && a.words_ == b.words_;
  }
  std::span<std::uint64_t> words() noexcept { return words_.words(); }

 private:
  template <bool fills_words, class Word>
  friend class CounterView;

  detail::AlignedWords words_;
  std::uint64_t num_counters_;
  std::uint64_t max_;
  std::uint64_t reciprocal_;
  std::uint32_t per_word_;
  std::uint32_t counter_bits_;
};

}  // namespace tally
