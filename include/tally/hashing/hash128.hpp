#pragma once
#define XXH_FORCE_MEMORY_ACCESS 0  // memcpy: the other way on arm64 breaks the rules of aliasing
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/hashing/mix64.hpp"

namespace tally {

/// A key is a string of bytes; the empty string is also a key.
using KeyBytes = std::span<const std::byte>;

/// The digest of a key, from which every position in every structure is derived: 128 bits that must be uniform and
/// independent of each other. Structures use a digest unchanged. If its halves are equal, constant or simply related, as in
/// {h, 0} or {h, h}, nearly every absent key passes. Use `digest_from` to make a digest of a hash of 64 bits.
struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend bool operator==(const Hash128&, const Hash128&) = default;
};

/// A digest of a uniform hash of 64 bits. Two keys with one hash have one digest: of n keys, a new key meets one of them with
/// probability n / 2^64.
[[nodiscard]] constexpr Hash128 digest_from(std::uint64_t hash) noexcept {
  return {mix64(hash), mix64(mix64(hash + 0x9e3779b97f4a7c15u) + hash)};
}

namespace detail {

/// XXH3-128.
inline Hash128 hash_bytes(KeyBytes key, std::uint64_t seed) noexcept {
  const XXH128_hash_t digest = XXH3_128bits_withSeed(key.data(), key.size(), seed);
  return {digest.low64, digest.high64};
}

/// The same for the 8 little-endian bytes of an integer. Flattened: otherwise g++ 12 calls the function for any length in
/// loops over integers, which costs more than a lookup in the cache.
[[gnu::flatten, gnu::always_inline]] inline Hash128 hash_word(std::uint64_t key,
                                                              std::uint64_t seed) noexcept {
  const XXH128_hash_t digest = XXH3_128bits_withSeed(&key, sizeof key, seed);
  return {digest.low64, digest.high64};
}

}  // namespace detail
}  // namespace tally
