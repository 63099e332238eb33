#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/detail/checked_math.hpp"
#include "tally/detail/prefetch.hpp"
#include "tally/detail/process_salt.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/sketches/key_count.hpp"

namespace tally {

/// A bounded number of keys with their bytes and counts, which finds a key by its digest and the key of the
/// least count: what SpaceSaving and TopKeys are made of.
///
/// Raising a count touches nothing else; the heap learns of it when its root is asked for. So keys that come
/// often cost one lookup each. Two keys of one digest are taken for one (2^-128 a pair, unless keys are chosen
/// against the seed). A secret of the process chooses the slots, so that no choice of digests makes the searches
/// long; nothing else depends on it.
/// A new table has room for all its keys from the start: `add` and `replace` allocate only for the bytes of a key. One
/// that was copied or taken over has room for the keys in it, and takes more as keys are added.
class CountedKeys {
 public:
  static constexpr std::uint64_t max_capacity = std::uint64_t{1} << 30;
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::uint64_t heap_arity = 4;  ///< node i of heap() has the children 4 i + 1 to 4 i + 4

  struct Entry {
    Hash128 digest;
    std::uint64_t count = 0;
    std::uint64_t error = 0;

    friend bool operator==(const Entry&, const Entry&) = default;
  };

  /// What the heap last knew of an entry: its count or, if that was raised since, less.
  struct HeapNode {
    std::uint64_t count = 0;
    std::uint32_t entry = 0;

    friend bool operator==(const HeapNode&, const HeapNode&) = default;
  };

  /// Empty. Throws std::invalid_argument that names `structure` unless capacity is 1 to 2^30. `salt`: another one is
  /// for tests.
  CountedKeys(std::uint64_t capacity, std::string_view structure,
              detail::ProcessSalt salt = detail::process_salt());

  /// Takes over entries, key bytes and heap as another table listed them: it does from then on what that one
  /// would. Takes memory for these entries, whatever the capacity. Throws std::invalid_argument unless they fit
  /// each other.
  CountedKeys(std::uint64_t capacity, std::string_view structure, std::vector<Entry> entries,
              std::vector<std::string> keys, std::vector<HeapNode> heap);

  /// Empty, with room for `num_keys` and not for the whole capacity, which may be what a file claims. Throws as the
  /// first constructor.
  static CountedKeys with_room(std::uint64_t num_keys, std::uint64_t capacity, std::string_view structure);

  CountedKeys(const CountedKeys&) = default;
  CountedKeys(CountedKeys&&) noexcept = default;
  CountedKeys& operator=(const CountedKeys& other) { return *this = CountedKeys(other); }
  CountedKeys& operator=(CountedKeys&&) noexcept = default;
  ~CountedKeys() = default;

  std::uint64_t capacity() const noexcept { return capacity_; }
  std::uint64_t size() const noexcept { return entries_.size(); }
  bool is_full() const noexcept { return size() == capacity_; }

  /// The digest under the secret of the process: for who searches for it more than once.
  std::uint64_t salted(Hash128 digest) const noexcept {
    const std::uint64_t sum = digest.low * salt_.first + digest.high * salt_.second;
    return (sum ^ (sum >> 32)) * 0xd6e8feb86659fd93u;
  }

  void prefetch(std::uint64_t salted) const noexcept { detail::prefetch_for_read(&slots_[home(salted)]); }

  /// The entry of the key, or `none`. `salted` is that of the digest.
  std::uint32_t find(Hash128 digest) const noexcept { return find(digest, salted(digest)); }
  std::uint32_t find(Hash128 digest, std::uint64_t salted) const noexcept {
    const std::uint64_t tag = salted & tag_mask;
    for (std::uint64_t at = home(salted); slots_[at] != 0; at = next(at)) {
      if ((slots_[at] & tag_mask) != tag) continue;
      const std::uint32_t i = entry_in(slots_[at]);
      if (entries_[i].digest == digest) return i;
    }
    return none;
  }

  const Entry& operator[](std::uint32_t i) const noexcept { return entries_[i]; }
  const std::string& key_bytes(std::uint32_t i) const noexcept { return keys_[i]; }
  KeyCount key_count(std::uint32_t i) const noexcept {
    return {keys_[i], entries_[i].digest, entries_[i].count, entries_[i].error};
  }

  /// Adds to the count, saturating.
  void raise(std::uint32_t i, std::uint64_t weight) noexcept {
    entries_[i].count = detail::saturating_add(entries_[i].count, weight);
  }

  /// A new key; the table must not be full, and the key not be in it. Throws std::bad_alloc, and nothing has changed
  /// then.
  void add(std::string_view key, const Entry& entry);

  /// As new. Allocates nothing.
  void clear() noexcept;

  /// The entry of the least count; there must be one.
  std::uint32_t least() noexcept;

  /// Puts a new key in the place of the least one. Throws std::bad_alloc, and nothing has changed then.
  void replace_least(std::string_view key, const Entry& entry);

  /// The `num_keys` greatest counts (all, if there are fewer), the greatest first; of equal counts that of
  /// less error, then by the bytes of the keys.
  std::vector<KeyCount> greatest(std::uint64_t num_keys) const;

  std::span<const Entry> entries() const noexcept { return entries_; }
  std::span<const HeapNode> heap() const noexcept { return heap_; }

  /// Memory of the table and of the keys' bytes.
  std::uint64_t num_bytes() const noexcept;

  /// The slots that the longest search of a key visits; 0 if there is none. Takes time in proportion to size().
  std::uint64_t longest_search() const noexcept;

 private:
  // A slot is 0, or has an entry's number + 1 below and the upper half of the salted digest above, of which the highest
  // bits say where its search begins.
  static constexpr std::uint64_t tag_mask = ~std::uint64_t{0} << 32;
  static std::uint32_t entry_in(std::uint64_t slot) noexcept { return static_cast<std::uint32_t>(slot) - 1; }

  CountedKeys(std::uint64_t capacity, std::string_view structure, detail::ProcessSalt salt,
              std::uint64_t num_keys);

  std::uint64_t home(std::uint64_t salted_or_slot) const noexcept { return salted_or_slot >> shift_; }
  std::uint64_t next(std::uint64_t at) const noexcept { return at + 1 == slots_.size() ? 0 : at + 1; }

  void make_room();
  void put_in_index(std::uint64_t slot) noexcept;
  void index(std::uint32_t i) noexcept;
  void remove_from_index(std::uint32_t i) noexcept;
  void sift_down(std::uint64_t at) noexcept;

  std::uint64_t capacity_;
  std::uint32_t shift_;
  detail::ProcessSalt salt_;
  std::vector<std::uint64_t> slots_;  // a power of two of them, at least twice the keys
  std::vector<Entry> entries_;
  std::vector<std::string> keys_;
  std::vector<HeapNode> heap_;  // no node is above its children
};

}  // namespace tally
