#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "tally/detail/batches/blocked_kernels.hpp"
#include "tally/hashing/blocked_scheme.hpp"
#include "tally/hashing/hash_scheme.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/storage/bit_array.hpp"

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

/// How many keys to prefetch ahead. A larger number gains nothing: the processor's queue of outstanding cache
/// misses is full long before.
inline constexpr std::size_t most_keys_ahead = 64;

/// In builds with assertions: stops at a batch of digests that no uniform hash gives (see Hash128): in all of them one half is
/// the same, or both halves are equal.
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

/// Writes the storage indices of a key's positions to `offsets`.
template <HashScheme Scheme, class Storage>
void find_offsets(const Scheme& scheme, const Storage& storage, Hash128 hash,
                  std::uint64_t* offsets) noexcept {
  scheme.all_positions(hash, [&](std::uint64_t position) {
    *offsets++ = storage.locate(position);
    return true;
  });
}

/// Calls touch(the storage indices of one key's positions).
template <HashScheme Scheme, class Storage, class Touch>
void touch_key(const Scheme& scheme, const Storage& storage, std::uint32_t num_hashes, Hash128 hash,
               Touch touch) {
  std::array<std::uint64_t, max_num_hashes> offsets;
  find_offsets(scheme, storage, hash, offsets.data());
  touch(std::span<const std::uint64_t>(offsets.data(), num_hashes));
}

/// For every key in order, calls touch(index, the storage indices of its positions), with their lines
/// prefetched well before.
template <Access access, HashScheme Scheme, class Storage, KeyBatch Keys, class Touch>
void touch_keys(const KeyHasher& hasher, const Scheme& scheme, const Storage& storage,
                std::uint32_t num_hashes, const Keys& keys, Touch touch) {
  std::array<std::uint64_t, max_num_hashes> offsets;
  const auto prepare = [&](std::size_t slot, Hash128 hash) {
    std::uint64_t* const own = offsets.data() + slot * num_hashes;
    find_offsets(scheme, storage, hash, own);
    const std::uint32_t num_lines = Scheme::layout == PositionLayout::lines ? 1 : num_hashes;
    for (std::uint32_t i = 0; i < num_lines; ++i) prefetch_at<access>(storage, own[i]);
  };
  const auto use = [&](std::size_t i, std::size_t slot) {
    touch(i, std::span<const std::uint64_t>(offsets.data() + slot * num_hashes, num_hashes));
  };
  run_ahead(hasher, keys, std::clamp<std::size_t>(offsets.size() / num_hashes, 1, most_keys_ahead), prepare,
            use);
}

/// The same if all positions of a key share a line. It processes a window of keys after prefetching all lines
/// of the window. This measured faster here than run_ahead, which alternates touches and prefetches.
template <Access access, HashScheme Scheme, class Storage, KeyBatch Keys, class Touch>
requires(Scheme::layout ==
         PositionLayout::lines) void touch_keys(const KeyHasher& hasher, const Scheme& scheme,
                                                const Storage& storage, std::uint32_t num_hashes,
                                                const Keys& key_range, Touch touch) {
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
    for (std::size_t i = 0; i < count; ++i) {
      touch_key(scheme, storage, num_hashes, {low[i], high[i]},
                [&](std::span<const std::uint64_t> offsets) { touch(first + i, offsets); });
    }
  }
}

/// results[i] = whether test(index) holds for every position of keys[i].
///
/// Most absent keys fail within two positions. So only those two lines are prefetched at first, and the
/// others halfway, for the keys that are left.
template <HashScheme Scheme, class Storage, KeyBatch Keys, class Test>
void test_keys(const KeyHasher& hasher, const Scheme& scheme, const Storage& storage,
               std::uint32_t num_hashes, const Keys& keys, Test test, std::span<bool> results) {
  enum class State : std::uint8_t { fresh, failed, passed_first };
  std::array<std::uint64_t, std::size_t{2} * max_num_hashes> offsets;
  std::array<State, 2 * most_keys_ahead> states;
  const std::size_t half = std::clamp<std::size_t>(max_num_hashes / num_hashes, 1, most_keys_ahead);
  const std::uint32_t num_first = std::min(std::uint32_t{2}, num_hashes);
  std::size_t num_prepared = 0;

  const auto test_first = [&](std::size_t slot) {
    const std::uint64_t* const own = offsets.data() + slot * num_hashes;
    bool all = true;
    for (std::uint32_t j = 0; j < num_first; ++j) all &= test(own[j]);
    states[slot] = all ? State::passed_first : State::failed;
    if (!all) return;
    for (std::uint32_t j = num_first; j < num_hashes; ++j) storage.prefetch_for_read(own[j]);
  };
  const auto prepare = [&](std::size_t slot, Hash128 hash) {
    std::uint64_t* const own = offsets.data() + slot * num_hashes;
    find_offsets(scheme, storage, hash, own);
    for (std::uint32_t j = 0; j < num_first; ++j) storage.prefetch_for_read(own[j]);
    states[slot] = State::fresh;
    if (num_prepared++ >= half) test_first(slot >= half ? slot - half : slot + half);
  };
  const auto use = [&](std::size_t i, std::size_t slot) {
    if (states[slot] == State::fresh) test_first(slot);  // among the last keys of the batch
    const std::uint64_t* const own = offsets.data() + slot * num_hashes;
    results[i] = states[slot] == State::passed_first && std::all_of(own + num_first, own + num_hashes, test);
  };
  run_ahead(hasher, keys, 2 * half, prepare, use);
}

/// The same if all positions of a key share a line: tested without a branch, window by window.
template <HashScheme Scheme, class Storage, KeyBatch Keys, class Test>
requires(Scheme::layout ==
         PositionLayout::lines) void test_keys(const KeyHasher& hasher, const Scheme& scheme,
                                               const Storage& storage, std::uint32_t num_hashes,
                                               const Keys& key_range, Test test, std::span<bool> results) {
  assert_uniform(key_range);
  const std::span keys(key_range);
  std::array<std::uint64_t, most_keys_ahead> low;
  std::array<std::uint64_t, most_keys_ahead> high;
  std::array<const std::uint64_t*, most_keys_ahead> lines;
  constexpr bool is_bits = std::is_same_v<Storage, BitArray> && std::is_same_v<Scheme, BlockedScheme>;
  const TestLines test_lines = is_bits ? blocked_line_test() : nullptr;
  for (std::size_t first = 0; first < keys.size(); first += most_keys_ahead) {
    const std::size_t count = std::min(most_keys_ahead, keys.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      const Hash128 hash = hasher(keys[first + i]);
      low[i] = hash.low;
      high[i] = hash.high;
      const std::uint64_t offset = storage.locate(scheme.first_of_line(hash));
      lines[i] = storage.words().data() + offset / 64;
      storage.prefetch_for_read(offset);
    }
    if (test_lines != nullptr) {
      test_lines(lines.data(), low.data(), high.data(), num_hashes, count, results.data() + first);
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      bool all = true;
      scheme.all_positions({low[i], high[i]}, [&](std::uint64_t position) {
        all &= test(storage.locate(position));
        return true;
      });
      results[first + i] = all;
    }
  }
}

}  // namespace detail
}  // namespace tally
