#include "tally/any_filter/promise.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <stdexcept>

#include "tally/any_filter/verification.hpp"
#include "tally/planner.hpp"
#include "tally/theory/confidence.hpp"
#include "tally/theory/tails.hpp"

namespace tally {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

SimulationResult result_with(std::uint64_t num_passed, std::uint64_t num_queries, double design_effect = 1) {
  SimulationResult result;
  result.rates.push_back({0, num_queries, num_passed, design_effect});
  return result;
}

TEST(Promise, IsBrokenOnlyByMoreFalsePositivesThanChanceExplains) {
  const Promise promise{0.01, 0};
  EXPECT_EQ(judge_promise(result_with(900, 100'000), promise, 0.999).outcome, PromiseOutcome::kept);
  EXPECT_EQ(judge_promise(result_with(1050, 100'000), promise, 0.999).outcome, PromiseOutcome::kept);
  EXPECT_EQ(judge_promise(result_with(1150, 100'000), promise, 0.999).outcome, PromiseOutcome::broken);
  EXPECT_GT(judge_promise(result_with(1150, 100'000), promise, 0.999).low, 0.01);
  EXPECT_EQ(judge_promise(result_with(0, 100'000), promise, 0.999).outcome, PromiseOutcome::kept);
}

// The largest number that is accepted is the 99.9% quantile of the binomial distribution.
TEST(Promise, IsTestedOnOneSideWithExactlyTheConfidence) {
  const auto outcome = [](std::uint64_t num_passed, double confidence) {
    return judge_promise(result_with(num_passed, 100'000), {0.01, 0}, confidence).outcome;
  };
  std::uint64_t first_broken = 1000;
  while (outcome(first_broken, 0.999) != PromiseOutcome::broken) ++first_broken;
  const std::uint64_t most =
      theory::binomial_acceptance_interval(0.01, 100'000, 0.998).high;  // 0.1% on each side
  EXPECT_EQ(first_broken, most + 1);
}

TEST(Promise, IsUnseenIfEvenNoFalsePositiveWouldNotShowThatItIsKept) {
  const auto outcome = [](std::uint64_t num_queries) {
    return judge_promise(result_with(0, num_queries), {1e-6, 0}, 0.999).outcome;
  };
  EXPECT_EQ(outcome(6'900'000), PromiseOutcome::unseen);  // ln(1/0.001) = 6.908 are expected to be enough
  EXPECT_EQ(outcome(6'910'000), PromiseOutcome::kept);
  // It may be broken all the same.
  EXPECT_EQ(judge_promise(result_with(9, 1'000'000), {1e-6, 0}, 0.999).outcome, PromiseOutcome::broken);
}

TEST(Promise, AllowsForQueriesThatShareAFilter) {
  EXPECT_EQ(judge_promise(result_with(1150, 100'000, 4), {0.01, 0}, 0.999).outcome, PromiseOutcome::kept);
}

// What noticed_rate says: with that true rate, 9 of 10 simulations are above the limit.
TEST(Promise, SaysWhichHigherRateItWouldNotice) {
  const PromiseVerdict verdict = judge_promise(result_with(1000, 100'000), {0.01, 0}, 0.999);
  EXPECT_GT(verdict.noticed_rate, 0.0112);
  EXPECT_LT(verdict.noticed_rate, 0.0116);
  const std::uint64_t most = theory::binomial_acceptance_interval(0.01, 100'000, 0.998).high;
  const double ln_missed = theory::ln_binomial_lower_tail(most + 1, 100'000, verdict.noticed_rate);
  EXPECT_NEAR(std::exp(ln_missed), 0.1, 1e-6);
}

TEST(Promise, OfAPlanIsKept) {
  const FilterShape shape =
      plan_shape(FilterKind::threshold, {.num_keys = 2000, .false_positive_rate = 0.02, .threshold = 3});
  SimulationPlan plan{.shape = shape, .threshold = 3, .should_stop = {}};
  plan = plan_simulation(shape, insertions_of_distinct_keys(plan, 2000),
                         {.num_trials = 200, .num_queries = 100});
  const PromiseVerdict verdict = judge_promise(simulate(plan), {0.02, 2}, 0.999);
  EXPECT_EQ(verdict.outcome, PromiseOutcome::kept);
  EXPECT_EQ(verdict.measured.true_count, 2);
}

TEST(Promise, OfAFilterForFewerKeysIsBroken) {
  const FilterShape shape = plan_shape(FilterKind::bloom, {.num_keys = 2000, .false_positive_rate = 0.02});
  const SimulationResult result = simulate(plan_simulation(shape, 2400, {.num_trials = 50}));
  EXPECT_EQ(judge_promise(result, {0.02, 0}, 0.999).outcome, PromiseOutcome::broken);
}

TEST(Promise, IsTestedAtTheLoadThatWasPlanned) {
  for (const std::uint64_t num_keys : {1, 10, 1000, 123'457}) {
    for (const std::uint64_t theta : {1, 2, 3, 20, 1000}) {
      SimulationPlan plan{
          .shape = plan_shape(FilterKind::threshold,
                              {.num_keys = 1000, .false_positive_rate = 0.02, .threshold = theta}),
          .threshold = theta,
          .should_stop = {}};
      plan.num_insertions = insertions_of_distinct_keys(plan, num_keys);
      std::uint64_t distinct = 0;
      const InsertionMix mix = insertion_mix(plan);
      for (const InsertionMix::Group& group : mix.groups)
        distinct += group.true_count > 0 ? group.num_keys : 0;
      // Every true count has at least one key.
      if (num_keys >= 1000) {
        EXPECT_LE(distinct + mix.num_single_keys, num_keys) << num_keys << " " << theta;
        EXPECT_GE(distinct + mix.num_single_keys, num_keys - num_keys / 500 - 5) << num_keys << " " << theta;
      }
    }
  }
}

TEST(Promise, RefusesWhatWasNotSimulated) {
  const SimulationResult result = result_with(10, 1000);
  EXPECT_THAT(
      [&] {
        (void)judge_promise(result, {0.01, 3}, 0.999);
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("true_count is 3")));
  EXPECT_THAT(
      [&] {
        (void)judge_promise(result, {0, 0}, 0.999);
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("false_positive_rate is 0")));
  EXPECT_THAT(
      [&] {
        (void)judge_promise(result, {0.01, 0}, 1);
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("confidence is 1")));
}

}  // namespace
}  // namespace tally
