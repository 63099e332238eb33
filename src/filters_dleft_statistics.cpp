#include "tally/filters/dleft_statistics.hpp"

#include "tally/detail/checked_math.hpp"

namespace tally {

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

void detail::add_totals(DLeftTotals& mine, const DLeftTotals& theirs) noexcept {
  const auto add = [](std::uint64_t& a, std::uint64_t b) { a = saturating_add(a, b); };
  add(mine.num_insertions, theirs.num_insertions);
  add(mine.num_full, theirs.num_full);
  add(mine.num_rescues, theirs.num_rescues);
  add(mine.num_removes, theirs.num_removes);
  add(mine.num_refused_removes, theirs.num_refused_removes);
}

}  // namespace tally
