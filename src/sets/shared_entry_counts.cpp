#include "tally/sets/shared_entry_counts.hpp"

namespace tally {

void SharedEntryCounts::count_batch(std::span<const std::uint64_t> entries, std::span<bool> results) {
  table_.visit_batch(entries, [&](std::size_t i, Table::Slot slot) {
    results[i] = slot.line != nullptr;
    if (results[i]) Table::add(slot, 1);
  });
}

SharedEntryCounts::Outcome SharedEntryCounts::insert(std::uint64_t entry, std::uint32_t count) {
  return table_.insert(entry, [&](Table::Slot slot, bool is_new) { Table::add(slot, is_new ? count : 1); });
}

void SharedEntryCounts::counts_of(std::span<const std::uint64_t> entries,
                                  std::span<std::uint32_t> results) const {
  table_.visit_batch(entries, [&](std::size_t i, Table::Slot slot) {
    results[i] = slot.line == nullptr ? 0 : Table::count_in(slot);
  });
}

std::vector<std::vector<EntryCount>> SharedEntryCounts::take(std::size_t num_vectors) {
  std::vector<std::vector<EntryCount>> all(num_vectors);
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < num_vectors; ++i) {
    const std::uint64_t end = table_.num_lines() / num_vectors * (i + 1) +
                              (i + 1 == num_vectors ? table_.num_lines() % num_vectors : 0);
    std::size_t size = 0;
    table_.for_each_slot(first, end, [&](Table::Slot) { ++size; });
    all[i].reserve(size);
    table_.for_each_slot(first, end, [&](Table::Slot slot) {
      all[i].push_back({slot.line[slot.at], Table::count_in(slot)});
    });
    table_.discard_lines_before(end);
    first = end;
  }
  return all;
}

}  // namespace tally
