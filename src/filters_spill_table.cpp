#include "tally/filters/spill_table.hpp"

namespace tally {

bool SpillTable::take_one(std::uint64_t fingerprint) noexcept {
  if (count(fingerprint) == 0) return false;
  std::uint64_t hole = slot_of(fingerprint);
  --total_;
  if (--entries_[hole].count != 0) return true;
  --size_;
  // Entries behind the hole that a search from their home reaches through it move up.
  const std::uint64_t mask = entries_.size() - 1;
  for (std::uint64_t next = (hole + 1) & mask; entries_[next].count != 0; next = (next + 1) & mask) {
    const std::uint64_t distance_to_home = (next - home(entries_[next].fingerprint)) & mask;
    if (distance_to_home < ((next - hole) & mask)) continue;
    entries_[hole] = entries_[next];
    entries_[next].count = 0;
    hole = next;
  }
  return true;
}

}  // namespace tally
