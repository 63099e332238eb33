#pragma once

#include <cstddef>
#include <span>

#include "tally/filters/key_batch.hpp"
#include "tally/hashing/hash_scheme.hpp"
#include "tally/storage/bit_array.hpp"
#include "tally/storage/nibble_counters.hpp"

namespace tally::detail {

/// How often an operation visits a key's places: once, or more than once.
enum class Visits : bool { one, several };

/// Up to this many bytes a batch takes its keys one by one and prefetches nothing: then the words are probably in a cache,
/// and the processor itself loads the lines of the next keys while it works on one. How many keys it has under way depends
/// on the number of instructions that each key takes.
inline constexpr std::size_t near_bytes = std::size_t{6} << 20;
/// The same for operations with many instructions per key.
inline constexpr std::size_t near_bytes_of_slow_keys = std::size_t{1} << 20;
/// Up to this many bytes the words are probably in a cache that cores share.
inline constexpr std::size_t cached_bytes = std::size_t{32} << 20;

/// Whether a change of a position takes few instructions.
template <class Storage>
inline constexpr bool is_quick = false;
template <>
inline constexpr bool is_quick<BitArray> = true;
template <class Word>
inline constexpr bool is_quick<NibbleCounters<Word>> = true;

template <class Storage>
bool is_near(const Storage& storage, std::size_t limit = near_bytes) noexcept {
  return storage.words().size_bytes() <= limit;
}

/// The limit for operations that visit places. Keys with one line each gain most from a prefetch.
template <HashScheme Scheme, class Storage, Visits visits>
constexpr std::size_t near_bytes_to_touch() noexcept {
  if (is_in_one_line(Scheme::layout) || visits == Visits::several) return near_bytes_of_slow_keys;
  return is_quick<Storage> ? near_bytes : near_bytes_of_slow_keys;
}

/// Calls use(index, digest) for every key in order.
template <KeyBatch Keys, class Use>
void one_by_one(const KeyHasher& hasher, const Keys& key_range, Use use) {
  assert_uniform(key_range);
  const std::span keys(key_range);
  for (std::size_t i = 0; i < keys.size(); ++i) use(i, hasher(keys[i]));
}

}  // namespace tally::detail
