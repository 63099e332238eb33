#pragma once

#include <atomic>
#include <cstdint>

#include "tally/storage/counter_array.hpp"

namespace tally::detail {

// CounterArray::increment_at and get_at for several threads at once, which call nothing else meanwhile. All such calls on
// all counters have one order (sequential consistency). A counter at its maximum is only read.

inline std::uint64_t increment_shared_at(CounterArray& counters, std::uint64_t offset) noexcept {
  const std::atomic_ref<std::uint64_t> word(counters.words()[offset / 64]);
  std::uint64_t seen = word.load();
  while (true) {
    const std::uint64_t value = seen >> offset % 64 & counters.max();
    if (value == counters.max()) return value;
    if (word.compare_exchange_weak(seen, seen + (std::uint64_t{1} << offset % 64))) return value + 1;
  }
}

inline std::uint64_t get_shared_at(CounterArray& counters, std::uint64_t offset) noexcept {
  return std::atomic_ref<std::uint64_t>(counters.words()[offset / 64]).load() >> offset % 64 & counters.max();
}

}  // namespace tally::detail
