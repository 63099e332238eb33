#pragma once

#include <cstdint>
#include <span>

#include "tally/detail/aligned_words.hpp"
#include "tally/export.hpp"
#include "tally/hashing/mix64.hpp"
#include "tally/shapes/dleft.hpp"

namespace tally {

/// Counts of the few fingerprints that are in a multiset more often than their cell can count. Room for
/// `capacity` fingerprints is allocated at construction; no operation allocates.
///
/// An open-addressing hash table. A slot is two words, fingerprint and count; it is free if the count is 0.
class TALLY_EXPORT SpillTable {
 public:
  static constexpr std::uint64_t num_slots(std::uint64_t capacity) noexcept {
    return num_spill_slots(capacity);
  }

  /// The slot where the search for a fingerprint starts; it continues slot by slot.
  static std::uint64_t home(std::uint64_t fingerprint, std::uint64_t num_slots) noexcept {
    return mix64(fingerprint) & (num_slots - 1);
  }

  /// Empty. Throws std::bad_alloc if there is not enough memory.
  explicit SpillTable(std::uint64_t capacity)
      : SpillTable(capacity, detail::AlignedWords(2 * num_slots(capacity))) {}

  /// The largest allowed sum of all counts.
  static constexpr std::uint64_t max_total = std::uint64_t{1} << 63;

  /// Takes over the contents of a file, 2 num_slots(capacity) words. Any words are safe: at worst the counts
  /// are wrong.
  SpillTable(std::uint64_t capacity, detail::AlignedWords words);

  SpillTable(const SpillTable&) = default;
  SpillTable(SpillTable&&) noexcept = default;
  SpillTable& operator=(const SpillTable& other) { return *this = SpillTable(other); }
  SpillTable& operator=(SpillTable&&) noexcept = default;
  ~SpillTable() = default;

  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t capacity() const noexcept { return capacity_; }
  /// The sum of all counts.
  std::uint64_t total() const noexcept { return total_; }

  std::uint64_t count(std::uint64_t fingerprint) const noexcept {
    return size_ == 0 ? 0 : count_at(slot_of(fingerprint));
  }

  /// Whether `add(fingerprint, times)` will find room.
  bool can_add(std::uint64_t fingerprint, std::uint64_t times = 1) const noexcept {
    return total_ <= max_total && times <= max_total - total_ &&
           (size_ < capacity_ || count(fingerprint) != 0);
  }

  /// Adds `times` (at least 1) to the fingerprint's count. Returns false and changes nothing if there is no
  /// room for another fingerprint, or if the sum would exceed max_total.
  bool add(std::uint64_t fingerprint, std::uint64_t times) noexcept;

  /// Subtracts 1 from the fingerprint's count; returns false if that is 0.
  bool take_one(std::uint64_t fingerprint) noexcept;

  void clear() noexcept {
    words_.clear();
    size_ = 0;
    total_ = 0;
  }

  std::span<const std::uint64_t> words() const noexcept { return words_.words(); }

  /// Whether the words are the same; for tables of one capacity.
  friend bool operator==(const SpillTable& a, const SpillTable& b) noexcept { return a.words_ == b.words_; }

 private:
  std::uint64_t fingerprint_at(std::uint64_t slot) const noexcept { return words_.data()[2 * slot]; }
  std::uint64_t count_at(std::uint64_t slot) const noexcept { return words_.data()[2 * slot + 1]; }
  void set(std::uint64_t slot, std::uint64_t fingerprint, std::uint64_t count) noexcept {
    words_.data()[2 * slot] = fingerprint;
    words_.data()[2 * slot + 1] = count;
  }

  std::uint64_t home(std::uint64_t fingerprint) const noexcept { return home(fingerprint, mask_ + 1); }

  // The slot that holds the fingerprint or would hold it. Only in words from a file may there be no such
  // slot.
  std::uint64_t slot_of(std::uint64_t fingerprint) const noexcept {
    std::uint64_t slot = home(fingerprint);
    for (std::uint64_t i = 0; i < mask_ && count_at(slot) != 0 && fingerprint_at(slot) != fingerprint; ++i) {
      slot = (slot + 1) & mask_;
    }
    return slot;
  }

  std::uint64_t capacity_;
  std::uint64_t mask_;
  std::uint64_t size_ = 0;
  std::uint64_t total_ = 0;
  detail::AlignedWords words_;
};

}  // namespace tally
