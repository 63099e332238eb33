#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "tally/detail/batches/test_keys.hpp"
#include "tally/detail/batches/touch_keys.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/storage/nibble_counters.hpp"

namespace tally::detail {

/// results[i] = whether all counters of keys[i] are at least `theta`.
template <HashScheme Scheme, KeyBatch Keys>
void counters_pass(const KeyHasher& hasher, const Scheme& scheme, std::uint32_t num_hashes,
                   const CounterArray& array, const Keys& keys, std::uint64_t theta,
                   std::span<bool> results) {
  with_counters(array, [&](auto counters) {
    const auto passes = [counters, theta](std::uint64_t offset) { return counters.get_at(offset) >= theta; };
    test_keys(hasher, scheme, counters, num_hashes, keys, passes, results);
  });
}

/// Whether all counters of a key are at least `theta`.
template <HashScheme Scheme>
[[gnu::always_inline]] inline bool counters_pass(const Scheme& scheme, const CounterArray& array,
                                                 Hash128 hash, std::uint64_t theta) noexcept {
  return with_counters(array, [&](auto counters) {
    return test_key(scheme, counters, hash,
                    [=](std::uint64_t offset) { return counters.get_at(offset) >= theta; });
  });
}

/// The smallest of the counters at these places.
template <class Counters, class Places>
[[gnu::always_inline]] inline std::uint64_t least_at(Counters counters, const Places& places) noexcept {
  std::uint64_t least = counters.max();
  all_places(places, [&](std::uint64_t offset) {
    least = std::min(least, counters.get_at(offset));
    return true;
  });
  return least;
}

/// The smallest counter of a key, and whether it is saturated.
template <HashScheme Scheme>
Count least_counter(const Scheme& scheme, const CounterArray& array, Hash128 hash) noexcept {
  return with_counters(array, [&](auto counters) {
    const std::uint64_t least = least_at(counters, KeyPlaces(scheme, counters, hash));
    return Count{least, least == counters.max()};
  });
}

/// results[i] = least_counter(keys[i]).
template <HashScheme Scheme, KeyBatch Keys>
void count_keys(const KeyHasher& hasher, const Scheme& scheme, std::uint32_t num_hashes,
                const CounterArray& array, const Keys& keys, std::span<Count> results) {
  with_counters(array, [&](auto counters) {
    const auto touch = [results, counters](std::size_t i, const auto& places) {
      const std::uint64_t least = least_at(counters, places);
      results[i] = {least, least == counters.max()};
    };
    touch_keys<Access::read, Visits::one>(hasher, scheme, counters, num_hashes, keys, touch);
  });
}

/// sums[i].value += least_counter(keys[i]), for keys of which most are absent. Two counters of each key are
/// tested first, without a branch; the other counters are read only if both are not 0.
template <HashScheme Scheme, KeyBatch Keys>
void add_rare_counts(const KeyHasher& hasher, const Scheme& scheme, std::uint32_t num_hashes,
                     const CounterArray& array, const Keys& key_range, std::span<Count> sums) {
  const CounterView<false, const std::uint64_t> counters(array, array.words());
  constexpr std::size_t keys_per_part = 512;
  const std::span keys(key_range);
  std::array<Hash128, keys_per_part> digests;
  std::array<std::uint16_t, keys_per_part> left;
  std::array<std::array<std::uint64_t, 2>, most_keys_ahead> first_offsets;
  for (std::size_t begin = 0; begin < keys.size(); begin += keys_per_part) {
    const std::span part = keys.subspan(begin, std::min(keys_per_part, keys.size() - begin));
    std::size_t num_hashed = 0;
    std::size_t num_left = 0;
    const auto prepare = [&](std::size_t slot, Hash128 digest) {
      digests[num_hashed++] = digest;
      std::uint32_t num_offsets = 0;
      scheme.all_positions(digest, [&](std::uint64_t position) {
        const std::uint64_t offset = counters.locate(position);
        counters.prefetch_for_read(offset);
        first_offsets[slot][num_offsets] = offset;
        return ++num_offsets < 2;
      });
      if (num_hashes == 1) first_offsets[slot][1] = first_offsets[slot][0];
    };
    const auto keep_if_taken = [&](std::size_t i, std::size_t slot) {
      const auto [first, second] = first_offsets[slot];
      left[num_left] = static_cast<std::uint16_t>(i);
      bool both = counters.get_at(first) != 0;
      both &= counters.get_at(second) != 0;
      num_left += both;
    };
    run_ahead(hasher, part, most_keys_ahead, prepare, keep_if_taken);

    for (std::size_t j = 0; j < num_left; ++j) digests[j] = digests[left[j]];
    const auto add = [&](std::size_t j, std::span<const std::uint64_t> offsets) {
      sums[begin + left[j]].value += least_at(counters, offsets);
    };
    touch_keys<Access::read, Visits::several>(hasher, scheme, counters, num_hashes,
                                              std::span(digests).first(num_left), add);
  }
}

}  // namespace tally::detail
