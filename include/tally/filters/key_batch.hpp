#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

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

/// Hashes the keys window by window (digests are passed on as they are): use(index of the first key, digests).
template <KeyBatch Keys, class Use>
void for_each_hashed_window(const KeyHasher& hasher, const Keys& key_range, Use use) {
  const std::span keys(key_range);
  if constexpr (std::is_same_v<std::remove_cv_t<typename decltype(keys)::element_type>, Hash128>) {
    use(0, std::span<const Hash128>(keys));
    return;
  }
  std::array<Hash128, keys_per_window> hashes;
  for (std::size_t first = 0; first < keys.size(); first += keys_per_window) {
    const std::size_t count = std::min(keys_per_window, keys.size() - first);
    for (std::size_t i = 0; i < count; ++i) hashes[i] = hasher(keys[first + i]);
    use(first, std::span<const Hash128>(hashes.data(), count));
  }
}

enum class Access : bool { read, write };

template <Access access, class Storage>
void prefetch_place(const Storage& storage, std::uint64_t place) noexcept {
  if constexpr (access == Access::write) {
    storage.prefetch_for_write(place);
  } else {
    storage.prefetch_for_read(place);
  }
}

/// The places of one key's positions.
template <HashScheme Scheme, class Storage, class Touch>
void touch_key(const Scheme& scheme, const Storage& storage, std::uint32_t num_hashes, Hash128 hash, Touch touch) {
  std::array<std::uint64_t, max_num_hashes> places;
  std::uint64_t* next = places.data();
  scheme.all_positions(hash, [&](std::uint64_t position) {
    *next++ = storage.locate(position);
    return true;
  });
  touch(std::span<const std::uint64_t>(places.data(), num_hashes));
}

/// Asks for the lines of one key.
template <HashScheme Scheme, class Storage>
void prefetch_key(const Scheme& scheme, const Storage& storage, Hash128 hash) noexcept {
  if constexpr (Scheme::layout == PositionLayout::lines) {
    storage.prefetch_for_write(storage.locate(scheme.first_of_line(hash)));
  } else {
    scheme.all_positions(hash, [&](std::uint64_t position) {
      storage.prefetch_for_write(storage.locate(position));
      return true;
    });
  }
}

/// For every digest in order: touch(index, the places of its positions), the lines having
/// been asked for up to a window ahead.
template <Access access, HashScheme Scheme, class Storage, class Touch>
void touch_keys(const Scheme& scheme, const Storage& storage, std::uint32_t num_hashes,
                std::span<const Hash128> hashes, Touch touch) {
  std::array<std::uint64_t, max_num_hashes> places;
  const std::size_t window = std::clamp<std::size_t>(places.size() / num_hashes, 1, keys_per_window);
  for (std::size_t first = 0; first < hashes.size(); first += window) {
    const std::size_t count = std::min(window, hashes.size() - first);
    std::uint64_t* next = places.data();
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (Scheme::layout == PositionLayout::lines) {
        prefetch_place<access>(storage, storage.locate(scheme.first_of_line(hashes[first + i])));
      }
      scheme.all_positions(hashes[first + i], [&](std::uint64_t position) {
        const std::uint64_t place = storage.locate(position);
        *next++ = place;
        if constexpr (Scheme::layout != PositionLayout::lines) prefetch_place<access>(storage, place);
        return true;
      });
    }
    for (std::size_t i = 0; i < count; ++i) {
      touch(first + i, std::span<const std::uint64_t>(places.data() + i * num_hashes, num_hashes));
    }
  }
}

/// results[i] = whether test(place) holds for every position of hashes[i], whose lines share
/// nothing: most absent keys fail within two positions, so only those two lines are asked
/// for at first, and the others only for the keys that are left.
template <HashScheme Scheme, class Storage, class Test>
void test_keys(const Scheme& scheme, const Storage& storage, std::uint32_t num_hashes, std::span<const Hash128> hashes,
               Test test, std::span<bool> results) {
  std::array<std::uint64_t, max_num_hashes> places;
  std::array<std::uint32_t, keys_per_window> left;
  const std::size_t window = std::clamp<std::size_t>(places.size() / num_hashes, 1, keys_per_window);
  const std::uint32_t split = std::min(std::uint32_t{2}, num_hashes);
  for (std::size_t first = 0; first < hashes.size(); first += window) {
    const std::size_t count = std::min(window, hashes.size() - first);
    std::uint64_t* next = places.data();
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t* const own = next;
      scheme.all_positions(hashes[first + i], [&](std::uint64_t position) {
        *next++ = storage.locate(position);
        return true;
      });
      for (std::uint32_t j = 0; j < split; ++j) storage.prefetch_for_read(own[j]);
    }
    std::size_t num_left = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t* const own = places.data() + i * num_hashes;
      bool all = true;
      for (std::uint32_t j = 0; j < split; ++j) all &= test(own[j]);
      results[first + i] = all;
      left[num_left] = static_cast<std::uint32_t>(i);
      if (!all) continue;
      ++num_left;
      for (std::uint32_t j = split; j < num_hashes; ++j) storage.prefetch_for_read(own[j]);
    }
    for (std::size_t l = 0; l < num_left; ++l) {
      const std::uint64_t* const own = places.data() + left[l] * std::size_t{num_hashes};
      results[first + left[l]] = std::all_of(own + split, own + num_hashes, test);
    }
  }
}

/// The same where all positions of a key share a line: tested without a branch.
template <HashScheme Scheme, class Storage, class Test>
requires(Scheme::layout == PositionLayout::lines)
void test_keys(const Scheme& scheme, const Storage& storage, std::uint32_t, std::span<const Hash128> hashes, Test test,
               std::span<bool> results) {
  for (std::size_t first = 0; first < hashes.size(); first += keys_per_window) {
    const std::size_t end = std::min(first + keys_per_window, hashes.size());
    for (std::size_t i = first; i < end; ++i) {
      storage.prefetch_for_read(storage.locate(scheme.first_of_line(hashes[i])));
    }
    for (std::size_t i = first; i < end; ++i) {
      bool all = true;
      scheme.all_positions(hashes[i], [&](std::uint64_t position) {
        all &= test(storage.locate(position));
        return true;
      });
      results[i] = all;
    }
  }
}

}  // namespace detail
}  // namespace tally
