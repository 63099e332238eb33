#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tally/export.hpp"
#include "tally/planner/plan.hpp"

namespace tally {

/// What one structure makes of keys, rate and memory. Each candidate is empty if no shape of the structure does what it says.
struct StructureFit {
  FilterKind kind = FilterKind::bloom;
  std::uint64_t promised_true_count = 0;    ///< as in Candidate
  std::optional<Candidate> needed;          ///< the least memory for the keys and the rate
  std::optional<Candidate> with_memory;     ///< the lowest rate for the keys in all of the memory
  std::optional<Candidate> with_most_keys;  ///< the most keys at the rate in all of the memory
  bool fits = false;                        ///< whether `needed` takes no more than the memory
};

/// Whether some memory is enough for the keys at the rate, and if not, what would do.
struct TALLY_EXPORT PlanCheck {
  std::uint64_t num_keys = 0;
  double false_positive_rate = 0;
  std::uint64_t memory_bytes = 0;
  /// Those that fit first, in the order of plan(); then the others, by the memory that they need.
  std::vector<StructureFit> structures;
  std::vector<std::string> warnings;

  /// Whether any structure fits.
  bool is_enough() const noexcept { return !structures.empty() && structures.front().fits; }
  /// The candidate that takes the least memory for keys and rate, that has the lowest rate with keys and memory, or that
  /// holds the most keys with rate and memory; null if there is none.
  const Candidate* with_least_memory() const noexcept;
  const Candidate* with_lowest_rate() const noexcept;
  const Candidate* with_most_keys() const noexcept;
};

/// Compares what plan() answers for each two of num_keys (or histogram), false_positive_rate and memory_bytes, of which all
/// three must be given. Reads the other fields as plan() does. The answer for rate and memory does not use num_insertions or
/// the histogram, which belong to the given keys: with_most_keys is empty for a structure whose rate depends on them.
///
/// Throws std::invalid_argument for requirements out of range, or if no structure meets any two of the three.
[[nodiscard]] TALLY_EXPORT PlanCheck check_plan(const Requirements& requirements,
                                                std::span<const MeasuredFilter> figures = {});

}  // namespace tally
