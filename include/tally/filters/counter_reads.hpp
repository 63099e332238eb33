#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "tally/filters/key_batch.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally::detail {

/// results[i] = whether all counters of keys[i] are at least `theta`.
template <HashScheme Scheme, KeyBatch Keys>
void counters_pass(const KeyHasher& hasher, const Scheme& scheme, std::uint32_t num_hashes,
                   const CounterArray& counters, const Keys& keys, std::uint64_t theta,
                   std::span<bool> results) {
  const auto passes = [&](std::uint64_t place) { return counters.get_at(place) >= theta; };
  test_keys(hasher, scheme, counters, num_hashes, keys, passes, results);
}

/// The least counter of a key, and whether it is saturated.
template <HashScheme Scheme>
Count least_counter(const Scheme& scheme, const CounterArray& counters, Hash128 hash) noexcept {
  std::uint64_t least = counters.max();
  scheme.all_positions(hash, [&](std::uint64_t position) {
    least = std::min(least, counters.get(position));
    return least != 0;
  });
  return {least, least == counters.max()};
}

/// results[i] = least_counter(keys[i]).
template <HashScheme Scheme, KeyBatch Keys>
void count_keys(const KeyHasher& hasher, const Scheme& scheme, std::uint32_t num_hashes,
                const CounterArray& counters, const Keys& keys, std::span<Count> results) {
  const auto touch = [&](std::size_t i, std::span<const std::uint64_t> places) {
    std::uint64_t least = counters.max();
    for (const std::uint64_t place : places) least = std::min(least, counters.get_at(place));
    results[i] = {least, least == counters.max()};
  };
  touch_keys<Access::read>(hasher, scheme, counters, num_hashes, keys, touch);
}

}  // namespace tally::detail
