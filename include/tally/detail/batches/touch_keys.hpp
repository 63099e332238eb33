#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/batches/key_places.hpp"
#include "tally/detail/batches/near_keys.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/hashing/hash_scheme.hpp"

namespace tally::detail {

/// Calls touch(places) with the storage indices of one key's positions, for all_places. For several visits they are a
/// std::span, because computing them again takes longer than storing them.
template <Visits visits, HashScheme Scheme, class Storage, class Touch>
void touch_key(const Scheme& scheme, const Storage& storage, std::uint32_t num_hashes, Hash128 hash,
               Touch touch) {
  if constexpr (visits == Visits::one) {
    touch(KeyPlaces(scheme, storage, hash));
  } else {
    std::array<std::uint64_t, max_num_hashes> offsets;
    find_offsets(scheme, storage, hash, offsets.data());
    touch(std::span<const std::uint64_t>(offsets.data(), num_hashes));
  }
}

/// For every key in order, calls touch(index, places) as touch_key does. Unless the storage is near, the lines are
/// prefetched well before.
template <Access access, Visits visits, HashScheme Scheme, class Storage, KeyBatch Keys, class Touch>
void touch_keys(const KeyHasher& hasher, const Scheme& scheme, const Storage& storage,
                std::uint32_t num_hashes, const Keys& keys, Touch touch) {
  if (is_near(storage, near_bytes_to_touch<Scheme, Storage, visits>())) {
    return one_by_one(hasher, keys, [&](std::size_t i, Hash128 hash) {
      touch_key<visits>(scheme, storage, num_hashes, hash, [&](const auto& places) { touch(i, places); });
    });
  }
  std::array<std::uint64_t, max_num_hashes> offsets;
  const auto prepare = [&](std::size_t slot, Hash128 hash) {
    std::uint64_t* const own = offsets.data() + slot * num_hashes;
    find_offsets(scheme, storage, hash, own);
    const std::uint32_t num_lines = is_in_one_line(Scheme::layout) ? 1 : num_hashes;
    for (std::uint32_t i = 0; i < num_lines; ++i) prefetch_at<access>(storage, own[i]);
  };
  const auto use = [&](std::size_t i, std::size_t slot) {
    touch(i, std::span<const std::uint64_t>(offsets.data() + slot * num_hashes, num_hashes));
  };
  run_ahead(hasher, keys, std::clamp<std::size_t>(offsets.size() / num_hashes, 1, most_keys_ahead), prepare,
            use);
}

/// The same if all positions of a key share a line. If the storage is not near, it processes a window of keys
/// after prefetching all lines of the window. This measured faster here than run_ahead, which alternates touches
/// and prefetches.
template <Access access, Visits visits, HashScheme Scheme, class Storage, KeyBatch Keys, class Touch>
requires(is_in_one_line(Scheme::layout)) void touch_keys(const KeyHasher& hasher, const Scheme& scheme,
                                                         const Storage& storage, std::uint32_t num_hashes,
                                                         const Keys& key_range, Touch touch) {
  const auto touch_one = [&](std::size_t i, Hash128 hash) {
    touch_key<visits>(scheme, storage, num_hashes, hash, [&](const auto& places) { touch(i, places); });
  };
  if (is_near(storage, near_bytes_to_touch<Scheme, Storage, visits>())) {
    return one_by_one(hasher, key_range, touch_one);
  }
  assert_uniform(key_range);
  const std::span keys(key_range);
  // Two arrays, because g++ moves a digest that a call returned through memory, which costs more than the
  // touch.
  std::array<std::uint64_t, most_keys_ahead> low;
  std::array<std::uint64_t, most_keys_ahead> high;
  for (std::size_t first = 0; first < keys.size(); first += most_keys_ahead) {
    const std::size_t count = std::min(most_keys_ahead, keys.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      const Hash128 hash = hasher(keys[first + i]);
      low[i] = hash.low;
      high[i] = hash.high;
      prefetch_at<access>(storage, storage.locate(scheme.first_of_line(hash)));
    }
    for (std::size_t i = 0; i < count; ++i) touch_one(first + i, {low[i], high[i]});
  }
}

}  // namespace tally::detail
