#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "expect_refused.hpp"
#include "random.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/planner.hpp"
#include "tally/theory/dleft_moves_limit.hpp"
#include "tally/theory/dleft_placement.hpp"

namespace tally {
namespace {

using test::expect_refused;
using test::Random;

const Candidate& first_dleft(const Plan& plan) {
  return *std::find_if(plan.candidates.begin(), plan.candidates.end(),
                       [](const Candidate& candidate) { return candidate.dleft.has_value(); });
}

DLeftShape shape_of(const Candidate& candidate) { return std::get<DLeftShape>(candidate.shape.shape); }

TEST(PlanDLeftWithMoves, StatesTheMovesOfTheLimitAtItsLoad) {
  int num_checked = 0;
  for (const std::uint32_t num_subtables : {2u, 3u, 4u}) {
    for (const double rate : {0.1, 0.01, 0.001}) {
      for (const bool is_replaced : {false, true}) {
        for (const double most : {0.02, 0.15, 0.4}) {
          const Plan found = plan({.num_keys = 1'000'000,
                                   .false_positive_rate = rate,
                                   .needs_deletes = is_replaced,
                                   .needs_counts = true,
                                   .max_moves_per_insertion = most,
                                   .num_subtables = num_subtables,
                                   .prefers_speed = false});
          const Candidate& candidate = first_dleft(found);
          const DLeftShape shape = shape_of(candidate);
          if (shape.cells_per_bucket > 16) continue;  // takes seconds
          if (candidate.dleft->load < 0.98 * candidate.dleft->carried_load)
            continue;  // the rate needs the room
          ++num_checked;
          const double limit =
              theory::dleft_moves_limit(shape.num_subtables, shape.cells_per_bucket,
                                        candidate.dleft->load * shape.cells_per_bucket, is_replaced ? 2 : 0)
                  .moves_probability;
          EXPECT_NEAR(candidate.dleft->moves_per_insertion, limit, 0.1 * limit) << candidate.name() << most;
          EXPECT_LE(candidate.dleft->moves_per_insertion, most);
          EXPECT_GT(candidate.dleft->moves_per_insertion, 0.95 * most) << candidate.name();
          EXPECT_LE(candidate.dleft->failure_probability, default_failure_probability);
        }
      }
    }
  }
  EXPECT_GT(num_checked, 10);
}

TEST(PlanDLeftWithMoves, TakesLessMemoryTheMoreMovesItMay) {
  for (const std::uint64_t num_keys : {60ull, 1000ull, 100'000ull, 10'000'000ull}) {
    for (const bool prefers_speed : {true, false}) {
      std::uint64_t last = ~std::uint64_t{0};
      for (const double most : {0.0, 0.01, 0.05, 0.15, 0.3, 0.5}) {
        const DLeftShape shape = plan_dleft({.num_keys = num_keys,
                                             .false_positive_rate = 0.01,
                                             .max_moves_per_insertion = most,
                                             .prefers_speed = prefers_speed});
        // The shape is the one with the lowest rate within 1% of the least memory.
        EXPECT_LE(static_cast<double>(num_bytes(shape)), 1.01 * static_cast<double>(last) + 64)
            << num_keys << " " << most;
        last = num_bytes(shape);
      }
    }
  }
}

TEST(PlanDLeftWithMoves, ShowsThePlanWithoutMovesBesideIt) {
  const Plan found = plan({.num_keys = 1'000'000, .false_positive_rate = 0.01, .needs_deletes = true});
  const Candidate& first = first_dleft(found);
  EXPECT_EQ(first.dleft->max_moves_per_insertion, default_moves_per_insertion);
  const auto unmoved =
      std::find_if(found.candidates.begin(), found.candidates.end(), [](const Candidate& candidate) {
        return candidate.dleft && candidate.dleft->max_moves_per_insertion == 0;
      });
  ASSERT_NE(unmoved, found.candidates.end());
  EXPECT_TRUE(unmoved->name().ends_with(" without moves")) << unmoved->name();
  EXPECT_GT(unmoved->shape.num_bytes(), first.shape.num_bytes());
  EXPECT_LE(unmoved->dleft->load, unmoved->dleft->carried_load);
  EXPECT_EQ(unmoved->dleft->carried_load, unmoved->dleft->carried_load_without_moves);
  EXPECT_LT(unmoved->dleft->moves_per_insertion, 1e-5);
  EXPECT_LT(unmoved->operation_costs.insert_ns, 2 * first.operation_costs.insert_ns);
  EXPECT_EQ(shape_of(*unmoved), plan_dleft({.num_keys = 1'000'000,
                                            .false_positive_rate = 0.01,
                                            .max_moves_per_insertion = 0.0,
                                            .num_subtables = 2}));
}

// In a table of few buckets an insertion is refused only if the keys have no placement at all.
TEST(PlanDLeftWithMoves, OfFewBucketsIsRefusedAtMostAsOftenAsKeysHaveNoPlacement) {
  for (const std::uint64_t num_keys : {20ull, 60ull, 100ull, 200ull, 600ull}) {
    const Plan found = plan({.num_keys = num_keys,
                             .false_positive_rate = 0.01,
                             .needs_deletes = true,
                             .keys_repeat = false,
                             .num_subtables = 2});
    const Candidate& candidate = first_dleft(found);
    const DLeftShape shape = shape_of(candidate);
    const double each =
        theory::dleft_no_placement_bound(2, shape.buckets_per_subtable, shape.cells_per_bucket, num_keys);
    EXPECT_GE(candidate.dleft->failure_probability, 1000.0 * each) << num_keys;
    EXPECT_LE(candidate.dleft->failure_probability, default_failure_probability) << num_keys;
  }
}

TEST(PlanDLeftWithMoves, AFilterOfThePlannedShapeIsNeverFullUnderChurnAndMovesAsOftenAsPlanned) {
  for (const std::uint64_t num_keys : {10ull, 60ull, 100ull, 600ull, 3000ull, 50'000ull}) {
    for (const double rate : {0.1, 0.001}) {
      const Plan found = plan({.num_keys = num_keys,
                               .false_positive_rate = rate,
                               .needs_deletes = true,
                               .keys_repeat = false,
                               .prefers_speed = false});
      const Candidate& candidate = first_dleft(found);
      DLeftCountingBloomFilter<> filter(shape_of(candidate), KeyHasher(num_keys));
      Random random(num_keys);
      std::vector<Hash128> keys(num_keys);
      for (Hash128& key : keys) {
        key = random.digest();
        ASSERT_EQ(filter.insert(key), InsertResult::counted) << num_keys << " " << rate;
      }
      const std::uint64_t num_steps = std::max<std::uint64_t>(4 * num_keys, 100'000);
      std::uint64_t before = 0;
      for (std::uint64_t i = 0; i < num_steps; ++i) {
        if (i == num_steps / 2) before = filter.totals().num_rescues;
        Hash128& key = keys[random.below(num_keys)];
        ASSERT_EQ(filter.remove(key), RemoveResult::removed);
        key = random.digest();
        ASSERT_EQ(filter.insert(key), InsertResult::counted) << num_keys << " " << rate << " step " << i;
      }
      const auto num_inserted = static_cast<double>(num_steps - num_steps / 2);
      const double share = static_cast<double>(filter.totals().num_rescues - before) / num_inserted;
      if (num_keys >= 3000) {
        const double planned = candidate.dleft->moves_per_insertion;
        EXPECT_NEAR(share, planned, 0.1 * planned + 4 * std::sqrt(planned / num_inserted))
            << candidate.name() << " " << num_keys << " " << rate;
      }
    }
  }
}

TEST(PlanDLeftWithMoves, RefusesAShareOutOfRange) {
  for (const double most : {-0.1, 0.6, std::nan("")}) {
    expect_refused(
        [&] {
          (void)plan_dleft({.num_keys = 10, .false_positive_rate = 0.1, .max_moves_per_insertion = most});
        },
        {"plan_dleft: max_moves_per_insertion is"});
  }
}

}  // namespace
}  // namespace tally
