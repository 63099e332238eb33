#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "tally/detail/batches/blocked_kernels.hpp"
#include "tally/detail/batches/key_places.hpp"
#include "tally/detail/batches/near_keys.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/hashing/blocked_scheme.hpp"
#include "tally/hashing/hash_scheme.hpp"
#include "tally/storage/bit_array.hpp"

namespace tally {
class SharedBits;
}

namespace tally::detail {

/// Whether test(index) holds for every position of a key.
template <HashScheme Scheme, class Storage, class Test>
[[gnu::always_inline]] inline bool test_key(const Scheme& scheme, const Storage& storage, Hash128 hash,
                                            Test test) noexcept {
  return scheme.all_positions(hash, [&](std::uint64_t position) { return test(storage.locate(position)); });
}

/// The same, by testing all positions: without a branch, which would be mispredicted for most absent keys. This is faster
/// than test_key if all positions share a line that is in a cache, and slower while lines come from memory.
template <HashScheme Scheme, class Storage, class Test>
[[gnu::always_inline]] inline bool test_whole_key(const Scheme& scheme, const Storage& storage, Hash128 hash,
                                                  Test test) noexcept {
  bool all = true;
  scheme.all_positions(hash, [&](std::uint64_t position) {
    all &= test(storage.locate(position));
    return true;
  });
  return all;
}

/// results[i] = test_key(keys[i]), for a storage in a large cache.
///
/// Most absent keys fail within two positions. So only those two lines are prefetched at first, and the
/// others halfway, for the keys that are left.
template <HashScheme Scheme, class Storage, KeyBatch Keys, class Test>
void test_halfway(const KeyHasher& hasher, const Scheme& scheme, const Storage& storage,
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

/// The most keys that test_in_rounds has under way.
inline constexpr std::size_t most_keys_per_part = 256;

/// results[i] = test_key(keys[i]), for a storage in memory, where every line counts.
///
/// A part of the keys goes through their positions in rounds, one position each. A round prefetches the next line of the
/// keys that are left, and of no others: half of the absent keys leave in every round. It has no branch, which would be
/// mispredicted for every other absent key.
template <HashScheme Scheme, class Storage, KeyBatch Keys, class Test>
void test_in_rounds(const KeyHasher& hasher, const Scheme& scheme, const Storage& storage,
                    std::uint32_t num_hashes, const Keys& key_range, Test test, std::span<bool> results) {
  assert_uniform(key_range);
  const std::span keys(key_range);
  std::array<std::uint64_t, std::size_t{2} * max_num_hashes> offsets;
  std::array<std::uint16_t, most_keys_per_part> left;
  const std::size_t keys_per_part = std::clamp<std::size_t>(offsets.size() / num_hashes, 1, left.size());
  for (std::size_t first = 0; first < keys.size(); first += keys_per_part) {
    std::size_t num_left = std::min(keys_per_part, keys.size() - first);
    for (std::size_t i = 0; i < num_left; ++i) {
      std::uint64_t* const own = offsets.data() + i * num_hashes;
      find_offsets(scheme, storage, hasher(keys[first + i]), own);
      storage.prefetch_for_read(own[0]);
      left[i] = static_cast<std::uint16_t>(i);
    }
    for (std::uint32_t j = 0; j < num_hashes && num_left > 0; ++j) {
      const std::uint32_t next = std::min(j + 1, num_hashes - 1);
      std::size_t num_kept = 0;
      for (std::size_t i = 0; i < num_left; ++i) {
        const std::uint16_t key = left[i];
        const std::uint64_t* const own = offsets.data() + key * num_hashes;
        const bool passes = test(own[j]);
        storage.prefetch_for_read(own[passes ? next : j]);
        results[first + key] = passes;
        left[num_kept] = key;
        num_kept += passes;
      }
      num_left = num_kept;
    }
  }
}

/// results[i] = test_key(keys[i]).
template <HashScheme Scheme, class Storage, KeyBatch Keys, class Test>
void test_keys(const KeyHasher& hasher, const Scheme& scheme, const Storage& storage,
               std::uint32_t num_hashes, const Keys& keys, Test test, std::span<bool> results) {
  if (is_near(storage)) {
    return one_by_one(hasher, keys, [&](std::size_t i, Hash128 hash) {
      results[i] = test_key(scheme, storage, hash, test);
    });
  }
  if (is_near(storage, cached_bytes))
    return test_halfway(hasher, scheme, storage, num_hashes, keys, test, results);
  test_in_rounds(hasher, scheme, storage, num_hashes, keys, test, results);
}

/// The same if all positions of a key share a line: tested without a branch, window by window.
template <HashScheme Scheme, class Storage, KeyBatch Keys, class Test>
requires(is_in_one_line(Scheme::layout)) void test_keys(const KeyHasher& hasher, const Scheme& scheme,
                                                        const Storage& storage, std::uint32_t num_hashes,
                                                        const Keys& key_range, Test test,
                                                        std::span<bool> results) {
  assert_uniform(key_range);
  const std::span keys(key_range);
  std::array<std::uint64_t, most_keys_ahead> low;
  std::array<std::uint64_t, most_keys_ahead> high;
  std::array<const std::uint64_t*, most_keys_ahead> lines;
  constexpr bool is_bits = std::is_same_v<Storage, BitArray> || std::is_same_v<Storage, SharedBits>;
  const TestLines test_lines =
      is_bits && std::is_same_v<Scheme, BlockedScheme> ? blocked_line_test() : nullptr;
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
      results[first + i] = test_whole_key(scheme, storage, {low[i], high[i]}, test);
    }
  }
}

}  // namespace tally::detail
