#include "tally/filters/compact_dleft_statistics.hpp"

#include "tally/detail/compact/table.hpp"

namespace tally {

CompactDLeftStatistics compact_statistics(const detail::CompactTable& table, const DLeftTotals& totals) {
  const CompactDLeftShape& shape = table.shape();
  CompactDLeftStatistics statistics;
  statistics.totals = totals;
  statistics.num_cells = shape.num_cells();
  for (auto& loads : statistics.loads) loads.assign(shape.line().num_cells + 1, 0);
  for (std::uint64_t line = 0; line < shape.num_lines(); ++line) {
    const std::uint32_t load = table.load(line);
    ++statistics.loads[line / shape.num_lines_per_subtable][load];
    statistics.num_used_cells += load;
  }
  statistics.num_fingerprints = table.num_fingerprints();
  statistics.num_spilled = table.spills().size();
  statistics.spilled_total = table.spills().total();
  statistics.spill_capacity = table.spills().capacity();
  statistics.num_keys = statistics.num_used_cells + statistics.spilled_total;
  statistics.false_positive_rate =
      static_cast<double>(statistics.num_fingerprints) / shape.num_fingerprints();
  return statistics;
}

}  // namespace tally
