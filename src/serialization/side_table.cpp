#include <algorithm>
#include <string>
#include <vector>

#include "serialization/parts.hpp"
#include "tally/detail/little_endian.hpp"

namespace tally::detail {

void check_side_table(const BodyBytes& body, std::uint64_t spill_capacity,
                      const std::function<bool(std::uint64_t)>& belongs) {
  const std::uint64_t num_slots = SpillTable::num_slots(spill_capacity);
  const std::uint64_t offset = file_header_bytes + body.main.size();
  const auto word_at = [&](std::uint64_t index) {
    return load_little_endian<std::uint64_t>(body.side.data() + 8 * index);
  };
  const auto fingerprint_at = [&](std::uint64_t slot) { return word_at(2 * slot); };
  const auto count_at = [&](std::uint64_t slot) { return word_at(2 * slot + 1); };
  const auto refuse_entry = [&](std::uint64_t slot, const std::string& reason) {
    throw FormatError("entry " + std::to_string(slot) + " of the side table " + reason, offset + 16 * slot);
  };

  std::uint64_t num_used = 0;
  for (std::uint64_t slot = 0; slot < num_slots; ++slot) num_used += count_at(slot) != 0 ? 1 : 0;
  std::vector<std::uint64_t> fingerprints;
  fingerprints.reserve(std::min(num_used, spill_capacity));
  std::uint64_t total = 0;
  std::uint64_t free_slot = num_slots;
  for (std::uint64_t slot = 0; slot < num_slots; ++slot) {
    if (count_at(slot) == 0) {
      if (fingerprint_at(slot) != 0) refuse_entry(slot, "is free but not 0");
      free_slot = slot;
      continue;
    }
    if (count_at(slot) > SpillTable::max_total - total) refuse_entry(slot, "brings the sum above 2^63");
    total += count_at(slot);
    if (fingerprints.size() == spill_capacity) refuse_entry(slot, "exceeds spill_capacity");
    fingerprints.push_back(fingerprint_at(slot));
  }
  if (fingerprints.empty()) return;
  std::ranges::sort(fingerprints);
  if (std::ranges::adjacent_find(fingerprints) != fingerprints.end()) {
    throw FormatError("the side table has two entries for the same fingerprint", offset);
  }
  // From a free slot round to it again; there is one, because the capacity is less than the number of slots.
  std::uint64_t run = 0;  // slots in use before this one
  for (std::uint64_t i = 1; i < num_slots; ++i) {
    const std::uint64_t slot = (free_slot + i) & (num_slots - 1);
    if (count_at(slot) == 0) {
      run = 0;
      continue;
    }
    const std::uint64_t fingerprint = fingerprint_at(slot);
    if (((slot - SpillTable::home(fingerprint, num_slots)) & (num_slots - 1)) > run) {
      refuse_entry(slot, "is where no search finds it");
    }
    ++run;
    if (!belongs(fingerprint)) refuse_entry(slot, "belongs to no cell whose counter is at its maximum");
  }
}

}  // namespace tally::detail
