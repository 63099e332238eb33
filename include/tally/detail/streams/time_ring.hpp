#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tally/streams/time_steps.hpp"

namespace tally::detail {

/// A window that slides over the time of a stream: one slot for each of the last num_slots + 1 steps, each as long as the
/// window by num_slots. So what the slots hold reaches back one window at least, and one window and a step at most. Without
/// a window there is one slot, which nothing leaves.
template <class Slot>
class TimeRing {
 public:
  static std::uint64_t num_slots(std::optional<Nanoseconds> window, std::uint32_t num_slots) noexcept {
    return window ? std::uint64_t{num_slots} + 1 : 1;
  }

  /// make() gives an empty slot.
  template <class Make>
  TimeRing(std::optional<Nanoseconds> window, std::uint32_t slots_per_window, Make make)
      : has_window_(window.has_value()),
        clock_(window ? std::max<Nanoseconds>(1, *window / slots_per_window) : 1, window.value_or(1)) {
    const std::uint64_t count = num_slots(window, slots_per_window);
    slots_.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) slots_.push_back(make());
  }

  /// Calls use(records of one step), with their slot as the current one, and clear(a slot) for each that leaves the window.
  template <class Use, class Clear>
  void add(const StreamRecords& records, Use use, Clear clear) {
    if (!has_window_) return use(records);
    clock_.split(records, use, [&](std::uint64_t num_steps) {
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(num_steps, slots_.size()); ++i) {
        current_ = current_ + 1 == slots_.size() ? 0 : current_ + 1;
        clear(slots_[current_]);
      }
    });
  }

  bool has_window() const noexcept { return has_window_; }
  Slot& current() noexcept { return slots_[current_]; }
  std::vector<Slot>& slots() noexcept { return slots_; }
  const std::vector<Slot>& slots() const noexcept { return slots_; }
  const TimeSteps& clock() const noexcept { return clock_; }

  // The position alone; the slots are the stream's to save.
  template <class Writer>
  void save_position(Writer& state) const {
    state.number(current_);
    clock_.save(state);
  }
  template <class Reader>
  void restore_position(Reader& state) {
    current_ = state.number_at_most(slots_.size() - 1);
    clock_.restore(state);
  }

 private:
  bool has_window_;
  std::vector<Slot> slots_;
  std::size_t current_ = 0;
  TimeSteps clock_;
};

}  // namespace tally::detail
