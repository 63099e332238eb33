#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "tally/detail/batches/counter_reads.hpp"
#include "tally/detail/batches/key_places.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/shapes/counter_update.hpp"
#include "tally/storage/counter_view.hpp"

namespace tally::detail {

/// Adds one to each of a key's counters.
template <class Counters, class Places>
[[gnu::always_inline]] inline InsertResult insert_at(Counters counters, const Places& places) noexcept {
  std::uint32_t seen = 0;
  all_places(places, [&](std::uint64_t offset) {
    seen |= counters.raise_one_at(offset);
    return true;
  });
  return (seen & counter_saturated) != 0 ? InsertResult::saturated : InsertResult::counted;
}

/// Subtracts one from each of a key's counters in turn. If a counter is 0 (perhaps because an earlier visit
/// lowered it, where two positions are equal), adds everything back. Saturated counters never changed.
template <class Counters, class Places>
[[gnu::always_inline]] inline RemoveResult remove_at(Counters counters, const Places& places) noexcept {
  std::uint32_t seen = 0;
  std::uint32_t num_lowered = 0;
  const bool all = all_places(places, [&](std::uint64_t offset) {
    const std::uint32_t change = counters.lower_one_at(offset);
    if ((change & counter_was_zero) != 0) return false;
    seen |= change;
    ++num_lowered;
    return true;
  });
  if (all) return (seen & counter_saturated) != 0 ? RemoveResult::saturated : RemoveResult::removed;
  all_places(places, [&](std::uint64_t offset) {
    if (num_lowered == 0) return false;
    counters.raise_one_at(offset);
    --num_lowered;
    return true;
  });
  return RemoveResult::refused;
}

/// Does what raise_at does, `times` times.
template <class Counters>
void raise_by_at(Counters counters, std::span<const std::uint64_t> offsets, CounterUpdate update,
                 std::uint64_t times) noexcept {
  const std::uint64_t least = update == CounterUpdate::plain ? 0 : least_at(counters, offsets);
  for (const std::uint64_t offset : offsets) {
    const std::uint64_t before = update == CounterUpdate::plain ? counters.get_at(offset) : least;
    counters.raise_to_at(offset, before + std::min(times, counters.max() - before));
  }
}

/// Inserts a key into a ThresholdFilter; returns its smallest counter afterwards.
template <class Counters>
std::uint64_t raise_at(Counters counters, std::span<const std::uint64_t> offsets,
                       CounterUpdate update) noexcept {
  if (update == CounterUpdate::plain) {
    for (const std::uint64_t offset : offsets) counters.raise_one_at(offset);
    return least_at(counters, offsets);
  }
  const std::uint64_t least = least_at(counters, offsets);
  if (least == counters.max()) return least;
  for (const std::uint64_t offset : offsets) counters.raise_to_at(offset, least + 1);
  return least + 1;
}

}  // namespace tally::detail
