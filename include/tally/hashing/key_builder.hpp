#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tally/hashing/key_hasher.hpp"

namespace tally {

/// Makes one key of several parts, so that a type of one's own can be a key:
///
///     void append_key(tally::KeyBuilder& builder, const Flow& flow) { builder.append(flow.address, flow.port); }
///
/// in the namespace of Flow. It must not throw, and must append the same parts for equal values.
///
/// The bytes of the key are those of its parts: an integer or enumeration has 8; a text or a range of bytes has its length
/// as an integer before it, so that "ab", "c" and "a", "bc" are two keys; a digest has 16; a type of one's own has those
/// that its append_key appends. Allocates nothing: of a key of more than `max_bytes` bytes, the first max_bytes are replaced
/// by their digest as often as needed.
class KeyBuilder {
 public:
  static constexpr std::size_t max_bytes = 256;

  explicit KeyBuilder(const KeyHasher& hasher) noexcept : hasher_(hasher) {}
  KeyBuilder(const KeyBuilder&) = delete;
  KeyBuilder& operator=(const KeyBuilder&) = delete;
  ~KeyBuilder() = default;

  template <Key... Parts>
  void append(Parts&&... parts) noexcept {
    (append_part(parts), ...);
  }

  Hash128 digest() const noexcept { return hasher_(KeyBytes(bytes_.data(), size_)); }

 private:
  template <class Part>
  void append_part(const Part& part) noexcept {
    if constexpr (std::is_same_v<Part, Hash128>) {
      append_integer(part.low);
      append_integer(part.high);
    } else if constexpr (CustomKey<Part>) {
      append_key(*this, part);
    } else if constexpr (IntegerKey<Part> || EnumKey<Part>) {
      append_integer(detail::bits_of(part));
    } else {
      const KeyBytes bytes = detail::bytes_of(part);
      append_integer(bytes.size());
      append_bytes(bytes);
    }
  }

  void append_integer(std::uint64_t value) noexcept {
    std::byte bytes[8];
    detail::store_little_endian(bytes, value);
    append_bytes(bytes);
  }

  void append_bytes(KeyBytes bytes) noexcept {
    while (!bytes.empty()) {
      if (size_ == max_bytes) {
        const Hash128 first = digest();
        size_ = 0;
        append_part(first);
      }
      const std::size_t count = std::min(bytes.size(), max_bytes - size_);
      std::memcpy(bytes_.data() + size_, bytes.data(), count);
      size_ += count;
      bytes = bytes.subspan(count);
    }
  }

  const KeyHasher& hasher_;
  std::array<std::byte, max_bytes> bytes_;
  std::size_t size_ = 0;
};

template <class T>
Hash128 detail::digest_of_parts(const KeyHasher& hasher, const T& key) noexcept {
  KeyBuilder builder(hasher);
  append_key(builder, key);
  return builder.digest();
}

}  // namespace tally
