#include "tally/filters/spill_table.hpp"

#include <string>
#include <utility>

#include "tally/detail/checked_math.hpp"
#include "tally/detail/parameter_error.hpp"

namespace tally {

SpillTable::SpillTable(std::uint64_t capacity, detail::AlignedWords words)
    : capacity_(capacity), mask_(num_slots(capacity) - 1), words_(std::move(words)) {
  if (words_.size() != 2 * num_slots(capacity)) {
    detail::throw_parameter_error("SpillTable", "number of words", words_.size(),
                                  std::to_string(2 * num_slots(capacity)));
  }
  for (std::uint64_t slot = 0; slot < num_slots(capacity); ++slot) {
    size_ += count_at(slot) != 0;
    total_ = detail::saturating_add(total_, count_at(slot));
  }
}

bool SpillTable::add(std::uint64_t fingerprint, std::uint64_t times) noexcept {
  if (!can_add(fingerprint, times)) return false;
  const std::uint64_t slot = slot_of(fingerprint);
  size_ += count_at(slot) == 0;
  set(slot, fingerprint, count_at(slot) + times);
  total_ += times;
  return true;
}

bool SpillTable::take_one(std::uint64_t fingerprint) noexcept {
  const std::uint64_t now = count(fingerprint);
  if (now == 0) return false;
  std::uint64_t hole = slot_of(fingerprint);
  --total_;
  set(hole, fingerprint, now - 1);
  if (now > 1) return true;
  --size_;
  set(hole, 0, 0);
  // Entries after the hole move up if a search from their home slot passes through the hole.
  for (std::uint64_t next = (hole + 1) & mask_; count_at(next) != 0; next = (next + 1) & mask_) {
    const std::uint64_t distance_to_home = (next - home(fingerprint_at(next))) & mask_;
    if (distance_to_home < ((next - hole) & mask_)) continue;
    set(hole, fingerprint_at(next), count_at(next));
    set(next, 0, 0);
    hole = next;
  }
  return true;
}

}  // namespace tally
