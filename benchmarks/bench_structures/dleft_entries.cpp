#include "entries.hpp"
#include "filter_calls.hpp"
#include "tally/filters/compact_dleft.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/planner/plan_compact_dleft.hpp"
#include "tally/theory/dleft_fingerprints.hpp"

namespace tally::bench {
namespace {

constexpr double load = 0.87;  // share of the cells in use

/// The least whole number of parts with this number of cells in which the keys have the given load.
std::uint64_t num_parts(std::uint64_t num_keys, double share, std::uint32_t cells_per_part) {
  return static_cast<std::uint64_t>(static_cast<double>(num_keys) / (share * cells_per_part)) + 1;
}

Entry dleft(DLeftShape shape) {
  shape.least_remainder_bits = shape.remainder_bits;
  const auto make = [shape](std::uint64_t num_keys) {
    DLeftShape own = shape;
    own.buckets_per_subtable = num_parts(num_keys, load, own.num_subtables * own.cells_per_bucket);
    DLeftCountingBloomFilter<> filter(own, 1);
    const auto& table = filter.table();
    const std::uint64_t num_bytes = 8 * (table.cells().words().size() + table.spills().words().size());
    const FingerprintSpace space = own.fingerprint_space();
    return structure_of(FilterCalls(std::move(filter), num_bytes),
                        {.planned_rate = theory::dleft_false_positive_probability(
                             space.num_buckets, space.num_remainders(), num_keys)});
  };
  std::string name = fmt::format("dleft {} x {}", shape.num_subtables, shape.cells_per_bucket);
  if (shape.cell_bits() != 16) name += fmt::format(", {}-bit cells", shape.cell_bits());
  return {name, make};
}

Entry compact(std::uint32_t remainder_bits) {
  const auto make = [=](std::uint64_t num_keys) {
    CompactDLeftShape shape{.remainder_bits = remainder_bits};
    shape.num_lines_per_subtable =
        num_parts(num_keys, planned_compact_load(remainder_bits), 2 * shape.line().num_cells);
    CompactDLeftFilter filter(shape, 1);
    const auto& table = filter.table();
    const std::uint64_t num_bytes = 8 * (table.words().size() + table.spills().words().size());
    return structure_of(FilterCalls(std::move(filter), num_bytes),
                        {.planned_rate = theory::dleft_false_positive_probability(
                             shape.num_lines_per_subtable, shape.fingerprints_per_line(), num_keys)});
  };
  return {fmt::format("compact-dleft r {}", remainder_bits), make};
}

}  // namespace

std::vector<Entry> dleft_entries() {
  return {dleft({.num_subtables = 2, .cells_per_bucket = 32}),
          dleft({.num_subtables = 4, .cells_per_bucket = 8}),
          dleft({.num_subtables = 4, .cells_per_bucket = 32}),
          // Without vector loops; the planner's texts say how much slower they are.
          dleft({.num_subtables = 4, .cells_per_bucket = 8, .remainder_bits = 10}),
          dleft({.num_subtables = 4, .cells_per_bucket = 32, .remainder_bits = 22}), compact(8), compact(9),
          compact(13)};
}

}  // namespace tally::bench
