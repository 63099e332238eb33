#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include "tally/detail/prefetch.hpp"

namespace tally {

/// The counters of a CounterArray of 8, 16, 32 or 64 bits as integers of that width, `Cell`, for loops over
/// many keys, which then need no shifts and masks. The same rules apply: a counter at its maximum stays
/// there. `Word` is std::uint64_t, or const for reading.
template <class Cell, class Word>
class CounterCells {
  // The first counter of a word is in its low bits.
  static_assert(std::endian::native == std::endian::little);
  using Byte = std::conditional_t<std::is_const_v<Word>, const std::byte, std::byte>;

 public:
  static constexpr Cell max = std::numeric_limits<Cell>::max();

  /// The words of the array, which must outlive this.
  explicit CounterCells(std::span<Word> words) noexcept : bytes_(reinterpret_cast<Byte*>(words.data())) {}

  Cell get(std::uint64_t i) const noexcept {
    Cell value;
    std::memcpy(&value, bytes_ + i * sizeof(Cell), sizeof(Cell));
    return value;
  }
  void set(std::uint64_t i, Cell value) const noexcept {
    std::memcpy(bytes_ + i * sizeof(Cell), &value, sizeof(Cell));
  }

  /// Adds `amount`, as far as there is room below the maximum; returns the new value.
  Cell add(std::uint64_t i, Cell amount) const noexcept {
    const auto sum = static_cast<Cell>(get(i) + amount);
    const Cell kept = sum < amount ? max : sum;
    set(i, kept);
    return kept;
  }

  void prefetch(std::uint64_t i) const noexcept {
    if constexpr (std::is_const_v<Word>) detail::prefetch_for_read(bytes_ + i * sizeof(Cell));
    else detail::prefetch_for_write(bytes_ + i * sizeof(Cell));
  }

 private:
  Byte* bytes_;
};

/// Calls visit(CounterCells of the width), which is 8, 16, 32 or 64.
template <class Word, class Visit>
auto with_cells(std::span<Word> words, std::uint32_t counter_bits, Visit visit) {
  switch (counter_bits) {
    case 8:
      return visit(CounterCells<std::uint8_t, Word>(words));
    case 16:
      return visit(CounterCells<std::uint16_t, Word>(words));
    case 32:
      return visit(CounterCells<std::uint32_t, Word>(words));
    default:
      return visit(CounterCells<std::uint64_t, Word>(words));
  }
}

}  // namespace tally
