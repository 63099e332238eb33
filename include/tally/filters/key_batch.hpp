#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "tally/filters/outcomes.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally {

/// A good batch size for a caller that divides a stream into batches.
inline constexpr std::size_t keys_per_window = 128;

/// Anything contiguous whose elements are keys.
template <class Keys>
concept KeyBatch = requires(const Keys& keys) {
  { std::span(keys)[0] } -> Key;
};

/// Anything that can be iterated over, whose elements are keys.
template <class Range>
concept KeyRange = requires(Range& range) {
  { *std::begin(range) } -> Key;
  std::end(range);
};

namespace detail {

/// Calls use(batch) with all keys of a range: with the range itself if it is a KeyBatch, else with windows of digests.
template <class Range, class Use>
void in_batches(const KeyHasher& hasher, Range& range, Use use) {
  if constexpr (KeyBatch<Range>) {
    use(range);
  } else {
    std::array<Hash128, keys_per_window> digests;
    std::size_t count = 0;
    for (auto&& key : range) {
      digests[count++] = hasher(key);
      if (count < digests.size()) continue;
      use(std::span<const Hash128>(digests));
      count = 0;
    }
    use(std::span<const Hash128>(digests.data(), count));
  }
}

/// Calls use(index of the first key, digests) for all keys of a batch, in order: for the batch itself if it is of
/// digests, else for windows of digests.
template <KeyBatch Keys, class Use>
void in_windows(const KeyHasher& hasher, const Keys& key_range, Use use) {
  const std::span keys(key_range);
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(keys[0])>, Hash128>) {
    use(0, std::span<const Hash128>(keys));
  } else {
    std::array<Hash128, keys_per_window> digests;
    for (std::size_t first = 0; first < keys.size(); first += keys_per_window) {
      const std::size_t count = std::min(keys_per_window, keys.size() - first);
      for (std::size_t i = 0; i < count; ++i) digests[i] = hasher(keys[first + i]);
      use(first, std::span<const Hash128>(digests.data(), count));
    }
  }
}

/// Calls insert(window, results) for windows of all keys of a range; returns how many results are `full`.
template <class Range, class Insert>
std::uint64_t insert_range_with_results(const KeyHasher& hasher, Range& range, Insert insert) {
  std::uint64_t num_full = 0;
  std::array<InsertResult, 16 * keys_per_window> memory;
  in_batches(hasher, range, [&](const auto& batch) {
    const std::span all(batch);
    for (std::size_t first = 0; first < all.size(); first += memory.size()) {
      const auto window = all.subspan(first, std::min(memory.size(), all.size() - first));
      const std::span results = std::span(memory).first(window.size());
      insert(window, results);
      num_full += static_cast<std::uint64_t>(std::ranges::count(results, InsertResult::full));
    }
  });
  return num_full;
}

/// How many keys to prefetch ahead. A larger number gains nothing: the processor's queue of outstanding cache
/// misses is full long before.
inline constexpr std::size_t most_keys_ahead = 64;

/// In builds with assertions: stops at a batch of digests that no uniform hash gives (see Hash128): in all of them one
/// half is the same, or both halves are equal.
template <class Keys>
void assert_uniform(const Keys& key_range) noexcept {
#ifndef NDEBUG
  const std::span keys(key_range);
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(keys[0])>, Hash128>) {
    constexpr std::size_t least_keys = 4;
    if (keys.size() < least_keys) return;
    const Hash128 first = keys[0];
    const auto all = [&](auto holds) { return std::all_of(keys.begin(), keys.end(), holds); };
    const bool all_equal = all([&](const Hash128& digest) { return digest == first; });
    assert((all_equal || !all([&](const Hash128& digest) { return digest.low == first.low; })) &&
           "the low halves of the digests are constant; see tally::digest_from");
    assert((all_equal || !all([&](const Hash128& digest) { return digest.high == first.high; })) &&
           "the high halves of the digests are constant; see tally::digest_from");
    assert(!all([&](const Hash128& digest) { return digest.low == digest.high; }) &&
           "the halves of each digest are equal; see tally::digest_from");
  }
#endif
  (void)key_range;
}

/// For every key in order, calls use(its index, slot), and `distance` keys earlier prepare(slot, its digest).
/// Slots are below `distance`. So one key is hashed and its positions are computed while the lines of other
/// keys are being loaded.
template <KeyBatch Keys, class Prepare, class Use>
void run_ahead(const KeyHasher& hasher, const Keys& key_range, std::size_t distance, Prepare prepare,
               Use use) {
  assert_uniform(key_range);
  const std::span keys(key_range);
  const std::size_t num_ahead = std::min(distance, keys.size());
  for (std::size_t i = 0; i < num_ahead; ++i) prepare(i, hasher(keys[i]));
  std::size_t slot = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    use(i, slot);
    if (i + distance < keys.size()) prepare(slot, hasher(keys[i + distance]));
    slot = slot + 1 == distance ? 0 : slot + 1;
  }
}

enum class Access : bool { read, write };

template <Access access, class Storage>
void prefetch_at(const Storage& storage, std::uint64_t offset) noexcept {
  if constexpr (access == Access::write) {
    storage.prefetch_for_write(offset);
  } else {
    storage.prefetch_for_read(offset);
  }
}

}  // namespace detail
}  // namespace tally
