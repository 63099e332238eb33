#pragma once

#include <cstdint>
#include <span>

#include "tally/detail/entries/shared_entry_table.hpp"
#include "tally/export.hpp"

namespace tally {

/// A set of nonzero 64-bit entries that several threads fill: 10 to 15 bytes per entry of a large set.
///
/// Lookups come in batches, with one lock per batch. A secret of the process chooses the slots, so that no choice of
/// entries makes the searches long.
/// Threads: all functions may run concurrently.
class TALLY_EXPORT SharedEntrySet {
  using Table = detail::SharedEntryTable<false>;

 public:
  using Outcome = Table::Outcome;

  /// Never takes more than `max_bytes`, including copies while it grows (except for a minimum table of 4
  /// KiB). Throws std::bad_alloc if there is not enough memory. `salt`: tests pass another one.
  explicit SharedEntrySet(std::uint64_t max_bytes, detail::ProcessSalt salt = detail::process_salt())
      : table_(max_bytes, salt) {}

  /// results[i] = whether the set contains entries[i].
  void contains_batch(std::span<const std::uint64_t> entries, std::span<bool> results) const;

  /// If several threads insert the same entry, exactly one of them gets `inserted`. `full`: nothing has
  /// changed. Throws std::bad_alloc, and then changes nothing.
  [[nodiscard]] Outcome insert(std::uint64_t entry);

  /// Removes all entries; waits for the other threads. The memory stays allocated.
  void clear() noexcept { table_.clear(); }

  std::uint64_t size() const noexcept { return table_.size(); }
  std::uint64_t num_bytes() const noexcept { return table_.num_bytes(); }

  /// The number of slots that the longest search for an entry visits; 0 if there is none. Takes time
  /// proportional to size().
  std::uint64_t longest_search() const { return table_.longest_search(); }

 private:
  Table table_;
};

}  // namespace tally
