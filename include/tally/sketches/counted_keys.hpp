#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/detail/checked_math.hpp"
#include "tally/detail/prefetch.hpp"
#include "tally/detail/process_salt.hpp"
#include "tally/export.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/sketches/key_count.hpp"

namespace tally {

/// A bounded number of keys with their bytes and counts. It finds a key by its digest, and the key with the
/// smallest count. SpaceSaving and TopKeys are made of it.
///
/// Raising a count touches nothing else; the heap is updated when its root is needed. So frequent keys cost
/// one lookup each. Two keys with the same digest are treated as one (2^-128 per pair, unless someone chose
/// keys against the seed). A secret of the process chooses the slots, so that no choice of digests makes the
/// searches long; nothing else depends on it. A new table has room for all its keys from the start: `add` and
/// `replace` allocate only for the bytes of a key. A table that was copied or taken over has room for the
/// keys in it, and allocates more as keys are added.
class TALLY_EXPORT CountedKeys {
 public:
  static constexpr std::uint64_t max_capacity = std::uint64_t{1} << 30;
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::uint64_t heap_arity = 4;  ///< node i of heap() has the children 4 i + 1 to 4 i + 4

  /// A key by its digest, its count, and by how much that may be too high.
  struct Entry {
    Hash128 digest;
    std::uint64_t count = 0;
    std::uint64_t error = 0;

    friend bool operator==(const Entry&, const Entry&) = default;
  };

  /// The last count that the heap read of an entry; lower than its count if that was raised since.
  struct HeapNode {
    std::uint64_t count = 0;
    std::uint32_t entry = 0;

    friend bool operator==(const HeapNode&, const HeapNode&) = default;
  };

  /// Empty. Throws std::invalid_argument that names `structure` unless capacity is 1 to 2^30. `salt`: tests
  /// pass another one.
  CountedKeys(std::uint64_t capacity, std::string_view structure,
              detail::ProcessSalt salt = detail::process_salt());

  /// Takes over entries, key bytes and heap as another table listed them; it behaves exactly as the original.
  /// Takes memory for these entries, whatever the capacity. Throws std::invalid_argument unless they are
  /// consistent.
  CountedKeys(std::uint64_t capacity, std::string_view structure, std::vector<Entry> entries,
              std::vector<std::string> keys, std::vector<HeapNode> heap);

  /// Empty, with room for `num_keys` instead of the whole capacity, which a file may claim. Throws what the
  /// first constructor throws.
  static CountedKeys with_room(std::uint64_t num_keys, std::uint64_t capacity, std::string_view structure);

  CountedKeys(const CountedKeys&) = default;
  CountedKeys(CountedKeys&&) noexcept = default;
  CountedKeys& operator=(const CountedKeys& other) { return *this = CountedKeys(other); }
  CountedKeys& operator=(CountedKeys&&) noexcept = default;
  ~CountedKeys() = default;

  std::uint64_t capacity() const noexcept { return capacity_; }
  std::uint64_t size() const noexcept { return entries_.size(); }
  bool is_full() const noexcept { return size() == capacity_; }

  /// The digest mixed with the secret of the process, for callers that search for it more than once.
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

  /// The entries of keys that may be in the table, from their salted digests, and prefetches them: entries[i] is `none` only
  /// if the key is not there, and rarely that of another key, so compare the digests. Takes the same time for keys that are there
  /// and for others.
  void find_likely(std::span<const std::uint64_t> salted, std::span<std::uint32_t> entries) const noexcept;

  const Entry& operator[](std::uint32_t i) const noexcept { return entries_[i]; }
  const std::string& key_bytes(std::uint32_t i) const noexcept { return keys_[i]; }
  KeyCount key_count(std::uint32_t i) const noexcept {
    return {keys_[i], entries_[i].digest, entries_[i].count, entries_[i].error};
  }

  /// Adds to the count, saturating.
  void raise(std::uint32_t i, std::uint64_t weight) noexcept {
    entries_[i].count = detail::saturating_add(entries_[i].count, weight);
  }

  /// Adds a new key; the table must not be full or contain the key. Throws std::bad_alloc, and then changes
  /// nothing.
  void add(std::string_view key, const Entry& entry);

  /// Resets the table to empty. Allocates nothing.
  void clear() noexcept;

  /// The entry with the smallest count; there must be one.
  std::uint32_t least() noexcept;

  /// Replaces the key with the smallest count by a new key. Throws std::bad_alloc, and then changes nothing.
  void replace_least(std::string_view key, const Entry& entry);

  /// The `num_keys` greatest counts (all, if there are fewer), the greatest first; equal counts are ordered
  /// by smaller error, then by the bytes of the keys.
  std::vector<KeyCount> greatest(std::uint64_t num_keys) const;

  /// Whether both have the same capacity and the same keys, counts and errors in the same order of the heap.
  friend bool operator==(const CountedKeys& a, const CountedKeys& b) noexcept {
    const auto same_node = [&](const HeapNode& x, const HeapNode& y) {
      return x.count == y.count && a.entries_[x.entry] == b.entries_[y.entry] &&
             a.keys_[x.entry] == b.keys_[y.entry];
    };
    return a.capacity_ == b.capacity_ && std::ranges::equal(a.heap_, b.heap_, same_node);
  }

  std::span<const Entry> entries() const noexcept { return entries_; }
  std::span<const HeapNode> heap() const noexcept { return heap_; }

  /// Memory of the table and of the keys' bytes.
  std::uint64_t num_bytes() const noexcept;
  /// An upper bound of the memory that the table takes at its peak, beside what it has, to add this number of keys. The
  /// keys' bytes are not in it.
  std::uint64_t most_bytes_to_add(std::uint64_t num_keys) const noexcept;

  /// The number of slots that the longest search for a key visits; 0 if there is none. Takes time
  /// proportional to size().
  std::uint64_t longest_search() const noexcept;

 private:
  // A slot is 0, or has an entry's number + 1 in its lower half and the upper half of the salted digest
  // above. The highest bits of that half determine where its search begins.
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
