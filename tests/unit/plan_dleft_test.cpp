#include "tally/planner/plan_dleft.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "expect_refused.hpp"
#include "tally/any_filter.hpp"
#include "tally/theory/dleft_fingerprints.hpp"

namespace tally {
namespace {

using test::expect_refused;

double rate_of(const DLeftShape& shape, std::uint64_t num_keys) {
  const FingerprintSpace space = shape.fingerprint_space();
  return theory::dleft_false_positive_probability(space.num_buckets, space.num_remainders(), num_keys);
}

TEST(PlanDLeft, KeepsTheRateWithRoomForAllKeys) {
  for (const std::uint64_t n : {1ull, 2ull, 100ull, 10'000ull, 1'000'000ull, 1'000'000'000ull}) {
    for (const double rate : {0.5, 0.01, 1e-3, 1e-6}) {
      const DLeftShape shape = plan_dleft({.num_keys = n, .false_positive_rate = rate});
      EXPECT_LE(rate_of(shape, n), rate) << n;
      EXPECT_GE(shape.num_cells(), n);
      EXPECT_FALSE(shape.grows);
      EXPECT_GE(static_cast<double>(planned_num_keys(shape, rate)), 0.999 * static_cast<double>(n))
          << n << " " << rate;
    }
  }
}

TEST(PlanDLeft, NeedsHalfTheBitsOfACountingBloomFilterAtOnePercent) {
  // A counting Bloom filter of 4-bit counters needs 4 x 9.585 bits a key at 1%.
  const DLeftShape shape = plan_dleft({.num_keys = 1'000'000, .false_positive_rate = 0.01});
  EXPECT_LT(8e-6 * static_cast<double>(num_bytes(shape)), 0.5 * 4 * 9.585);
}

TEST(PlanDLeft, AFilterOfThePlannedShapeIsNotFullAfterThePlannedKeys) {
  for (const std::uint64_t n : {1ull, 10ull, 100ull, 1000ull, 10'000ull, 100'000ull}) {
    for (const double rate : {0.5, 0.01, 1e-3, 1e-6}) {
      const DLeftShape shape = plan_dleft({.num_keys = n, .false_positive_rate = rate});
      for (std::uint64_t seed = 0; seed < (n <= 1000 ? 50u : 2u); ++seed) {
        AnyFilter filter({shape, RotationBuckets::file_id}, seed);
        std::vector<Hash128> keys(n);
        for (std::uint64_t i = 0; i < n; ++i) keys[i] = filter.hasher()(i);
        EXPECT_EQ(filter.insert_batch(keys), 0u) << n << " " << rate << " " << seed;
      }
    }
  }
}

TEST(PlanDLeft, FrequentKeysHaveRoomInTheSideTableAndDoublingsBitsToSpare) {
  const DLeftRequest request{.num_keys = 1000, .false_positive_rate = 0.01};
  DLeftRequest frequent = request;
  frequent.num_frequent_keys = 500;
  EXPECT_EQ(plan_dleft(frequent).spill_capacity, plan_dleft(request).spill_capacity + 500);
  DLeftRequest doubling = request;
  doubling.max_doublings = 4;
  const DLeftShape shape = plan_dleft(doubling);
  EXPECT_TRUE(shape.grows);
  EXPECT_EQ(shape.least_remainder_bits, shape.remainder_bits - 4);
  EXPECT_LE(rate_of(shape, 1000), 0.01);
  DLeftShape doubled = shape;
  doubled.num_doublings = 1;
  EXPECT_GT(static_cast<double>(planned_num_keys(doubled, 0.5)),
            1.9 * static_cast<double>(planned_num_keys(shape, 0.5)));
}

TEST(PlanDLeft, RefusesWhatIsOutOfRangeOrCannotBe) {
  const auto refused = [](const DLeftRequest& request, const char* part) {
    expect_refused([&] { (void)plan_dleft(request); }, {"plan_dleft: ", part});
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused({.num_keys = 0, .false_positive_rate = 0.1}, "num_keys is 0");
  refused({.num_keys = (1ull << 40) + 1, .false_positive_rate = 0.1}, "num_keys is");
  for (const double rate : {0.0, 1.0, -1.0, nan}) {
    refused({.num_keys = 10, .false_positive_rate = rate}, "false_positive_rate is");
  }
  refused({.num_keys = 10, .false_positive_rate = 0.1, .num_frequent_keys = (1ull << 31) + 1},
          "num_frequent_keys");
  refused({.num_keys = 10, .false_positive_rate = 0.1, .max_doublings = 27}, "max_doublings");
  refused({.num_keys = 1ull << 40, .false_positive_rate = 1e-12}, "false_positive_rate is");
  expect_refused([] { (void)planned_num_keys(DLeftShape{.buckets_per_subtable = 10}, 1.0); },
                 {"false_positive_rate is 1"});
}

}  // namespace
}  // namespace tally
