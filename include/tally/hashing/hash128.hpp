#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tally/detail/little_endian.hpp"

namespace tally {

/// A key is a string of bytes; the empty string is also a key.
using KeyBytes = std::span<const std::byte>;

/// The digest of a key, from which every position in every structure is derived.
struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend bool operator==(const Hash128&, const Hash128&) = default;
};

/// XXH3-128 of the key's bytes with `seed`. The same bytes and seed give the same digest on every machine and
/// in every version (tests check golden values). It is fast but not safe against hostile keys: anyone who
/// knows the seed can make keys collide. Use KeyHasher::keyed for hostile keys.
inline Hash128 hash_key(KeyBytes key, std::uint64_t seed) noexcept {
  const XXH128_hash_t digest = XXH3_128bits_withSeed(key.data(), key.size(), seed);
  return {digest.low64, digest.high64};
}

/// The bytes of the text, without a terminating NUL.
inline Hash128 hash_key(std::string_view key, std::uint64_t seed) noexcept {
  return hash_key(std::as_bytes(std::span(key.data(), key.size())), seed);
}

/// The integer's 8 little-endian bytes.
inline Hash128 hash_key(std::uint64_t key, std::uint64_t seed) noexcept {
  std::byte bytes[8];
  detail::store_little_endian(bytes, key);
  return hash_key(KeyBytes(bytes), seed);
}

}  // namespace tally
