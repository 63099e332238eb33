#pragma once

#include <array>
#include <cstdint>

#include "tally/export.hpp"
#include "tally/planner/requirements.hpp"
#include "tally/shapes/compact_dleft.hpp"

namespace tally {

/// The largest share of its cells that a compact filter is planned to use: a fit. There, when keys at random are replaced,
/// about one insertion in a hundred meets two full lines and moves a key. It is refused only if the other lines of all
/// keys in both are full too, and those of the keys in these, for up to 1024 lines. No probability of that is known, and no test
/// has seen it at this load. For 8 to 14 remainder bits; else 0.
constexpr double planned_compact_load(std::uint32_t remainder_bits) noexcept {
  constexpr std::array<double, 7> loads = {0.953, 0.945, 0.94, 0.935, 0.93, 0.93, 0.925};
  const std::uint32_t index = remainder_bits - least_compact_remainder_bits;
  return index < loads.size() ? loads[index] : 0;
}

/// For CompactDLeftFilter: of the remainders of 8 to 14 bits those with, for keys and rate, the least memory; for keys
/// and memory, the lowest rate; for memory and rate, the most keys. Its load is at most planned_compact_load, and its
/// side table has room for the fingerprints that more keys share than a line counts: it is full at any time of the planned
/// life with at most the failure probability (theory::dleft_spills_tail).
///
/// Reads num_keys, false_positive_rate, memory_bytes, num_frequent_keys, lifetime_operations, failure_probability and
/// keys_repeat, which must be false: a key that is in the filter several times takes several cells of one line, and no
/// formula says which load is possible then. Throws std::invalid_argument for requirements out of range or that no such
/// shape meets.
/// @source theory::dleft_false_positive_probability (Bonomi et al. 2006)
[[nodiscard]] TALLY_EXPORT CompactDLeftShape plan_compact_dleft(const Requirements& requirements);

/// The largest number of distinct keys (0 if not even one) with which the filter meets the rate and stays within
/// planned_compact_load. Throws std::invalid_argument for a rate outside (0, 1) or an impossible shape.
TALLY_EXPORT std::uint64_t planned_num_keys(const CompactDLeftShape& shape, double false_positive_rate);

}  // namespace tally
