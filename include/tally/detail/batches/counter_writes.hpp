#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/filters/outcomes.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally::detail {

/// Adds one to each of a key's counters.
inline InsertResult insert_places(CounterArray& counters, std::span<const std::uint64_t> places) noexcept {
  std::uint64_t greatest = 0;
  for (const std::uint64_t place : places) greatest = std::max(greatest, counters.increment_at(place));
  return greatest == counters.max() ? InsertResult::saturated : InsertResult::counted;
}

/// Takes one from each of a key's counters in turn; at a counter that is 0 (which an earlier visit may have
/// made it, where two positions are alike) gives back what it took. Counters that stick never moved.
inline RemoveResult remove_places(CounterArray& counters, std::span<const std::uint64_t> places) noexcept {
  RemoveResult result = RemoveResult::removed;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::uint64_t value = counters.get_at(places[i]);
    if (value == 0) {
      while (i-- > 0) counters.increment_at(places[i]);
      return RemoveResult::refused;
    }
    if (value == counters.max()) result = RemoveResult::saturated;
    counters.decrement_at(places[i]);
  }
  return result;
}

}  // namespace tally::detail
