#include "tally/planner/operation_costs.hpp"

#include <gtest/gtest.h>

#include <set>

#include "expect_refused.hpp"
#include "sample_filters.hpp"
#include "tally/planner.hpp"

namespace tally {
namespace {

TEST(OperationCosts, EveryFilterHasThemAndARemovalIfItCanRemove) {
  std::set<FilterKind> kinds;
  for (const FilterShape& shape : test::sample_shapes()) {
    kinds.insert(shape.kind());
    if (shape.kind() == FilterKind::count_min) {
      test::expect_refused([&] { (void)operation_costs(shape); }, {"operation_costs: kind is count-min"});
      continue;
    }
    const OperationCosts costs = operation_costs(shape);
    EXPECT_EQ(costs.source, CostSource::table);
    EXPECT_EQ(costs.remove_ns.has_value(), traits_of(shape.kind()).can_remove) << name_of(shape.kind());
    for (const double ns : {costs.insert_ns, costs.lookup_absent_ns, costs.lookup_present_ns,
                            costs.remove_ns.value_or(costs.insert_ns)})
      EXPECT_GE(ns, costs.line_read_ns)
          << name_of(shape.kind()) << ": nothing is faster than the read of a line";
  }
  EXPECT_EQ(kinds.size(), all_kinds().size());
}

TEST(OperationCosts, ALargerFilterIsNotFaster) {
  const auto costs = [](std::uint64_t num_bits) { return operation_costs({BloomShape{num_bits, 7}}); };
  OperationCosts last = costs(1 << 20);
  for (int log2_bits = 21; log2_bits < 40; ++log2_bits) {
    const OperationCosts next = costs(std::uint64_t{1} << log2_bits);
    for (const auto time : {&OperationCosts::insert_ns, &OperationCosts::lookup_absent_ns,
                            &OperationCosts::lookup_present_ns, &OperationCosts::line_read_ns})
      EXPECT_GE(next.*time, last.*time) << log2_bits;
    last = next;
  }
  constexpr std::uint64_t bits_per_mib = 8 << 20;
  const double in_cache = costs(8).insert_ns;
  const double out_of_cache = costs(std::uint64_t{1} << 40).insert_ns;
  EXPECT_EQ(costs(6 * bits_per_mib).insert_ns, in_cache);
  EXPECT_GT(costs(6 * bits_per_mib + 64).insert_ns, in_cache);
  EXPECT_LT(costs(64 * bits_per_mib - 64).insert_ns, out_of_cache);
  EXPECT_EQ(costs(64 * bits_per_mib).insert_ns, out_of_cache);
}

/// The times with 16 million keys are those in the text of docs/benchmarks.md.
TEST(OperationCosts, AFilterPartlyInTheCacheIsMetToTwoFifths) {
  const OperationCosts compact = operation_costs(
      {CompactDLeftShape{.num_lines_per_subtable = 197'000, .remainder_bits = 9, .spill_capacity = 64},
       RotationBuckets::file_id});
  EXPECT_NEAR(compact.insert_ns / 20, 1, 0.4);
  EXPECT_NEAR(compact.lookup_ns() / 13.5, 1, 0.4);
  const OperationCosts dleft = operation_costs({DLeftShape{.buckets_per_subtable = 287'000,
                                                           .num_subtables = 2,
                                                           .cells_per_bucket = 32,
                                                           .remainder_bits = 14,
                                                           .counter_bits = 2,
                                                           .least_remainder_bits = 14,
                                                           .spill_capacity = 64},
                                                RotationBuckets::file_id});
  EXPECT_NEAR(dleft.insert_ns / 15, 1, 0.4);
  EXPECT_NEAR(dleft.lookup_ns() / 14.6, 1, 0.4);
}

TEST(OperationCosts, ATotalHasOneOperationOfEachKind) {
  const OperationCosts costs{
      .insert_ns = 5, .lookup_absent_ns = 2, .lookup_present_ns = 4, .remove_ns = 7, .line_read_ns = 1};
  EXPECT_EQ(costs.lookup_ns(), 3);
  EXPECT_EQ(costs.total_ns(false), 8);
  EXPECT_EQ(costs.total_ns(true), 15);
}

/// Rows of docs/benchmarks.md (1 million keys, batches) from which the table does not come: they show how well it scales.
TEST(OperationCosts, OtherRowsOfTheBenchmarksAreMetToThreeTenths) {
  const auto expect_near = [](const FilterShape& shape, double insert, double absent, double present) {
    const OperationCosts costs = operation_costs(shape);
    EXPECT_NEAR(costs.insert_ns / insert, 1, 0.3) << name_of(shape.kind());
    EXPECT_NEAR(costs.lookup_absent_ns / absent, 1, 0.3) << name_of(shape.kind());
    EXPECT_NEAR(costs.lookup_present_ns / present, 1, 0.3) << name_of(shape.kind());
  };
  const Requirements wanted{.num_keys = 1'000'000, .false_positive_rate = 0.002};
  expect_near({plan_bloom(wanted)}, 14.2, 15.6, 12.9);
  expect_near({plan_counting_bloom(wanted)}, 24, 22, 24);
  expect_near({DLeftShape{.buckets_per_subtable = 9000,
                          .num_subtables = 4,
                          .cells_per_bucket = 32,
                          .remainder_bits = 14,
                          .counter_bits = 2,
                          .least_remainder_bits = 14,
                          .spill_capacity = 64},
               RotationBuckets::file_id},
              16.2, 11.2, 11.1);
  expect_near({CompactDLeftShape{.num_lines_per_subtable = 11'000, .remainder_bits = 8, .spill_capacity = 64},
               RotationBuckets::file_id},
              16.3, 8.6, 8.7);
}

/// The same for a blocked Bloom filter, whose lookups do not grow quite in proportion.
TEST(OperationCosts, ABlockedFilterOfMoreHashesIsMetToAThird) {
  const BlockedBloomShape shape = plan_blocked_bloom({.num_keys = 1'000'000, .false_positive_rate = 0.002});
  const OperationCosts costs = operation_costs({shape, BlockedScheme::file_id});
  EXPECT_NEAR(costs.insert_ns / 8.4, 1, 1.0 / 3);
  EXPECT_NEAR(costs.lookup_absent_ns / 5.5, 1, 1.0 / 3);
}

/// The rows with 40 bits per key, and without AVX-512 that of the counters of 5 bits, in reads of a line.
TEST(OperationCosts, BlockedCountersAreMetAndThoseWithoutVectorLoopsTakeThreeTimesAsLong) {
  const auto costs_of = [](std::uint64_t num_counters, std::uint32_t counter_bits) {
    return operation_costs(
        {BlockedCountingBloomShape{num_counters, 6, counter_bits, 1}, BlockedScheme::file_id});
  };
  const auto expect_near = [](const OperationCosts& costs, double insert, double absent, double remove) {
    EXPECT_NEAR(costs.insert_ns / costs.line_read_ns / insert, 1, 0.1);
    EXPECT_NEAR(costs.lookup_absent_ns / costs.line_read_ns / absent, 1, 0.1);
    EXPECT_NEAR(*costs.remove_ns / costs.line_read_ns / remove, 1, 0.1);
  };
  expect_near(costs_of(10'000'000, 4), 5.3 / 2.4, 3.7 / 2.4, 6.0 / 2.4);
  expect_near(costs_of(640'000'000, 4), 13.5 / 9.9, 12.7 / 9.9, 13.6 / 9.9);
  expect_near(costs_of(770'000'000, 5), 52 / 10.5, 44 / 10.5, 52 / 10.5);
  EXPECT_GT(costs_of(640'000'000, 5).lookup_absent_ns, 3 * costs_of(640'000'000, 4).lookup_absent_ns);
}

OperationCosts costs_of_dleft(std::uint32_t cell_bits, std::uint32_t cells_per_bucket) {
  return operation_costs({DLeftShape{.buckets_per_subtable = 9000,
                                     .num_subtables = 4,
                                     .cells_per_bucket = cells_per_bucket,
                                     .remainder_bits = cell_bits - 2,
                                     .counter_bits = 2,
                                     .least_remainder_bits = cell_bits - 2,
                                     .spill_capacity = 64},
                          RotationBuckets::file_id});
}

TEST(OperationCosts, CellsWithoutVectorLoopsTakeMuchLongerAndMoreOfThemLongerStill) {
  const OperationCosts fast = costs_of_dleft(16, 8);
  const OperationCosts slow = costs_of_dleft(12, 8);
  EXPECT_GT(slow.insert_ns, 5 * fast.insert_ns);
  EXPECT_GT(slow.lookup_absent_ns, 5 * fast.lookup_absent_ns);
  EXPECT_GT(costs_of_dleft(12, 32).insert_ns, 2 * slow.insert_ns);
  EXPECT_EQ(costs_of_dleft(16, 32).insert_ns, fast.insert_ns);
}

}  // namespace
}  // namespace tally
