#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tally/hashing/hash128.hpp"

namespace tally::cli {

/// Keys with exact counts and their texts, in the order of insertion: 32 bytes per key, 6 to 12 for a hash table, and the
/// text. A secret chooses the slots of the table, so that no choice of keys makes the searches long.
class CountedTexts {
 public:
  struct Counted {
    Hash128 digest;
    std::uint64_t count = 0;
    const char* text = nullptr;
    std::uint64_t text_size = 0;

    std::string_view text_view() const { return {text, text_size}; }
  };

  /// Never takes more than `max_bytes`, including copies while it grows.
  explicit CountedTexts(std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

  /// The index of the key; empty if it is absent.
  std::optional<std::size_t> find(Hash128 digest) const {
    if (slots_.empty()) return std::nullopt;
    const std::uint32_t found = slots_[slot_of(digest)];
    return found == no_key ? std::nullopt : std::optional<std::size_t>(found);
  }
  /// indices[i] = that of digests[i], or not_there.
  static constexpr std::uint32_t not_there = ~std::uint32_t{0};
  void find_batch(std::span<const Hash128> digests, std::span<std::uint32_t> indices) const;

  /// Adds a key that is absent. Returns false, then and ever after, if there is no memory for it: a key that was left out
  /// once cannot be counted later.
  bool insert(Hash128 digest, std::uint64_t count, std::string_view text);
  void add_one(std::size_t index) { ++at(index).count; }

  std::size_t size() const noexcept { return size_; }
  const Counted& operator[](std::size_t index) const {
    return chunks_[index / chunk_size][index % chunk_size];
  }
  std::uint64_t num_bytes() const noexcept { return num_bytes_; }

 private:
  static constexpr std::uint32_t no_key = not_there;
  static constexpr std::size_t chunk_size = 256;

  Counted& at(std::size_t index) { return chunks_[index / chunk_size][index % chunk_size]; }
  std::uint64_t hash_of(Hash128 digest) const noexcept;
  std::size_t slot_of(Hash128 digest) const noexcept;
  bool take(std::uint64_t num_bytes) noexcept;
  bool make_room(std::size_t text_size);
  bool grow_slots();

  std::uint64_t max_bytes_;
  std::uint64_t num_bytes_ = 0;
  std::uint64_t secret_;
  std::vector<std::uint32_t> slots_;  // indices; a power of two, at most two thirds in use
  std::vector<std::unique_ptr<Counted[]>> chunks_;
  std::size_t size_ = 0;
  bool is_full_ = false;
  std::vector<std::unique_ptr<char[]>> texts_;
  char* next_text_ = nullptr;
  std::size_t text_room_ = 0;
};

}  // namespace tally::cli
