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
                   const CounterArray& counters, const Keys& keys, std::uint64_t theta, std::span<bool> results) {
  for_each_hashed_window(hasher, keys, [&](std::size_t first, std::span<const Hash128> hashes) {
    test_positions(
        scheme, num_hashes, hashes, [&](std::uint64_t position) { counters.prefetch_for_read(position); },
        [&](std::uint64_t position) { return counters.get(position) >= theta; },
        results.subspan(first, hashes.size()));
  });
}

/// results[i] = the least counter of keys[i], and whether it is saturated.
template <HashScheme Scheme, KeyBatch Keys>
void count_positions(const KeyHasher& hasher, const Scheme& scheme, std::uint32_t num_hashes,
                     const CounterArray& counters, const Keys& keys, std::span<Count> results) {
  for_each_hashed_window(hasher, keys, [&](std::size_t first, std::span<const Hash128> hashes) {
    touch_positions(
        scheme, num_hashes, hashes, [&](std::uint64_t position) { counters.prefetch_for_read(position); },
        [&](std::size_t i, std::span<const std::uint64_t> positions) {
          std::uint64_t least = counters.max();
          for (const std::uint64_t position : positions) least = std::min(least, counters.get(position));
          results[first + i] = {least, least == counters.max()};
        });
  });
}

}  // namespace tally::detail
