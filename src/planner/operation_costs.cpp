#include "tally/planner/operation_costs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "planner/dleft_search.hpp"
#include "tally/hashing/scheme_list.hpp"

namespace tally {
namespace {

/// Times in line reads.
struct Multiples {
  double insert;
  double lookup_absent;
  double lookup_present;
  double remove = 0;
};

/// What was measured for one shape, in cache (1 million keys) and out of it (64 million).
struct CostRow {
  double size;  ///< positions, subtables or cells that a key reads, or remainder bits
  Multiples in_cache;
  Multiples out_of_cache;
};

// The table: ratios of batches to a1 in docs/benchmarks.md. A remark says where they are not from there.

constexpr CostRow bloom_row{7, {4.8, 6.8, 4.4}, {8.5, 3.0, 8.3}};
constexpr CostRow blocked_row{6, {2.6, 1.5, 1.5}, {3.2, 1.6, 1.6}};
constexpr CostRow register_blocked_row{8, {1.1, 1.1, 1.1}, {1.3, 1.3, 1.3}};
constexpr CostRow blocked_counting_row{6, {2.2, 1.5, 1.5, 2.5}, {1.3, 1.3, 1.3, 1.4}};
// Counters of other widths than 4 bits, which have no vector loops. From the section "Results without AVX-512"; in cache
// from a comparison with those of 4 bits.
constexpr CostRow slow_blocked_counting_row{6, {11, 5.6, 5.3, 5.6}, {4.9, 4.2, 4.1, 5.0}};
constexpr CostRow counting_row{7, {6.9, 7.2, 5.8, 7.4}, {11.2, 3.6, 9.2, 11.0}};
// From the times with 1 million keys; out of the cache those of the counting filter, which reads as many counters.
constexpr CostRow threshold_row{7, {13.0, 7.4, 6.1}, {11.2, 3.6, 9.2}};
constexpr CostRow dleft_of_two_row{2, {4.1, 2.6, 2.6, 4.4}, {3.1, 2.5, 2.6, 2.9}};
constexpr CostRow dleft_of_four_row{4, {6.8, 4.5, 4.5, 5.7}, {6.6, 5.3, 5.4, 5.8}};
constexpr CostRow slow_dleft_row{32, {55.2, 28.7, 23.6, 23.1}, {18.3, 11.3, 8.9, 9.3}};
// From the times with 1 million keys; out of the cache the additional cells take as many ns as in it.
constexpr CostRow slow_dleft_of_many_cells_row{128, {132, 70.8, 50, 49.6}, {39.0, 22.7, 16.0, 16.5}};
constexpr CostRow compact_row{9, {7.2, 3.8, 3.8, 6.3}, {3.0, 3.2, 3.1, 2.8}};
// From the times with 1 million keys; out of the cache those of 9 bits, because it reads as many lines.
constexpr CostRow wide_compact_row{13, {8.3, 5.8, 5.8, 6.8}, {3.0, 3.2, 3.1, 2.8}};

/// A line read (a1) on the machine of the table, and up to and from which memory.
constexpr double in_cache_line_ns = 2.3;
constexpr double out_of_cache_line_ns = 8.5;
using planner_detail::in_cache_bytes;
constexpr double out_of_cache_bytes = 64.0 * (1 << 20);

template <class Combine>
Multiples combined(const Multiples& a, const Multiples& b, Combine combine) {
  return {combine(a.insert, b.insert), combine(a.lookup_absent, b.lookup_absent),
          combine(a.lookup_present, b.lookup_present), combine(a.remove, b.remove)};
}

/// On the line through both rows, at no less than half of the first size.
CostRow row_between(const CostRow& low, const CostRow& high, double size) {
  const double share =
      std::max((size - low.size) / (high.size - low.size), -0.5 * low.size / (high.size - low.size));
  const auto at = [&](double a, double b) { return a + share * (b - a); };
  return {size, combined(low.in_cache, high.in_cache, at), combined(low.out_of_cache, high.out_of_cache, at)};
}

/// Insertions, removals and hits read every position; a miss reads about two. Nothing is faster than the read of a line.
CostRow by_hashes(const CostRow& row, double num_hashes) {
  const auto times = [](double factor, double value) { return std::max(1.0, factor * value); };
  const double all = num_hashes / row.size;
  const double miss = std::min(1.0, num_hashes / 2);
  const auto scaled = [&](const Multiples& of) {
    return Multiples{times(all, of.insert), times(miss, of.lookup_absent), times(all, of.lookup_present),
                     times(all, of.remove)};
  };
  return {num_hashes, scaled(row.in_cache), scaled(row.out_of_cache)};
}

/// All operations take all positions together, from one line.
CostRow in_one_line(const CostRow& row, double num_hashes) {
  const auto scaled = [&](const Multiples& of) {
    const auto at = [&](double value, double) { return std::max(1.0, num_hashes / row.size * value); };
    return combined(of, of, at);
  };
  return {num_hashes, scaled(row.in_cache), scaled(row.out_of_cache)};
}

/// A new law must say here what it costs.
const CostRow& row_of_blocked(PositionLaw law) {
  switch (law) {
    case PositionLaw::words:
      return register_blocked_row;
    case PositionLaw::lines:
    case PositionLaw::independent:
    case PositionLaw::parts:
    case PositionLaw::plain_double:
    case PositionLaw::quadratic_double:
    case PositionLaw::cubic_double:
    case PositionLaw::triple:
    case PositionLaw::partition_double:
      break;
  }
  return blocked_row;
}

CostRow row_of(const FilterShape& shape) {
  const double num_hashes = shape.num_hashes();
  switch (shape.kind()) {
    case FilterKind::bloom:
      return by_hashes(bloom_row, num_hashes);
    case FilterKind::blocked_bloom:
      return in_one_line(row_of_blocked(position_law(shape.scheme_id)), num_hashes);
    case FilterKind::counting_bloom:
      return by_hashes(counting_row, num_hashes);
    case FilterKind::blocked_counting_bloom:
      return in_one_line(std::get<BlockedCountingBloomShape>(shape.shape).counter_bits == 4
                             ? blocked_counting_row
                             : slow_blocked_counting_row,
                         num_hashes);
    case FilterKind::threshold:
      return by_hashes(threshold_row, num_hashes);
    case FilterKind::dleft: {
      const DLeftShape& dleft = std::get<DLeftShape>(shape.shape);
      if (planner_detail::has_vector_loops(dleft))
        return row_between(dleft_of_two_row, dleft_of_four_row, num_hashes);
      return row_between(slow_dleft_row, slow_dleft_of_many_cells_row, num_hashes * dleft.cells_per_bucket);
    }
    case FilterKind::compact_dleft: {
      const double bits = std::get<CompactDLeftShape>(shape.shape).remainder_bits;
      return row_between(compact_row, wide_compact_row,
                         std::clamp(bits, compact_row.size, wide_compact_row.size));
    }
    case FilterKind::count_min:
      break;
  }
  throw std::invalid_argument("operation_costs: kind is " + std::string(name_of(shape.kind())) +
                              "; must be that of a filter: the table has no sketches");
}

}  // namespace

std::string_view name_of(CostSource source) noexcept {
  switch (source) {
    case CostSource::table:
      return "table";
    case CostSource::carried_over:
      return "carried-over";
    case CostSource::figures:
      return "figures";
  }
  return "";
}

OperationCosts operation_costs(const FilterShape& shape) {
  const CostRow row = row_of(shape);
  const double bytes = std::clamp(static_cast<double>(shape.num_bytes()), in_cache_bytes, out_of_cache_bytes);
  const double share = std::log(bytes / in_cache_bytes) / std::log(out_of_cache_bytes / in_cache_bytes);
  const auto ns = [&](double in_cache, double out_of_cache) {
    return std::pow(in_cache * in_cache_line_ns, 1 - share) *
           std::pow(out_of_cache * out_of_cache_line_ns, share);
  };
  const Multiples times = combined(row.in_cache, row.out_of_cache, ns);
  OperationCosts costs{.insert_ns = times.insert,
                       .lookup_absent_ns = times.lookup_absent,
                       .lookup_present_ns = times.lookup_present,
                       .line_read_ns = ns(1, 1)};
  if (traits_of(shape.kind()).can_remove) costs.remove_ns = times.remove;
  return costs;
}

}  // namespace tally
