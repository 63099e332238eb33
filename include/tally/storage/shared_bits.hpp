#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "tally/storage/bit_array.hpp"

namespace tally {

/// The bits of a BitArray while several threads use them, with its offsets. A value, like CounterView; the array must outlive
/// it.
class SharedBits {
 public:
  explicit SharedBits(BitArray& bits) noexcept : words_(bits.words()) {}

  std::span<const std::uint64_t> words() const noexcept { return words_; }
  static constexpr std::uint64_t locate(std::uint64_t i) noexcept { return i; }

  bool get(std::uint64_t i) const noexcept {
    return (word(i).load(std::memory_order_relaxed) >> i % 64 & 1) != 0;
  }
  /// Sets the bit; returns whether it was set. Of several threads that set a bit exactly one gets false.
  bool test_and_set(std::uint64_t i) const noexcept {
    if (get(i)) return true;  // a change would take the line from the other threads
    const std::uint64_t bit = std::uint64_t{1} << i % 64;
    return (word(i).fetch_or(bit, std::memory_order_relaxed) & bit) != 0;
  }
  /// Sets the bit if no other thread changes the word meanwhile; returns the word before, shifted so that the bit is the
  /// lowest one.
  std::uint64_t set_alone(std::uint64_t i) const noexcept {
    const std::uint64_t before = word(i).load(std::memory_order_relaxed);
    word(i).store(before | std::uint64_t{1} << i % 64, std::memory_order_relaxed);
    return before >> i % 64;
  }

  void prefetch_for_read(std::uint64_t i) const noexcept {
    detail::prefetch_for_read(words_.data() + i / 64);
  }
  void prefetch_for_write(std::uint64_t i) const noexcept {
    detail::prefetch_for_write(words_.data() + i / 64);
  }

 private:
  std::atomic_ref<std::uint64_t> word(std::uint64_t i) const noexcept {
    return std::atomic_ref(words_[i / 64]);
  }

  std::span<std::uint64_t> words_;
};

}  // namespace tally
