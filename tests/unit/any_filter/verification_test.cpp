#include "tally/any_filter/verification.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

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

TEST(Verification, NamesWhatIsOutOfRange) {
  EXPECT_THAT([] { (void)plan_simulation(bloom_of(100, 1), 0); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("num_keys is 0")));
  const FilterShape sketch{CountMinShape{.width = 100, .depth = 3}, row_scheme_id("congruential")};
  EXPECT_THAT([&] { (void)plan_simulation(sketch, 100, {.threshold = 20'000}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("threshold is 20000")));
  EXPECT_THAT([&] { (void)plan_simulation(sketch, 100'000'000); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("must be fewer")));
  EXPECT_THAT(
      [] { (void)verify(plan_simulation(bloom_of(100, 1), 10, {.num_trials = 2, .num_queries = 1}), 1.0); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("confidence is 1")));
}

}  // namespace
}  // namespace tally
