#include "tally/sets/shared_entry_set.hpp"

namespace tally {

void SharedEntrySet::contains_batch(std::span<const std::uint64_t> entries, std::span<bool> results) const {
  table_.visit_batch(entries, [&](std::size_t i, Table::Slot slot) { results[i] = slot.line != nullptr; });
}

SharedEntrySet::Outcome SharedEntrySet::insert(std::uint64_t entry) {
  return table_.insert(entry, [](Table::Slot, bool) {});
}

}  // namespace tally
