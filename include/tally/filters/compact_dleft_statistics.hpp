#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tally/export.hpp"
#include "tally/filters/dleft_statistics.hpp"
#include "tally/shapes/compact_dleft.hpp"

namespace tally::detail {
class CompactTable;
}

namespace tally {

/// Statistics of a CompactDLeftFilter.
struct CompactDLeftStatistics {
  DLeftTotals totals;

  std::uint64_t num_cells = 0;
  std::uint64_t num_used_cells = 0;    ///< a fingerprint has one cell for each of its first three keys
  std::uint64_t num_fingerprints = 0;  ///< distinct fingerprints
  std::uint64_t num_keys = 0;          ///< the size of the multiset: insertions minus removals

  /// loads[i][l]: number of lines of subtable i with l cells in use.
  std::array<std::vector<std::uint64_t>, 2> loads;

  std::uint64_t num_spilled = 0;    ///< fingerprints in the side table
  std::uint64_t spilled_total = 0;  ///< their total count in the side table
  std::uint64_t spill_capacity = 0;

  /// For a key that was never inserted: the share of all possible fingerprints that are in the filter. Exact.
  double false_positive_rate = 0;

  double load_factor() const noexcept {
    return num_cells == 0 ? 0 : static_cast<double>(num_used_cells) / static_cast<double>(num_cells);
  }
};

/// The same in the terms of the other filters: positions are cells. The number of keys and its standard error follow
/// from the number of fingerprints, which are drawn uniformly from all possible ones.
TALLY_EXPORT FilterStatistics filter_statistics(const CompactDLeftShape& shape,
                                                const CompactDLeftStatistics& statistics);

TALLY_EXPORT CompactDLeftStatistics compact_statistics(const detail::CompactTable& table,
                                                       const DLeftTotals& totals);

}  // namespace tally
