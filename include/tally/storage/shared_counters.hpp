#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>

#include "tally/storage/counter_array.hpp"
#include "tally/storage/counter_view.hpp"

namespace tally {

/// The counters of a CounterArray while several threads use them: the functions and rules of CounterView. All changes and
/// reads of all counters have one order (sequential consistency). A counter at its maximum is only read. The array must
/// outlive this.
class SharedCounters {
 public:
  explicit SharedCounters(CounterArray& counters) noexcept : view_(counters, counters.words()) {}

  std::uint64_t max() const noexcept { return view_.max(); }
  std::span<std::uint64_t> words() const noexcept { return view_.words(); }
  std::uint64_t locate(std::uint64_t i) const noexcept { return view_.locate(i); }

  std::uint64_t get_at(std::uint64_t offset) const noexcept {
    return word(offset).load() >> offset % 64 & max();
  }

  std::uint32_t raise_one_at(std::uint64_t offset) const noexcept {
    return raised(offset) == max() ? counter_saturated : 0;
  }

  /// Adds 1 unless the counter is at its maximum; returns its value afterwards.
  std::uint64_t raised(std::uint64_t offset) const noexcept { return raise_by_at(offset, 1); }

  /// Adds `amount`, or as much of it as there is room for; returns the value afterwards.
  std::uint64_t raise_by_at(std::uint64_t offset, std::uint64_t amount) const noexcept {
    std::uint64_t after = 0;
    change(offset, [&](std::uint64_t value) { return after = value + std::min(amount, max() - value); });
    return after;
  }

  std::uint32_t lower_one_at(std::uint64_t offset) const noexcept {
    const std::uint64_t before =
        change(offset, [&](std::uint64_t value) { return value - (value != 0 && value != max()); });
    if (before == 0) return counter_was_zero;
    return before == max() ? counter_saturated : 0;
  }

  void prefetch_for_read(std::uint64_t offset) const noexcept { view_.prefetch_for_read(offset); }
  void prefetch_for_write(std::uint64_t offset) const noexcept { view_.prefetch_for_write(offset); }

 private:
  std::atomic_ref<std::uint64_t> word(std::uint64_t offset) const noexcept {
    return std::atomic_ref(view_.words()[offset / 64]);
  }

  /// Replaces the value of the counter by after(value) in one step; returns the value before.
  template <class After>
  std::uint64_t change(std::uint64_t offset, After after) const noexcept {
    std::uint64_t seen = word(offset).load();
    while (true) {
      const std::uint64_t value = seen >> offset % 64 & max();
      const std::uint64_t wanted = after(value);
      if (wanted == value) return value;
      if (word(offset).compare_exchange_weak(seen, seen + ((wanted - value) << offset % 64))) return value;
    }
  }

  CounterView<false, std::uint64_t> view_;
};

}  // namespace tally
