#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tally/detail/little_endian.hpp"
#include "tally/export.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/hashing/key.hpp"

namespace tally {

class KeyHasher;

namespace detail {

/// In tally/hashing/key_builder.hpp.
template <class T>
Hash128 digest_of_parts(const KeyHasher& hasher, const T& key) noexcept;

}  // namespace detail

/// The hash that made a structure; files store these numbers, which are never reused.
enum class HashId : std::uint16_t { xxh3_128 = 1, highwayhash_128 = 2 };

/// The secret of the keyed hash: 32 bytes that an attacker cannot guess. Never written to a file.
using HashKey = std::array<std::byte, 32>;

/// How keys become digests: XXH3-128 with a public seed, or HighwayHash-128 with a secret key, for keys that
/// an attacker may choose (a flood of colliding keys).
///
/// A digest passed instead of a key is used unchanged, so that one hash can serve several structures.
/// Immutable; any number of threads may share one.
class TALLY_EXPORT KeyHasher {
 public:
  /// XXH3-128. Implicit, so that a filter can be constructed from a shape and a seed.
  KeyHasher(std::uint64_t seed) noexcept : seed_or_key_id_(seed) {}

  /// HighwayHash-128 with `key`.
  static KeyHasher keyed(const HashKey& key) noexcept;

  HashId id() const noexcept { return is_keyed() ? HashId::highwayhash_128 : HashId::xxh3_128; }

  /// The seed, or for a keyed hash a 64-bit id of the key. Equal keys have equal ids, and the key cannot be
  /// computed from its id.
  std::uint64_t seed_or_key_id() const noexcept { return seed_or_key_id_; }

  /// The digest of a key. Types of one's own need tally/hashing/key_builder.hpp.
  // Forced inline: a digest returned from a call goes through memory, with g++ 12 in a way that stalls the
  // loads of whole windows of keys.
  template <Key K>
  [[nodiscard, gnu::always_inline]] Hash128 operator()(K&& key) const noexcept {
    using Value = std::remove_cvref_t<K>;
    if constexpr (std::is_same_v<Value, Hash128>) {
      return key;
    } else if constexpr (CustomKey<Value>) {
      return detail::digest_of_parts(*this, key);
    } else if constexpr (IntegerKey<Value> || EnumKey<Value>) {
      const std::uint64_t word = detail::bits_of(key);
      if (is_keyed()) [[unlikely]]
        return keyed_hash_(key_, std::as_bytes(std::span(&word, 1)));
      return detail::hash_word(word, seed_or_key_id_);
    } else {
      return digest_of(detail::bytes_of(key));
    }
  }

  /// Equal hashers give equal digests (keyed ones up to 2^-64, because only the ids are compared).
  friend bool operator==(const KeyHasher& a, const KeyHasher& b) noexcept {
    return a.is_keyed() == b.is_keyed() && a.seed_or_key_id_ == b.seed_or_key_id_;
  }

 private:
  [[gnu::always_inline]] Hash128 digest_of(KeyBytes bytes) const noexcept {
    if (is_keyed()) [[unlikely]]
      return keyed_hash_(key_, bytes);
    return detail::hash_bytes(bytes, seed_or_key_id_);
  }
  bool is_keyed() const noexcept { return keyed_hash_ != nullptr; }

  using Words = std::array<std::uint64_t, 4>;

  std::uint64_t seed_or_key_id_;
  // A pointer, so that programs without a keyed hash do not link one.
  Hash128 (*keyed_hash_)(const Words& key, KeyBytes bytes) noexcept = nullptr;
  Words key_{};
};

/// XXH3-128 of the key's bytes with `seed`. The same bytes and seed give the same digest on every machine and
/// in every version (tests check golden values). It is fast but not safe against hostile keys: anyone who
/// knows the seed can make keys collide. Use KeyHasher::keyed for hostile keys.
template <Key K>
[[nodiscard]] Hash128 hash_key(K&& key, std::uint64_t seed) noexcept {
  return KeyHasher(seed)(key);
}

TALLY_EXPORT std::string_view name_of(HashId id) noexcept;

/// Throws std::invalid_argument naming `structure` and the field (hash, seed or key id) in which two hashers differ.
TALLY_EXPORT void require_same_hasher(std::string_view structure, const KeyHasher& mine,
                                      const KeyHasher& theirs);

}  // namespace tally
