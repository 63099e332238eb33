#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <span>

#include "tally/detail/aligned_words.hpp"
#include "tally/detail/prefetch.hpp"
#include "tally/detail/process_salt.hpp"
#include "tally/export.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally::detail {

/// A hash table of nonzero 64-bit entries that several threads fill, in lines of 64 bytes: eight entries per line, or five
/// with a count of 32 bits each.
///
/// An entry is in its home line, or in the first later line that had room. A line fills from its front, and nothing is ever
/// removed. An entry is stored by one compare-and-swap, and moves only while the table grows by half, with counts by a
/// sixth, when all threads wait: 10 to 15 bytes per entry of a large table, or 15.1 to 17.6 with its count. The order of the lines is that of the
/// hash values, so growing reads and writes memory in order and gives the old pages back on the way.
/// A secret of the process chooses the lines, so that no choice of entries makes the searches long.
/// Threads: all functions may run concurrently unless they say otherwise.
template <bool HasCounts>
class SharedEntryTable {
 public:
  enum class Outcome : std::uint8_t { inserted, present, full };

  /// Where an entry is; `line` is null if it is absent.
  struct Slot {
    std::uint64_t* line = nullptr;
    std::size_t at = 0;
  };

  /// See SharedEntrySet.
  SharedEntryTable(std::uint64_t max_bytes, ProcessSalt salt);

  /// Calls visit(i, slot) for entries[i], under one lock for all of them.
  template <class Visit>
  void visit_batch(std::span<const std::uint64_t> entries, Visit visit) const {
    constexpr std::size_t distance = 32;
    const std::shared_lock here(growing_);
    for (std::size_t i = 0; i < std::min(distance, entries.size()); ++i) prefetch(entries[i]);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i + distance < entries.size()) prefetch(entries[i + distance]);
      visit(i, find(entries[i]));
    }
  }

  /// Calls use(slot, is_new) unless it is `full`, before the entry can move. Throws std::bad_alloc, and then changes nothing.
  template <class Use>
  Outcome insert(std::uint64_t entry, Use use) {
    while (true) {
      {
        const std::shared_lock here(growing_);
        Slot slot;
        const Outcome outcome = put(entry, slot);
        if (outcome != Outcome::full) {
          use(slot, outcome == Outcome::inserted);
          return outcome;
        }
      }
      if (!grow()) return Outcome::full;
    }
  }

  /// Adds to the count in a slot, which stays at the maximum of 32 bits once it is there.
  static void add(Slot slot, std::uint32_t amount) noexcept;
  static std::uint32_t count_in(Slot slot) noexcept;

  /// Calls use(slot) for the entries of some lines. Nobody else may use the table meanwhile.
  template <class Use>
  void for_each_slot(std::uint64_t first_line, std::uint64_t end_line, Use use) const {
    for (std::uint64_t* line = line_at(first_line); line != line_at(end_line); line += words_per_line)
      for (std::size_t at = 0; at < entries_per_line && line[at] != 0; ++at) use(Slot{line, at});
  }
  std::uint64_t num_lines() const noexcept { return lines_.size() / words_per_line; }
  /// Forgets what is in the lines before `end_line`, and gives their memory back if possible. Nobody else may use the table
  /// meanwhile; afterwards nothing may be inserted or looked up in it.
  void discard_lines_before(std::uint64_t end_line) noexcept {
    lines_.discard_front(words_per_line * end_line);
  }

  void clear() noexcept;
  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t num_bytes() const noexcept;
  /// In slots, from the first of the home line; takes time proportional to the table.
  std::uint64_t longest_search() const;

 private:
  using Word = std::atomic_ref<std::uint64_t>;
  static constexpr std::size_t words_per_line = 8;
  static constexpr std::size_t entries_per_line = HasCounts ? 5 : 8;

  // The load is at most 0.8, with counts 0.85; searches take longer in a table with counts, but an entry less memory.
  static constexpr std::uint64_t max_load_in_20ths = HasCounts ? 17 : 16;
  static constexpr std::uint64_t growth_divisor = HasCounts ? 6 : 2;
  std::uint64_t max_size() const noexcept { return num_lines() * entries_per_line * max_load_in_20ths / 20; }
  std::uint64_t* line_at(std::uint64_t line) const noexcept {
    return const_cast<std::uint64_t*>(lines_.data()) + words_per_line * line;
  }
  std::uint64_t* home_of(std::uint64_t entry) const noexcept {
    return line_at(reduce_to_range(salted(entry), num_lines()));
  }
  std::uint64_t* line_after(std::uint64_t* line) const noexcept {
    line += words_per_line;
    return line == lines_.data() + lines_.size() ? line_at(0) : line;
  }
  /// As mix64, with the secret instead of its first factor.
  std::uint64_t salted(std::uint64_t entry) const noexcept {
    entry = (entry ^ salt_.second) * salt_.first;
    return (entry ^ (entry >> 32)) * 0xd6e8feb86659fd93u;
  }
  void prefetch(std::uint64_t entry) const noexcept {
    if constexpr (HasCounts) {
      prefetch_for_write(home_of(entry));
    } else {
      prefetch_for_read(home_of(entry));
    }
  }

  // Compares a whole line without a branch on the place in it, which would often be mispredicted.
  Slot find(std::uint64_t entry) const noexcept {
    std::uint64_t* line = home_of(entry);
    while (true) {
      std::size_t found = entries_per_line;
#pragma GCC unroll 8
      for (std::size_t at = 0; at < entries_per_line; ++at)
        found = Word(line[at]).load(std::memory_order_relaxed) == entry ? at : found;
      if (found < entries_per_line) return {line, found};
      if (Word(line[entries_per_line - 1]).load(std::memory_order_relaxed) == 0) return {};
      line = line_after(line);
    }
  }

  Outcome put(std::uint64_t entry, Slot& slot) noexcept;
  bool grow();
  Slot place_alone(std::uint64_t entry) noexcept;
  void move_from(AlignedWords before) noexcept;

  mutable std::shared_mutex growing_;
  AlignedWords lines_;
  std::uint64_t max_bytes_;
  std::atomic<std::uint64_t> size_ = 0;
  ProcessSalt salt_;
};

extern template class TALLY_EXPORT SharedEntryTable<false>;
extern template class TALLY_EXPORT SharedEntryTable<true>;

}  // namespace tally::detail
