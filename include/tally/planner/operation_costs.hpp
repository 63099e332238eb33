#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tally/export.hpp"
#include "tally/shapes/filter.hpp"

namespace tally {

/// Where times come from.
enum class CostSource : std::uint8_t {
  table,         ///< measured once; docs/benchmarks.md says how
  carried_over,  ///< the table, in line reads of the machine of the given figures
  figures        ///< given figures of this very shape
};

/// "table", "carried-over" or "figures".
TALLY_EXPORT std::string_view name_of(CostSource source) noexcept;

/// Processor time per key of a filter's operations, in batches, in ns.
struct OperationCosts {
  double insert_ns = 0;
  double lookup_absent_ns = 0;
  double lookup_present_ns = 0;
  std::optional<double> remove_ns = {};  ///< empty if the filter cannot remove
  /// A read of one random 64-byte line in memory as large as the filter. The other times divided by this one differ less
  /// between machines than the times do.
  double line_read_ns = 0;
  CostSource source = CostSource::table;

  /// The mean of a lookup of an absent and of a present key.
  double lookup_ns() const noexcept { return 0.5 * (lookup_absent_ns + lookup_present_ns); }
  /// A lookup, an insertion and, if keys are removed, a removal.
  double total_ns(bool with_removals) const noexcept {
    return lookup_ns() + insert_ns + (with_removals ? remove_ns.value_or(0) : 0);
  }

  friend bool operator==(const OperationCosts&, const OperationCosts&) = default;
};

/// The times of a full filter by the planner's table: times in line reads, measured with filters in and out of the cache
/// (up to 6 MiB, and from 64 MiB on), and a geometric mean for memory in between. Times that grow with the number of
/// hashes or cells per key do so in proportion. Throws std::invalid_argument for a sketch.
/// @source docs/benchmarks.md, which names the machines
TALLY_EXPORT OperationCosts operation_costs(const FilterShape& shape);

/// Times that the user has measured for a filter of this shape; `costs.source` is ignored.
struct MeasuredFilter {
  FilterShape shape;
  OperationCosts costs;
};

}  // namespace tally
