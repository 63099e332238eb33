#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tally/detail/entries/shared_entry_table.hpp"
#include "tally/export.hpp"
#include "tally/sets/entry_count.hpp"

namespace tally {

/// Exact counts of nonzero 64-bit entries that several threads raise: 15.1 to 17.6 bytes per entry of a large table. A count
/// that reaches EntryCount::max_count stays there.
///
/// An entry is counted from its insertion on, which gives its first count. So the occurrences of a key before some event,
/// such as a report by a ThresholdFilter, cost no memory here.
/// Threads: all functions may run concurrently, except take.
class TALLY_EXPORT SharedEntryCounts {
  using Table = detail::SharedEntryTable<true>;

 public:
  using Outcome = Table::Outcome;

  /// As in SharedEntrySet.
  explicit SharedEntryCounts(std::uint64_t max_bytes, detail::ProcessSalt salt = detail::process_salt())
      : table_(max_bytes, salt) {}

  /// Adds 1 to the count of each entry that is there; results[i] = whether entries[i] is.
  void count_batch(std::span<const std::uint64_t> entries, std::span<bool> results);

  /// Inserts the entry with this count, or adds 1 to its count if it is there (`present`): if several threads insert one
  /// entry, exactly one of them gets `inserted`. `full`: nothing has changed, and this entry will never fit. Throws
  /// std::bad_alloc, and then changes nothing.
  [[nodiscard]] Outcome insert(std::uint64_t entry, std::uint32_t count);

  /// results[i] = the count of entries[i]; 0 if it is absent.
  void counts_of(std::span<const std::uint64_t> entries, std::span<std::uint32_t> results) const;

  /// Moves all entries out of the table, into this number of vectors, in no particular order. Needs exclusive access;
  /// afterwards this object may only be destroyed, also if it throws std::bad_alloc. The memory of the table goes back to the
  /// kernel on the way if it came from there.
  std::vector<std::vector<EntryCount>> take(std::size_t num_vectors);

  /// Removes all entries; waits for the other threads. The memory stays allocated.
  void clear() noexcept { table_.clear(); }

  std::uint64_t size() const noexcept { return table_.size(); }
  std::uint64_t num_bytes() const noexcept { return table_.num_bytes(); }

  /// As in SharedEntrySet.
  std::uint64_t longest_search() const { return table_.longest_search(); }

 private:
  Table table_;
};

}  // namespace tally
