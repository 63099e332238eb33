#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "tally/hashing/mix64.hpp"

namespace tally {

/// Counts of the few fingerprints that are in a multiset oftener than their cell can count. Room for
/// `capacity` fingerprints is reserved at construction; no operation allocates.
class SpillTable {
 public:
  /// Throws std::bad_alloc where there is not enough memory.
  explicit SpillTable(std::uint64_t capacity)
      : capacity_(capacity), entries_(capacity == 0 ? 0 : std::bit_ceil(capacity + capacity / 2 + 1)) {}

  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t capacity() const noexcept { return capacity_; }
  /// The sum of all counts.
  std::uint64_t total() const noexcept { return total_; }

  std::uint64_t count(std::uint64_t fingerprint) const noexcept {
    return size_ == 0 ? 0 : entries_[slot_of(fingerprint)].count;
  }

  /// Whether `add(fingerprint, times)` will find room.
  bool can_add(std::uint64_t fingerprint) const noexcept {
    return size_ < capacity_ || count(fingerprint) != 0;
  }

  /// Adds `times` (at least 1) to the fingerprint's count; false, and nothing has changed, if there is no room for one more fingerprint.
  bool add(std::uint64_t fingerprint, std::uint64_t times) noexcept {
    if (!can_add(fingerprint)) return false;
    Entry& entry = entries_[slot_of(fingerprint)];
    size_ += entry.count == 0;
    entry.fingerprint = fingerprint;
    entry.count += times;
    total_ += times;
    return true;
  }

  /// Takes 1 from the fingerprint's count; false if that is 0.
  bool take_one(std::uint64_t fingerprint) noexcept;

  template <class Visit>
  void for_each(Visit visit) const {
    for (const Entry& entry : entries_) {
      if (entry.count != 0) visit(entry.fingerprint, entry.count);
    }
  }

 private:
  struct Entry {
    std::uint64_t fingerprint = 0;
    std::uint64_t count = 0;  // 0: no entry
  };

  std::uint64_t home(std::uint64_t fingerprint) const noexcept {
    return mix64(fingerprint) & (entries_.size() - 1);
  }

  // Where the fingerprint stands or would stand. A third of the entries are free, so the search ends.
  std::uint64_t slot_of(std::uint64_t fingerprint) const noexcept {
    std::uint64_t slot = home(fingerprint);
    while (entries_[slot].count != 0 && entries_[slot].fingerprint != fingerprint) {
      slot = (slot + 1) & (entries_.size() - 1);
    }
    return slot;
  }

  std::uint64_t capacity_;
  std::uint64_t size_ = 0;
  std::uint64_t total_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace tally
