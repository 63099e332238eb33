#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "python.hpp"
#include "tally/hashing/key_hasher.hpp"

// What is a key in Python, and the bytes that stand for it (docs/python.md).

namespace tally::python {

/// The digest of one key: a str by its UTF-8, bytes and other buffers of bytes by themselves, an integer from -2^63 to
/// 2^64 - 1 by its 8 little-endian bytes. Throws TypeError or ValueError that names `field`.
Hash128 digest_of(py::handle key, const KeyHasher& hasher, const char* field = "key");

/// The bytes of one key, for structures that store them; valid while `key` and this exist.
class KeyText {
 public:
  explicit KeyText(py::handle key, const char* field = "key");
  std::string_view view() const noexcept { return view_; }

 private:
  std::string own_;
  std::string_view view_;
};

/// The keys of a batch. Arrays of integers and of type S are read where they are; other keys are hashed once, at first.
class KeyBatch {
 public:
  /// Throws TypeError or ValueError that names the field and the first wrong key.
  KeyBatch(py::handle keys, const KeyHasher& hasher, const char* field = "keys");

  static constexpr std::size_t keys_per_part = 1024;

  std::size_t size() const noexcept { return size_; }

  /// Calls use(index of the first key, digests) for parts of at most keys_per_part keys, in order. Needs no lock of the
  /// interpreter.
  template <class Use>
  void for_each_part(Use use) const {
    if (hash_ == nullptr) {
      for (std::size_t first = 0; first < size_; first += keys_per_part)
        use(first, std::span(digests_).subspan(first, std::min(keys_per_part, size_ - first)));
      return;
    }
    std::array<Hash128, keys_per_part> digests;
    for (std::size_t first = 0; first < size_; first += keys_per_part) {
      const std::size_t count = std::min(keys_per_part, size_ - first);
      hash_(*this, first, std::span(digests).first(count));
      use(first, std::span<const Hash128>(digests.data(), count));
    }
  }

 private:
  template <class Integer>
  static void hash_integers(const KeyBatch& batch, std::size_t first, std::span<Hash128> digests) noexcept;
  static void hash_bytes(const KeyBatch& batch, std::size_t first, std::span<Hash128> digests) noexcept;
  static void copy_digests(const KeyBatch& batch, std::size_t first, std::span<Hash128> digests) noexcept;
  void take_array(py::handle array, const char* field);
  void take_objects(std::span<PyObject* const> objects, const char* field);
  void take_wide_text(const char* field);

  KeyHasher hasher_;
  py::object source_;  // keeps the memory
  const char* data_ = nullptr;
  std::ptrdiff_t stride_ = 0;
  std::size_t item_bytes_ = 0;
  std::size_t size_ = 0;
  void (*hash_)(const KeyBatch&, std::size_t, std::span<Hash128>) noexcept = nullptr;
  std::vector<Hash128> digests_;
};

/// The bytes of the keys of a batch, for structures that store them. Copies keys that are not text or bytes in memory.
class KeyTexts {
 public:
  KeyTexts(py::handle keys, const KeyHasher& hasher, const char* field = "keys");

  std::span<const std::string_view> views() const noexcept { return views_; }
  std::span<const Hash128> digests() const noexcept { return digests_; }
  std::size_t size() const noexcept { return views_.size(); }

 private:
  py::object source_;
  std::vector<char> bytes_;  // of keys whose bytes are not in memory
  std::vector<std::string_view> views_;
  std::vector<Hash128> digests_;
};

/// The whole numbers of an argument that has one for each key: an array or a sequence of integers, none of them negative.
class Numbers {
 public:
  /// Throws TypeError or ValueError, also if there are not num_keys of them; without num_keys, any number will do.
  Numbers(py::handle numbers, std::optional<std::size_t> num_keys, const char* field);
  std::span<const std::uint64_t> span() const noexcept { return values_; }

 private:
  py::object source_;
  std::span<const std::uint64_t> values_;
};

/// `seed` (None: the default of the command) or `key`, the secret of a keyed hash: 32 bytes.
KeyHasher hasher_from(py::handle seed, py::handle key);
std::optional<HashKey> hash_key_from(py::handle key, const char* field = "key");

/// The seed of structures that are made without one, the same as that of the command, so that files merge.
inline constexpr std::uint64_t default_seed = 0x74616c6c79;

}  // namespace tally::python
