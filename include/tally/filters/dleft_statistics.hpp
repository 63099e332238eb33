#pragma once

#include <cstdint>
#include <vector>

#include "tally/export.hpp"
#include "tally/filters/spill_table.hpp"
#include "tally/filters/statistics.hpp"
#include "tally/shapes/dleft.hpp"
#include "tally/storage/cell_table.hpp"

namespace tally {

/// The number of calls on a DLeftCountingBloomFilter so far, whatever their keys.
struct DLeftTotals {
  std::uint64_t num_insertions = 0;  ///< those that were not refused
  std::uint64_t num_full = 0;        ///< insertions refused because there was no room
  std::uint64_t num_rescues = 0;     ///< insertions that found room by moves
  std::uint64_t num_removes = 0;     ///< those that were not refused
  std::uint64_t num_refused_removes = 0;

  friend bool operator==(const DLeftTotals&, const DLeftTotals&) = default;
};

/// What the table of a DLeftCountingBloomFilter holds.
struct DLeftTableStatistics {
  std::uint64_t num_cells = 0;
  std::uint64_t num_fingerprints = 0;  ///< distinct fingerprints, one cell each
  std::uint64_t num_keys = 0;          ///< the size of the multiset: insertions minus removals

  /// loads[i][l]: number of buckets of subtable i with l cells in use.
  std::vector<std::vector<std::uint64_t>> loads;
  /// counts[n]: number of cells with count n; counts[0] are the empty ones.
  std::vector<std::uint64_t> counts;

  std::uint64_t num_spilled = 0;    ///< fingerprints in the side table
  std::uint64_t spilled_total = 0;  ///< their total count in the side table
  std::uint64_t spill_capacity = 0;

  /// For a key that was never inserted: the share of all possible fingerprints that are in the filter. Exact.
  double false_positive_rate = 0;

  double load_factor() const noexcept {
    return num_cells == 0 ? 0 : static_cast<double>(num_fingerprints) / static_cast<double>(num_cells);
  }
};

/// Statistics of a DLeftCountingBloomFilter.
struct DLeftStatistics {
  DLeftTotals totals;
  DLeftTableStatistics table;
};

TALLY_EXPORT DLeftTableStatistics table_statistics(const DLeftShape& shape, const CellTable& cells,
                                                   const SpillTable& spills);

/// The same in the terms of the other filters: positions are cells, and a fingerprint with an entry in the
/// side table has a higher count than any cell can hold. The number of keys and its standard error follow
/// from the number of fingerprints, which are drawn uniformly from the fingerprint space.
TALLY_EXPORT FilterStatistics filter_statistics(const DLeftShape& shape, const DLeftStatistics& statistics);

namespace detail {
/// Throws std::invalid_argument unless cells and side table have the sizes given by the shape.
TALLY_EXPORT void require_cells_of(const DLeftShape& shape, const CellTable& cells, const SpillTable& spills);

/// Adds the totals of a merged filter, saturating.
TALLY_EXPORT void add_totals(DLeftTotals& mine, const DLeftTotals& theirs) noexcept;
}  // namespace detail

}  // namespace tally
