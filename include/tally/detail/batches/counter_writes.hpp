#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/filters/outcomes.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally::detail {

/// Adds one to each of a key's counters.
inline InsertResult insert_at(CounterArray& counters, std::span<const std::uint64_t> offsets) noexcept {
  std::uint64_t greatest = 0;
  for (const std::uint64_t offset : offsets) greatest = std::max(greatest, counters.increment_at(offset));
  return greatest == counters.max() ? InsertResult::saturated : InsertResult::counted;
}

/// Subtracts one from each of a key's counters in turn. If a counter is 0 (perhaps because an earlier visit
/// lowered it, where two positions are equal), adds everything back. Saturated counters never changed.
inline RemoveResult remove_at(CounterArray& counters, std::span<const std::uint64_t> offsets) noexcept {
  RemoveResult result = RemoveResult::removed;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::uint64_t value = counters.get_at(offsets[i]);
    if (value == 0) {
      while (i-- > 0) counters.increment_at(offsets[i]);
      return RemoveResult::refused;
    }
    if (value == counters.max()) result = RemoveResult::saturated;
    counters.decrement_at(offsets[i]);
  }
  return result;
}

}  // namespace tally::detail
