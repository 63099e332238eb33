#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tally/hashing/hash128.hpp"

namespace tally {

/// The hash that made a structure; files store these numbers, which are never reused.
enum class HashId : std::uint16_t { xxh3_128 = 1, highwayhash_128 = 2 };

/// The secret of the keyed hash: 32 bytes that an attacker cannot guess. Never written to a file.
using HashKey = std::array<std::byte, 32>;

/// How keys become digests: XXH3-128 with a public seed, or HighwayHash-128 with a secret key, for keys that
/// an attacker may choose (a flood of colliding keys).
///
/// A digest passed instead of a key is used unchanged, so that one hash can serve several structures.
/// Immutable; any number of threads may share one.
class KeyHasher {
 public:
  /// XXH3-128. Implicit, so that a filter can be constructed from a shape and a seed.
  KeyHasher(std::uint64_t seed) noexcept : seed_or_key_id_(seed) {}

  /// HighwayHash-128 with `key`.
  static KeyHasher keyed(const HashKey& key) noexcept;

  HashId id() const noexcept { return is_keyed_ ? HashId::highwayhash_128 : HashId::xxh3_128; }

  /// The seed, or for a keyed hash a 64-bit id of the key. Equal keys have equal ids, and the key cannot be
  /// computed from its id.
  std::uint64_t seed_or_key_id() const noexcept { return seed_or_key_id_; }

  // Forced inline: a digest returned from a call goes through memory, with g++ 12 in a way that stalls the
  // loads of whole windows of keys.
  [[gnu::always_inline]] Hash128 operator()(KeyBytes key) const noexcept {
    if (is_keyed_) [[unlikely]]
      return keyed_hash(key);
    return hash_key(key, seed_or_key_id_);
  }
  [[gnu::always_inline]] Hash128 operator()(std::string_view key) const noexcept {
    return (*this)(std::as_bytes(std::span(key.data(), key.size())));
  }
  [[gnu::always_inline]] Hash128 operator()(std::uint64_t key) const noexcept {
    std::byte bytes[8];
    detail::store_little_endian(bytes, key);
    return (*this)(KeyBytes(bytes));
  }
  Hash128 operator()(Hash128 digest) const noexcept { return digest; }

  /// Equal hashers give equal digests (keyed ones up to 2^-64, because only the ids are compared).
  friend bool operator==(const KeyHasher& a, const KeyHasher& b) noexcept {
    return a.is_keyed_ == b.is_keyed_ && a.seed_or_key_id_ == b.seed_or_key_id_;
  }

 private:
  Hash128 keyed_hash(KeyBytes key) const noexcept;

  std::uint64_t seed_or_key_id_;
  bool is_keyed_ = false;
  std::array<std::uint64_t, 4> key_{};
};

/// What a KeyHasher accepts: a text, a byte string, an integer, a digest.
template <class Key>
concept HashableKey = requires(const KeyHasher& hasher, const Key& key) {
  hasher(key);
};

std::string_view name_of(HashId id) noexcept;

/// Throws std::invalid_argument naming `structure` and the field (hash, seed or key id) in which two hashers differ.
void require_same_hasher(std::string_view structure, const KeyHasher& mine, const KeyHasher& theirs);

}  // namespace tally
