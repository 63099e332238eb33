#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/hashing/hash_scheme.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally {

/// Keys whose lines are asked for before the first of them is touched. More bring
/// nothing: the processor's queue of outstanding misses is full long before.
inline constexpr std::size_t keys_per_window = 128;

/// Anything contiguous whose elements KeyHasher takes: texts, byte strings, integers, digests.
template <class Keys>
concept KeyBatch = requires(const Keys& keys, const KeyHasher& hasher) { hasher(std::span(keys)[0]); };

namespace detail {

/// Hashes the keys window by window: use(index of the window's first key, digests).
template <KeyBatch Keys, class Use>
void for_each_hashed_window(const KeyHasher& hasher, const Keys& key_range, Use use) {
  const std::span keys(key_range);
  std::array<Hash128, keys_per_window> hashes;
  for (std::size_t first = 0; first < keys.size(); first += keys_per_window) {
    const std::size_t count = std::min(keys_per_window, keys.size() - first);
    for (std::size_t i = 0; i < count; ++i) hashes[i] = hasher(keys[first + i]);
    use(first, std::span<const Hash128>(hashes.data(), count));
  }
}

/// For every digest in order: touch(index, its positions), the lines having been asked
/// for by prefetch(position) up to a window ahead.
template <HashScheme Scheme, class Prefetch, class Touch>
void touch_positions(const Scheme& scheme, std::uint32_t num_hashes, std::span<const Hash128> hashes,
                     Prefetch prefetch, Touch touch) {
  std::array<std::uint64_t, max_num_hashes> positions;
  const std::size_t window = std::clamp<std::size_t>(positions.size() / num_hashes, 1, keys_per_window);
  for (std::size_t first = 0; first < hashes.size(); first += window) {
    const std::size_t count = std::min(window, hashes.size() - first);
    std::uint64_t* next = positions.data();
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (Scheme::layout == PositionLayout::lines) prefetch(scheme.first_of_line(hashes[first + i]));
      scheme.all_positions(hashes[first + i], [&](std::uint64_t position) {
        *next++ = position;
        if constexpr (Scheme::layout != PositionLayout::lines) prefetch(position);
        return true;
      });
    }
    for (std::size_t i = 0; i < count; ++i) {
      touch(first + i, std::span<const std::uint64_t>(positions.data() + i * num_hashes, num_hashes));
    }
  }
}

/// results[i] = whether every position of hashes[i] passes the test.
///
/// Most absent keys fail within two positions, so only those two lines are asked for
/// at first, and the others only for the keys that are left. Where all positions of a
/// key share a line, they are tested without a branch.
template <HashScheme Scheme, class Prefetch, class Test>
void test_positions(const Scheme& scheme, std::uint32_t num_hashes, std::span<const Hash128> hashes,
                    Prefetch prefetch, Test test, std::span<bool> results) {
  if constexpr (Scheme::layout == PositionLayout::lines) {
    for (std::size_t first = 0; first < hashes.size(); first += keys_per_window) {
      const std::size_t end = std::min(first + keys_per_window, hashes.size());
      for (std::size_t i = first; i < end; ++i) prefetch(scheme.first_of_line(hashes[i]));
      for (std::size_t i = first; i < end; ++i) {
        bool all = true;
        scheme.all_positions(hashes[i], [&](std::uint64_t position) {
          all &= test(position);
          return true;
        });
        results[i] = all;
      }
    }
  } else {
    constexpr std::uint32_t num_first = 2;
    std::array<std::uint64_t, max_num_hashes> positions;
    std::array<std::uint32_t, keys_per_window> left;
    const std::size_t window = std::clamp<std::size_t>(positions.size() / num_hashes, 1, keys_per_window);
    const std::uint32_t split = std::min(num_first, num_hashes);
    for (std::size_t first = 0; first < hashes.size(); first += window) {
      const std::size_t count = std::min(window, hashes.size() - first);
      std::uint64_t* next = positions.data();
      for (std::size_t i = 0; i < count; ++i) {
        scheme.all_positions(hashes[first + i], [&](std::uint64_t position) {
          *next++ = position;
          return true;
        });
        for (const std::uint64_t* p = next - num_hashes; p != next - num_hashes + split; ++p) prefetch(*p);
      }
      std::size_t num_left = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t* own = positions.data() + i * num_hashes;
        bool all = true;
        for (std::uint32_t j = 0; j < split; ++j) all &= test(own[j]);
        results[first + i] = all;
        left[num_left] = static_cast<std::uint32_t>(i);
        if (!all) continue;
        ++num_left;
        for (std::uint32_t j = split; j < num_hashes; ++j) prefetch(own[j]);
      }
      for (std::size_t l = 0; l < num_left; ++l) {
        const std::uint64_t* own = positions.data() + left[l] * std::size_t{num_hashes};
        results[first + left[l]] = std::all_of(own + split, own + num_hashes, test);
      }
    }
  }
}

}  // namespace detail
}  // namespace tally
