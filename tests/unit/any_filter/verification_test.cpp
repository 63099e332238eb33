#include "tally/any_filter/verification.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <stdexcept>

#include "tally/hashing/scheme_list.hpp"
#include "tally/planner.hpp"

namespace tally {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

FilterShape bloom_of(std::uint64_t num_bits, std::uint32_t num_hashes) {
  return bloom_filter_shape(num_bits, num_hashes, DefaultScheme::file_id);
}

TEST(Verification, FillsInWhatTheCallerLeavesOpen) {
  const SimulationPlan plan = plan_simulation(bloom_of(10'000, 7), 1000);
  EXPECT_EQ(plan.threshold, 1);
  EXPECT_EQ(plan.num_trials, 1000);
  EXPECT_GE(plan.num_queries, 100);
  EXPECT_EQ(plan_simulation(bloom_of(10'000, 7), 10'000'000).num_trials, 20);
  const SimulationPlan own =
      plan_simulation(bloom_of(10'000, 7), 1000, {.num_trials = 3, .num_queries = 5, .seed = 9});
  EXPECT_EQ(own.num_trials, 3);
  EXPECT_EQ(own.num_queries, 5);
  EXPECT_EQ(own.seed, 9);
}

TEST(Verification, AsksForTheThresholdOfTheShape) {
  const FilterShape threshold =
      plan_shape(FilterKind::threshold, {.num_keys = 100, .false_positive_rate = 0.01, .threshold = 3});
  EXPECT_EQ(plan_simulation(threshold, 100).threshold, 3);
  const FilterShape sketch{CountMinShape{.width = 100, .depth = 3}, row_scheme_id("congruential")};
  EXPECT_EQ(plan_simulation(sketch, 100, {.threshold = 5}).threshold, 5);
  EXPECT_GT(plan_simulation(sketch, 1000).threshold, 5);
}

TEST(Verification, OfARightFormulaIsGood) {
  const Verification found =
      verify(plan_simulation(bloom_of(2000, 5), 200, {.num_trials = 100, .num_queries = 1000, .seed = 1}));
  EXPECT_TRUE(found.is_good());
  ASSERT_EQ(found.verdicts.size(), 1);
  EXPECT_TRUE(found.verdicts[0].inside);
  EXPECT_LE(found.verdicts[0].limits.low, found.verdicts[0].measured.rate());
  EXPECT_GE(found.verdicts[0].limits.high, found.verdicts[0].measured.rate());
}

TEST(Verification, FindsARateThatDiffersFromTheFormula) {
  const SimulationPlan plan =
      plan_simulation(bloom_of(2000, 5), 200, {.num_trials = 100, .num_queries = 1000, .seed = 1});
  SimulationResult result = simulate(plan);
  SimulationPlan other = plan;
  other.num_insertions = 150;  // as if fewer keys had been inserted
  const std::vector<Verdict> verdicts = judge(other, result, 0.999);
  ASSERT_EQ(verdicts.size(), 1);
  EXPECT_TRUE(verdicts[0].contradicts());
  EXPECT_FALSE((Verification{other, result, verdicts}).is_good());
}

TEST(Verification, ALowerRateDoesNotContradictConservativeUpdate) {
  FilterShape shape{ThresholdShape{.num_counters = 500, .num_hashes = 3, .threshold = 3}};
  EXPECT_FALSE(is_upper_bound(shape));
  std::get<ThresholdShape>(shape.shape).update = CounterUpdate::conservative;
  EXPECT_TRUE(is_upper_bound(shape));
  EXPECT_TRUE(verify(plan_simulation(shape, 300, {.num_trials = 50, .num_queries = 500})).is_good());
}

TEST(Verification, OfAFullFilterIsNotGood) {
  const FilterShape shape{DLeftShape{.buckets_per_subtable = 2}, bucket_scheme_id("rotation")};
  const Verification found = verify(plan_simulation(shape, 1000, {.num_trials = 2, .num_queries = 10}));
  EXPECT_TRUE(found.result.was_full);
  EXPECT_TRUE(found.verdicts.empty());
  EXPECT_FALSE(found.is_good());
}

TEST(Verification, ThatStopsBeforeItsFirstTrialIsNotGood) {
  SimulationPlan plan = plan_simulation(bloom_of(2000, 5), 200, {.num_trials = 5, .num_queries = 10});
  plan.should_stop = [] { return true; };
  const Verification found = verify(plan);
  EXPECT_TRUE(found.verdicts.empty());
  EXPECT_FALSE(found.is_good());
}

TEST(Verification, SharesItsConfidenceAmongAllRates) {
  const FilterShape shape{ThresholdShape{.num_counters = 2000, .num_hashes = 3, .threshold = 3}};
  const SimulationPlan plan = plan_simulation(shape, 500, {.num_trials = 50, .num_queries = 500, .seed = 2});
  const Verification found = verify(plan, 0.97);
  ASSERT_EQ(found.verdicts.size(), 3);
  const std::vector<Verdict> each = judge(plan, found.result, 0.99);
  for (std::size_t i = 0; i < each.size(); ++i) {
    EXPECT_NEAR(found.verdicts[i].limits.low, each[i].limits.low, 1e-9);
    EXPECT_NEAR(found.verdicts[i].limits.high, each[i].limits.high, 1e-9);
  }
}

void expect_refused(const FilterShape& shape, std::uint64_t num_insertions, const SimulationWishes& wishes,
                    const char* message) {
  EXPECT_THAT([&] { (void)plan_simulation(shape, num_insertions, wishes); },
              ThrowsMessage<std::invalid_argument>(HasSubstr(message)))
      << message;
}

TEST(Verification, NamesWhatIsOutOfRange) {
  const FilterShape bloom = bloom_of(100, 1);
  const FilterShape sketch{CountMinShape{.width = 100, .depth = 3}, row_scheme_id("congruential")};
  expect_refused(bloom, 0, {}, "num_insertions is 0; must be 1 to");
  expect_refused(bloom_of(0, 1), 10, {}, "num_bits is 0");
  expect_refused(bloom, 10, {.num_trials = 0}, "num_trials is 0; must be 1 to");
  expect_refused(bloom, 10, {.num_queries = 0}, "num_queries is 0; must be 1 to");
  expect_refused(sketch, 100, {.threshold = 0}, "threshold is 0; must be 1 to 10000");
  expect_refused(sketch, 100, {.threshold = 20'000}, "threshold is 20000; must be 1 to 10000");
  expect_refused(sketch, 100'000'000, {}, "num_insertions is 100000000; must be smaller");
}

TEST(Verification, RefusesAThresholdThatTheShapeWasNotMadeFor) {
  expect_refused(bloom_of(100, 1), 10, {.threshold = 2}, "threshold is 2; must be 1, that of the shape");
  FilterShape shape{ThresholdShape{.num_counters = 500, .num_hashes = 3, .threshold = 3}};
  expect_refused(shape, 10, {.threshold = 5}, "threshold is 5; must be 3, that of the shape");
  EXPECT_EQ(plan_simulation(shape, 10, {.threshold = 3}).threshold, 3);
  std::get<ThresholdShape>(shape.shape).threshold = 20'000;
  expect_refused(shape, 10, {}, "threshold of the shape is 20000; must be 1 to 10000");
}

TEST(Verification, RefusesAConfidenceOutOfRangeBeforeItSimulates) {
  SimulationPlan plan = plan_simulation(bloom_of(100, 1), 10, {.num_trials = 2, .num_queries = 1});
  plan.should_stop = []() -> bool { throw std::logic_error("has begun"); };
  for (const double confidence : {0.0, 1.0, std::nextafter(1.0, 0.0), std::nan("")}) {
    EXPECT_THAT([&] { (void)verify(plan, confidence); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("confidence is ")))
        << confidence;
  }
}

}  // namespace
}  // namespace tally
