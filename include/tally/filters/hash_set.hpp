#pragma once

#include <cstdint>
#include <utility>

#include "tally/detail/aligned_words.hpp"
#include "tally/detail/checked_math.hpp"
#include "tally/detail/prefetch.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally {

/// A set of digests, 16 bytes a slot: of keys, exact but for two keys of one digest
/// (n keys: n^2 / 2^129).
///
/// Capacity is reserved at construction; `insert` says 'full' and changes nothing when
/// it is used up, and `grow` is a call of its own. Every digest keeps its slot until
/// then, so that callers can keep an array of their own beside the set.
/// Thread rule: reads (const functions) may run together, a write runs alone.
class HashSet {
 public:
  enum class Outcome : std::uint8_t { inserted, present, full };

  struct Place {
    Outcome outcome;
    std::uint64_t slot;  ///< of the digest; meaningless when full
  };

  /// Bytes that a set for so many digests takes.
  static std::uint64_t num_bytes(std::uint64_t capacity) {
    return detail::checked_mul(num_slots_for(capacity), sizeof(Hash128), "HashSet memory in bytes");
  }
  /// The most digests that fit so many bytes, at least 1.
  static constexpr std::uint64_t capacity_for(std::uint64_t num_bytes) noexcept {
    return num_bytes < 64 ? 1 : num_bytes / 64 * 3 - 1;
  }

  /// Throws std::bad_alloc where there is not enough memory.
  explicit HashSet(std::uint64_t capacity)
      : words_(2 * num_slots_for(capacity)), num_slots_(num_slots_for(capacity)), capacity_(capacity) {}

  Place insert(Hash128 digest) noexcept {
    const Hash128 wanted = stored(digest);
    const std::uint64_t slot = find_slot(wanted);
    if (at(slot) == wanted) return {Outcome::present, slot};
    if (size_ == capacity_) return {Outcome::full, slot};
    words_.data()[2 * slot] = wanted.low;
    words_.data()[2 * slot + 1] = wanted.high;
    ++size_;
    return {Outcome::inserted, slot};
  }

  bool contains(Hash128 digest) const noexcept {
    const Hash128 wanted = stored(digest);
    return at(find_slot(wanted)) == wanted;
  }

  void prefetch(Hash128 digest) const noexcept {
    detail::prefetch_for_read(words_.data() + 2 * reduce_to_range(stored(digest).low, num_slots_));
  }

  /// Makes room for `capacity` digests; they change their slots: moved(old, new).
  /// Throws std::bad_alloc, and nothing has changed then.
  template <class Moved>
  void grow(std::uint64_t capacity, Moved moved) {
    if (capacity <= capacity_) return;
    HashSet larger(capacity);
    for_each([&](std::uint64_t slot, Hash128 digest) { moved(slot, larger.insert(digest).slot); });
    *this = std::move(larger);
  }
  void grow(std::uint64_t capacity) {
    grow(capacity, [](std::uint64_t, std::uint64_t) {});
  }

  /// visit(slot, digest) for every digest.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint64_t slot = 0; slot < num_slots_; ++slot) {
      if (at(slot) != Hash128{}) visit(slot, at(slot));
    }
  }

  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t capacity() const noexcept { return capacity_; }
  std::uint64_t num_slots() const noexcept { return num_slots_; }
  std::uint64_t num_bytes() const noexcept { return 8 * words_.size(); }

 private:
  // Three quarters full at the most, and one slot always empty, which ends every search.
  static std::uint64_t num_slots_for(std::uint64_t capacity) {
    return detail::checked_mul(capacity / 3 + 1, 4, "HashSet slots");
  }

  // A slot of zeros is an empty one; the digest of zeros shares the slot of its neighbour.
  static Hash128 stored(Hash128 digest) noexcept {
    digest.high += digest == Hash128{};
    return digest;
  }

  Hash128 at(std::uint64_t slot) const noexcept { return {words_.data()[2 * slot], words_.data()[2 * slot + 1]}; }

  // The slot of `wanted`, or the empty one that a search for it ends at.
  std::uint64_t find_slot(Hash128 wanted) const noexcept {
    std::uint64_t slot = reduce_to_range(wanted.low, num_slots_);
    while (at(slot) != wanted && at(slot) != Hash128{}) slot = slot + 1 == num_slots_ ? 0 : slot + 1;
    return slot;
  }

  detail::AlignedWords words_;
  std::uint64_t num_slots_;
  std::uint64_t capacity_;
  std::uint64_t size_ = 0;
};

}  // namespace tally
