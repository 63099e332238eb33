#include "tally/planner/plan_shares.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "expect_refused.hpp"
#include "tally/hashing/shard.hpp"
#include "tally/planner.hpp"
#include "tally/theory/largest_share.hpp"

namespace tally {
namespace {

using test::expect_refused;

std::uint64_t ten_bits_per_key(std::uint64_t num_keys) { return 128 + (10 * num_keys + 7) / 8; }

TEST(PlanShares, TheFewestSharesThatFitAreChosen) {
  for (const std::uint64_t num_keys : {1u, 1000u, 1'000'000u, 1'000'000'000u}) {
    for (const std::uint64_t most : {1'000u, 100'000u, 10'000'000u}) {
      for (const std::uint32_t multiple_of : {1u, 6u, 100u}) {
        const ShareRequirements wanted{
            .num_keys = num_keys, .max_bytes_per_share = most, .multiple_of = multiple_of};
        const auto bytes_with = [&](std::uint64_t num_shares) {
          return ten_bits_per_key(theory::largest_share(num_keys, num_shares, 1e-6));
        };
        const std::uint32_t largest = max_num_shards / multiple_of * multiple_of;
        if (bytes_with(largest) > most) {
          expect_refused([&] { static_cast<void>(plan_shares(wanted, ten_bits_per_key)); },
                         {"plan_shares: max_bytes_per_share is " + std::to_string(most),
                          "at least " + std::to_string(bytes_with(largest)),
                          "largest of " + std::to_string(largest) + " shares"});
          continue;
        }
        const SharePlan plan = plan_shares(wanted, ten_bits_per_key);
        EXPECT_EQ(plan.num_shares % multiple_of, 0u);
        EXPECT_EQ(plan.keys_per_share, theory::largest_share(num_keys, plan.num_shares, 1e-6));
        EXPECT_EQ(plan.bytes_per_share, ten_bits_per_key(plan.keys_per_share));
        EXPECT_LE(plan.bytes_per_share, most);
        EXPECT_EQ(plan.failure_probability,
                  theory::probability_of_larger_share(num_keys, plan.num_shares, plan.keys_per_share));
        EXPECT_LE(plan.failure_probability, 1e-6);
        if (plan.num_shares > multiple_of) {
          EXPECT_GT(bytes_with(plan.num_shares - multiple_of), most);
        }
      }
    }
  }
}

TEST(PlanShares, ANumberOfSharesThatIsGivenIsTaken) {
  const SharePlan plan =
      plan_shares({.num_keys = 1'000'000, .num_shares = 12, .multiple_of = 4}, ten_bits_per_key);
  EXPECT_EQ(plan.num_shares, 12u);
  EXPECT_EQ(plan.keys_per_share, theory::largest_share(1'000'000, 12, 1e-6));
  EXPECT_EQ(plan_shares({.num_keys = 5}, ten_bits_per_key).num_shares, 1u);
  EXPECT_EQ(plan_shares({.num_keys = 5}, ten_bits_per_key).keys_per_share, 5u);
  EXPECT_EQ(plan_shares({.num_keys = 5}, ten_bits_per_key).failure_probability, 0);
  EXPECT_EQ(plan_shares({.num_keys = 5, .multiple_of = 7}, ten_bits_per_key).num_shares, 7u);
}

TEST(PlanShares, ARareFailureNeedsMoreRoom) {
  std::uint64_t before = 0;
  for (const double failure : {0.5, 1e-3, 1e-6, 1e-12}) {
    const SharePlan plan = plan_shares(
        {.num_keys = 100'000, .failure_probability = failure, .num_shares = 64}, ten_bits_per_key);
    EXPECT_GT(plan.keys_per_share, before);
    EXPECT_LE(plan.failure_probability, failure);
    before = plan.keys_per_share;
  }
}

TEST(PlanShares, OfEveryKindOfFilterMeetTheRateAndTheMemory) {
  for (const FilterKind kind : {FilterKind::bloom, FilterKind::blocked_bloom, FilterKind::counting_bloom,
                                FilterKind::blocked_counting_bloom, FilterKind::threshold, FilterKind::dleft,
                                FilterKind::compact_dleft}) {
    Requirements of_share{.false_positive_rate = 0.01, .keys_repeat = false};
    if (kind == FilterKind::threshold) of_share.threshold = 3;
    const ShareRequirements wanted{.num_keys = 2'000'000, .max_bytes_per_share = 100'000, .multiple_of = 3};
    const SharePlan plan = plan_shares(wanted, kind, of_share);
    EXPECT_GE(plan.num_shares, 24u);
    EXPECT_EQ(plan.num_shares % 3, 0u);
    EXPECT_LE(plan.bytes_per_share, 100'000u);
    of_share.num_keys = plan.keys_per_share;
    const FilterShape shape = plan_shape(kind, of_share);
    EXPECT_EQ(shape.num_bytes(), plan.bytes_per_share);
    EXPECT_GE(planned_num_keys(shape, 0.01), plan.keys_per_share) << name_of(kind);
    of_share.num_keys.reset();
    const SharePlan fewer =
        plan_shares({.num_keys = 2'000'000, .num_shares = plan.num_shares - 3}, kind, of_share);
    EXPECT_GT(fewer.bytes_per_share, 100'000u) << name_of(kind);
  }
}

TEST(PlanShares, WhatDoesNotFitIsRefusedWithWhatWould) {
  expect_refused(
      [] {
        static_cast<void>(plan_shares(
            {.num_keys = 1'000'000, .max_bytes_per_share = 100'000, .num_shares = 8, .multiple_of = 4},
            ten_bits_per_key));
      },
      {"plan_shares: max_bytes_per_share is 100000; must be at least 158515",
       "the largest of 8 shares has up to 126709 keys", "or give num_shares 16, the fewest that fit"});
  expect_refused(
      [] {
        static_cast<void>(plan_shares({.num_keys = 1'000'000, .max_bytes_per_share = 100}, ten_bits_per_key));
      },
      {"plan_shares: max_bytes_per_share is 100; must be at least 276",
       "the largest of 16384 shares has up to 118"});
}

TEST(PlanShares, BadRequirementsAreRefusedByName) {
  const auto refused = [](const ShareRequirements& wanted, const std::vector<std::string>& fragments) {
    expect_refused([&] { static_cast<void>(plan_shares(wanted, ten_bits_per_key)); }, fragments);
  };
  refused({.num_keys = 0}, {"plan_shares: num_keys is 0; must be 1 to 1099511627776"});
  refused({.num_keys = (std::uint64_t{1} << 40) + 1}, {"num_keys is 1099511627777"});
  refused({.num_keys = 5, .max_bytes_per_share = 0}, {"max_bytes_per_share is 0; must be at least 1"});
  refused({.num_keys = 5, .failure_probability = 0}, {"failure_probability is 0"});
  refused({.num_keys = 5, .failure_probability = 1}, {"failure_probability is 1"});
  refused({.num_keys = 5, .failure_probability = std::nan("")}, {"failure_probability is"});
  refused({.num_keys = 5, .num_shares = 16385}, {"num_shares is 16385; must be 0 to 16384"});
  refused({.num_keys = 5, .multiple_of = 0}, {"multiple_of is 0; must be 1 to 16384"});
  refused({.num_keys = 5, .multiple_of = 16385}, {"multiple_of is 16385"});
  refused({.num_keys = 5, .num_shares = 10, .multiple_of = 4},
          {"num_shares is 10; must be a multiple of multiple_of, 4"});

  const auto of_share = [](FilterKind kind, const Requirements& requirements, const std::string& fragment) {
    expect_refused([&] { static_cast<void>(plan_shares({.num_keys = 5}, kind, requirements)); }, {fragment});
  };
  of_share(FilterKind::bloom, {.num_keys = 5, .false_positive_rate = 0.01}, "num_keys of a share is given");
  of_share(FilterKind::bloom, {.false_positive_rate = 0.01, .memory_bytes = 64},
           "memory_bytes of a share is given");
  of_share(FilterKind::dleft,
           {.false_positive_rate = 0.01, .histogram = theory::make_count_histogram({{{1, 5.0}}}, 2)},
           "histogram of a share is given");
  of_share(FilterKind::count_min, {.epsilon = 0.01, .failure_probability = 0.01}, "kind is count-min");
  of_share(FilterKind::bloom, {}, "plan_bloom");
  EXPECT_THROW(static_cast<void>(plan_shares(
                   {.num_keys = 5},
                   [](std::uint64_t) -> std::uint64_t { throw std::runtime_error("of the caller"); })),
               std::runtime_error);
}

}  // namespace
}  // namespace tally
