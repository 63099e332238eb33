#include "tally/filters/dleft_statistics.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "tally/detail/checked_math.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/filters/compact_dleft_statistics.hpp"
#include "tally/theory/estimate.hpp"

namespace tally {

namespace {

FilterStatistics of_calls(const DLeftTotals& totals) {
  FilterStatistics all;
  all.num_insertions = totals.num_insertions;
  all.num_removes = totals.num_removes;
  all.num_refused_removes = totals.num_refused_removes;
  return all;
}

void estimate_keys(FilterStatistics& all, std::uint64_t num_possible, std::uint64_t num_fingerprints) {
  const std::uint64_t num_absent = num_possible - std::min(num_possible, num_fingerprints);
  const auto estimate = theory::estimate_distinct_keys(num_possible, 1, num_absent);
  all.estimated_num_keys = estimate.num_keys;
  all.estimated_num_keys_standard_error = estimate.standard_error;
  all.estimated_false_positive_rate =
      std::min(1.0, static_cast<double>(num_fingerprints) / static_cast<double>(num_possible));
}

}  // namespace

DLeftTableStatistics table_statistics(const DLeftShape& shape, const CellTable& cells,
                                      const SpillTable& spills) {
  DLeftTableStatistics statistics;
  statistics.num_cells = shape.num_cells();
  statistics.counts.assign((std::uint64_t{1} << shape.counter_bits) + 1, 0);
  statistics.loads.assign(shape.num_subtables, std::vector<std::uint64_t>(shape.cells_per_bucket + 1, 0));
  const std::uint64_t buckets_per_subtable = shape.current_buckets_per_subtable();
  for (std::uint64_t bucket = 0; bucket < cells.num_buckets(); ++bucket) {
    std::uint32_t load = 0;
    for (std::uint32_t index = 0; index < shape.cells_per_bucket; ++index) {
      const std::uint32_t cell = cells.get(bucket, index);
      const std::uint64_t count = cell == 0 ? 0 : (std::uint64_t{cell} >> shape.remainder_bits) + 1;
      ++statistics.counts[count];
      statistics.num_keys += count;
      load += cell != 0;
    }
    ++statistics.loads[bucket / buckets_per_subtable][load];
    statistics.num_fingerprints += load;
  }
  statistics.num_spilled = spills.size();
  statistics.spilled_total = spills.total();
  statistics.spill_capacity = spills.capacity();
  statistics.num_keys += spills.total();
  statistics.false_positive_rate =
      static_cast<double>(statistics.num_fingerprints) / shape.fingerprint_space().num_fingerprints();
  return statistics;
}

FilterStatistics filter_statistics(const DLeftShape& shape, const DLeftStatistics& statistics) {
  const DLeftTableStatistics& table = statistics.table;
  FilterStatistics all = of_calls(statistics.totals);
  all.num_positions = table.num_cells;
  all.num_nonzero = table.num_fingerprints;
  const std::uint64_t max_count = table.counts.size() - 1;
  for (std::uint64_t count = 0; count <= max_count; ++count) {
    // Only in unchecked words from a file can more fingerprints be spilled than cells are full.
    const std::uint64_t num_beyond =
        count == max_count ? std::min(table.num_spilled, table.counts[count]) : 0;
    all.histogram.push_back({count, count, table.counts[count] - num_beyond});
    if (num_beyond == 0) continue;
    all.histogram.push_back({count + 1, std::numeric_limits<std::uint64_t>::max(), num_beyond});
  }
  while (all.histogram.back().num_counters == 0) all.histogram.pop_back();
  const FingerprintSpace space = shape.fingerprint_space();
  estimate_keys(all, space.num_buckets * space.num_remainders(), table.num_fingerprints);
  return all;
}

FilterStatistics filter_statistics(const CompactDLeftShape& shape, const CompactDLeftStatistics& statistics) {
  FilterStatistics all = of_calls(statistics.totals);
  all.num_positions = statistics.num_cells;
  all.num_nonzero = statistics.num_used_cells;
  all.histogram.push_back({0, 0, statistics.num_cells - statistics.num_used_cells});
  if (statistics.num_used_cells != 0) all.histogram.push_back({1, 1, statistics.num_used_cells});
  estimate_keys(all, static_cast<std::uint64_t>(shape.num_fingerprints()), statistics.num_fingerprints);
  return all;
}

void detail::require_cells_of(const DLeftShape& shape, const CellTable& cells, const SpillTable& spills) {
  const auto require = [](std::string_view name, std::uint64_t value, std::uint64_t expected) {
    if (value == expected) return;
    throw_parameter_error("DLeftCountingBloomFilter", name, value, std::to_string(expected));
  };
  require("number of buckets", cells.num_buckets(),
          shape.current_buckets_per_subtable() * shape.num_subtables);
  require("cells_per_bucket", cells.cells_per_bucket(), shape.cells_per_bucket);
  require("cell_bits", cells.cell_bits(), shape.cell_bits());
  require("spill_capacity", spills.capacity(), shape.spill_capacity);
}

void detail::add_totals(DLeftTotals& mine, const DLeftTotals& theirs) noexcept {
  const auto add = [](std::uint64_t& a, std::uint64_t b) { a = saturating_add(a, b); };
  add(mine.num_insertions, theirs.num_insertions);
  add(mine.num_full, theirs.num_full);
  add(mine.num_rescues, theirs.num_rescues);
  add(mine.num_removes, theirs.num_removes);
  add(mine.num_refused_removes, theirs.num_refused_removes);
}

}  // namespace tally
