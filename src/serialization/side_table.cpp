#include <algorithm>
#include <string>
#include <vector>

#include "serialization/parts.hpp"
#include "tally/detail/little_endian.hpp"

namespace tally::detail {
namespace {

/// The side table in a file's bytes. Its entries are checked by runs: the slots in use between two free ones. A search
/// stays in a run, so two entries for one fingerprint are in the same one.
class SideTable {
 public:
  SideTable(const BodyBytes& body, std::uint64_t spill_capacity, const SideTableRule& belongs)
      : side_(body.side),
        offset_(file_header_bytes + body.main.size()),
        spill_capacity_(spill_capacity),
        num_slots_(SpillTable::num_slots(spill_capacity)),
        belongs_(belongs) {}

  /// Goes on to slot number `end`: checks the runs that end before it.
  void check(std::uint64_t end, CheckedSideTable& checked) const {
    for (; checked.num_slots < end; ++checked.num_slots) {
      const std::uint64_t slot = checked.num_slots;
      if (is_used(slot)) continue;
      if (fingerprint_at(slot) != 0) refuse(slot, "is free but not 0");
      // What is before the first free slot may be the end of the last run.
      if (checked.first_free == CheckedSideTable::no_slot) {
        checked.first_free = slot;
      } else {
        check_run(checked.run_begin, slot, checked);
      }
      checked.run_begin = slot + 1;
    }
  }

  /// The last run, round to the first free slot. There is one, because the capacity is less than the number of slots.
  void check_rest(CheckedSideTable checked) const {
    check(num_slots_, checked);
    if (checked.first_free == CheckedSideTable::no_slot) refuse(spill_capacity_, "exceeds spill_capacity");
    check_run(checked.run_begin, num_slots_ + checked.first_free, checked);
  }

 private:
  std::uint64_t word_at(std::uint64_t index) const {
    return load_little_endian<std::uint64_t>(side_.data() + 8 * index);
  }
  std::uint64_t fingerprint_at(std::uint64_t slot) const { return word_at(2 * slot); }
  std::uint64_t count_at(std::uint64_t slot) const { return word_at(2 * slot + 1); }
  bool is_used(std::uint64_t slot) const { return count_at(slot) != 0; }

  [[noreturn]] void refuse(std::uint64_t slot, const std::string& reason) const {
    throw FormatError("entry " + std::to_string(slot) + " of the side table " + reason, offset_ + 16 * slot);
  }

  /// The slots from `first` to `end`; from num_slots_ on those at the start.
  void check_run(std::uint64_t first, std::uint64_t end, CheckedSideTable& checked) const {
    std::vector<std::uint64_t> fingerprints;
    for (std::uint64_t i = first; i < end; ++i) {
      const std::uint64_t slot = i & (num_slots_ - 1);
      if (count_at(slot) > SpillTable::max_total - checked.total) refuse(slot, "brings the sum above 2^63");
      checked.total += count_at(slot);
      if (checked.num_entries == spill_capacity_) refuse(slot, "exceeds spill_capacity");
      ++checked.num_entries;
      const std::uint64_t fingerprint = fingerprint_at(slot);
      if (((slot - SpillTable::home(fingerprint, num_slots_)) & (num_slots_ - 1)) > i - first)
        refuse(slot, "is where no search finds it");
      if (!belongs_(fingerprint)) refuse(slot, "belongs to no cell whose counter is at its maximum");
      fingerprints.push_back(fingerprint);
    }
    std::ranges::sort(fingerprints);
    if (std::ranges::adjacent_find(fingerprints) != fingerprints.end())
      throw FormatError("the side table has two entries for the same fingerprint", offset_);
  }

  FileBytes side_;
  std::uint64_t offset_;
  std::uint64_t spill_capacity_;
  std::uint64_t num_slots_;
  const SideTableRule& belongs_;
};

}  // namespace

void check_side_table(const BodyBytes& body, std::uint64_t num_bytes, std::uint64_t spill_capacity,
                      const SideTableRule& belongs, CheckedSideTable& checked) noexcept {
  if (checked.has_stopped) return;
  const SideTable table(body, spill_capacity, belongs);
  CheckedSideTable next = checked;
  try {
    table.check(num_bytes / 16, next);
    checked = next;
  } catch (...) {  // check_rest_of_side_table finds it again, or has more memory
    checked.has_stopped = true;
  }
}

void check_rest_of_side_table(const BodyBytes& body, std::uint64_t spill_capacity,
                              const SideTableRule& belongs, const CheckedSideTable& checked) {
  if (!body.side.empty()) SideTable(body, spill_capacity, belongs).check_rest(checked);
}

}  // namespace tally::detail
