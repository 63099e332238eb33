#pragma once

#include <atomic>
#include <cstdint>
#include <shared_mutex>
#include <span>

#include "tally/detail/aligned_words.hpp"
#include "tally/detail/prefetch.hpp"
#include "tally/detail/process_salt.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally {

/// A set of nonzero 64-bit entries that several threads fill: 10.7 to 16 bytes per entry.
///
/// It uses open addressing with linear probing. An entry is stored by one compare-and-swap, and moves only
/// while the table grows by a half, when all threads wait. Lookups come in batches, with one lock per batch.
/// A secret of the process chooses the slots, so that no choice of entries makes the searches long.
/// Threads: all functions may run concurrently.
class SharedEntrySet {
 public:
  enum class Outcome : std::uint8_t { inserted, present, full };

  /// Never takes more than `max_bytes`, including copies while it grows (except for a minimum table of 16
  /// KiB). At most 256 threads may insert at once. Throws std::bad_alloc if there is not enough memory.
  /// `salt`: tests pass another one.
  explicit SharedEntrySet(std::uint64_t max_bytes, detail::ProcessSalt salt = detail::process_salt());

  /// results[i] = whether the set contains entries[i].
  void contains_batch(std::span<const std::uint64_t> entries, std::span<bool> results) const;

  /// If several threads insert the same entry, exactly one of them gets `inserted`. `full`: nothing has
  /// changed. Throws std::bad_alloc, and then changes nothing.
  [[nodiscard]] Outcome insert(std::uint64_t entry);

  /// Removes all entries; waits for the other threads. The memory stays allocated.
  void clear() noexcept;

  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t num_bytes() const noexcept { return 8 * words_.size(); }

  /// The number of slots that the longest search for an entry visits; 0 if there is none. Takes time
  /// proportional to size().
  std::uint64_t longest_search() const;

 private:
  using Slot = std::atomic_ref<std::uint64_t>;

  std::uint64_t max_size() const noexcept { return words_.size() / 4 * 3; }
  std::uint64_t* slot_of(const detail::AlignedWords& words, std::uint64_t entry) const noexcept {
    return const_cast<std::uint64_t*>(words.data()) + reduce_to_range(salted(entry), words.size());
  }
  /// As mix64, with the secret instead of its first factor.
  std::uint64_t salted(std::uint64_t entry) const noexcept {
    entry = (entry ^ salt_.second) * salt_.first;
    return (entry ^ (entry >> 32)) * 0xd6e8feb86659fd93u;
  }
  Outcome put(std::uint64_t entry) noexcept;
  bool grow();

  mutable std::shared_mutex growing_;
  detail::AlignedWords words_;
  std::uint64_t max_bytes_;
  std::atomic<std::uint64_t> size_ = 0;
  detail::ProcessSalt salt_;
};

}  // namespace tally
