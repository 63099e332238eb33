#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "tally/detail/prefetch.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/storage/counter_view.hpp"

namespace tally {

/// The counters of a CounterArray of 4 bits, two per byte, with the functions and rules of CounterView. A change of a counter
/// is one look into a table: with shifts and masks it takes twice as many instructions, and then the processor works on half
/// as many counters at once. An offset is the counter's index. `Word` is std::uint64_t, or const for reading.
template <class Word>
class NibbleCounters {
  // The first counter of a word is in its low bits.
  static_assert(std::endian::native == std::endian::little);
  using Byte = std::conditional_t<std::is_const_v<Word>, const unsigned char, unsigned char>;

 public:
  /// The words of the array, which must outlive this.
  explicit NibbleCounters(std::span<Word> words) noexcept : words_(words) {}

  static constexpr std::uint64_t max() noexcept { return 15; }
  static constexpr std::uint64_t locate(std::uint64_t i) noexcept { return i; }

  std::uint64_t get_at(std::uint64_t i) const noexcept { return bytes()[i / 2] >> i % 2 * 4 & 15; }

  std::span<Word> words() const noexcept { return words_; }

  std::uint32_t raise_one_at(std::uint64_t i) const noexcept { return change(i, raised_); }
  std::uint32_t lower_one_at(std::uint64_t i) const noexcept { return change(i, lowered_); }

  void raise_to_at(std::uint64_t i, std::uint64_t value) const noexcept {
    Byte& byte = bytes()[i / 2];
    const std::uint64_t before = byte >> i % 2 * 4 & 15;
    byte = static_cast<unsigned char>(byte + ((before < value ? value - before : 0) << i % 2 * 4));
  }

  void prefetch_for_read(std::uint64_t i) const noexcept { detail::prefetch_for_read(bytes() + i / 2); }
  void prefetch_for_write(std::uint64_t i) const noexcept { detail::prefetch_for_write(bytes() + i / 2); }

 private:
  // For the low half of each byte and then for the high half: the byte afterwards, with the bits above it that the change
  // returns.
  using Changes = std::array<std::uint16_t, 512>;

  template <class Change>
  static constexpr Changes changes(Change change) noexcept {
    Changes table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      const std::uint32_t byte = i % 256;
      const std::uint32_t shift = i / 256 * 4;
      const std::uint32_t value = byte >> shift & 15;
      const auto [after, returned] = change(value);
      table[i] = static_cast<std::uint16_t>((byte - (value << shift) + (after << shift)) | returned);
    }
    return table;
  }

  struct Change {
    std::uint32_t after;
    std::uint32_t returned;
  };
  static constexpr Changes raised_ = changes([](std::uint32_t value) {
    return Change{value < 15 ? value + 1 : 15, value >= 14 ? counter_saturated : 0};
  });
  static constexpr Changes lowered_ = changes([](std::uint32_t value) {
    if (value == 0) return Change{0, counter_was_zero};
    if (value == 15) return Change{15, counter_saturated};
    return Change{value - 1, 0};
  });

  std::uint32_t change(std::uint64_t i, const Changes& table) const noexcept {
    Byte& byte = bytes()[i / 2];
    const std::uint32_t entry = table[i % 2 * 256 + byte];
    byte = static_cast<unsigned char>(entry);
    return entry;
  }

  Byte* bytes() const noexcept { return reinterpret_cast<Byte*>(words_.data()); }

  std::span<Word> words_;
};

/// Calls visit(the view of the counters that is fastest). It is forced inline, as are the operations on a view: otherwise g++
/// 12 passes the view through memory, which makes a lookup take three times as long.
template <class Array, class Visit>
[[gnu::always_inline]] inline auto with_counters(Array& counters, Visit visit) {
  if (counters.counter_bits() == 4) return visit(NibbleCounters(counters.words()));
  using Word = std::conditional_t<std::is_const_v<Array>, const std::uint64_t, std::uint64_t>;
  const std::uint32_t bits = counters.counter_bits();
  if ((bits & (bits - 1)) == 0) return visit(CounterView<true, Word>(counters, counters.words()));
  return visit(CounterView<false, Word>(counters, counters.words()));
}

}  // namespace tally
