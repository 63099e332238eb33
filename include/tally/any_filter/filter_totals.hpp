#pragma once

#include <cstdint>

namespace tally {

/// The numbers of calls on a structure so far. Numbers that do not apply to the kind stay 0.
struct FilterTotals {
  std::uint64_t num_insertions = 0;  ///< without refused ones; for a sketch the sum of all weights
  std::uint64_t num_removes = 0;     ///< without refused ones
  std::uint64_t num_refused_removes = 0;
  std::uint64_t num_full = 0;     ///< insertions that returned `full`; d-left filters
  std::uint64_t num_rescues = 0;  ///< insertions that found room by moves; d-left filters

  /// Not calls, but stored here so that reading a file need not scan it: the number of cells in use in a d-left filter.
  std::uint64_t num_fingerprints = 0;

  /// Not calls either: the most that halvings may have added to a counter of a sketch.
  std::uint64_t rounding = 0;

  friend bool operator==(const FilterTotals&, const FilterTotals&) = default;
};

}  // namespace tally
