// What the planner does with conservative update.

#include <gtest/gtest.h>

#include <cmath>

#include "tally/planner.hpp"
#include "tally/theory/compound_poisson.hpp"
#include "tally/theory/conservative_update.hpp"

namespace tally {
namespace {

constexpr std::uint64_t conservative_theta = 3;

Requirements conservative_wanted(CounterUpdate update, std::optional<std::uint64_t> true_count = 0) {
  Requirements wanted;
  wanted.false_positive_rate = 0.01;
  wanted.threshold = conservative_theta;
  wanted.true_count = true_count;
  wanted.histogram = theory::zipf_count_histogram(100'000, 1.0, 400'000, 256);
  wanted.update = update;
  return wanted;
}

TEST(ConservativePlan, NeedsFewerCountersThanPlainUpdateAndPromisesTwiceThePredictedRate) {
  const ThresholdShape plain = plan_threshold(conservative_wanted(CounterUpdate::plain));
  const Requirements wanted = conservative_wanted(CounterUpdate::conservative);
  const ThresholdShape shape = plan_threshold(wanted);
  EXPECT_EQ(shape.update, CounterUpdate::conservative);
  EXPECT_LT(shape.num_counters, 0.95 * static_cast<double>(plain.num_counters));
  const double predicted = theory::conservative_threshold_false_positive_probability(
      *wanted.histogram, conservative_theta, shape.num_hashes, shape.num_counters);
  EXPECT_LE(2 * predicted, 0.01);
  EXPECT_GE(2 * predicted, 0.0095);
}

TEST(ConservativePlan, IsThatOfPlainUpdateWhereTheRateIsForEveryKeyBelowTheThreshold) {
  ThresholdShape shape = plan_threshold(conservative_wanted(CounterUpdate::conservative, std::nullopt));
  shape.update = CounterUpdate::plain;
  EXPECT_EQ(shape, plan_threshold(conservative_wanted(CounterUpdate::plain, std::nullopt)));
}

TEST(ConservativePlan, IsThatOfPlainUpdateWithoutAHistogram) {
  Requirements wanted{.num_keys = 10'000, .false_positive_rate = 0.01, .threshold = 3, .true_count = 0};
  wanted.num_insertions = 30'000;
  const ThresholdShape plain = plan_threshold(wanted);
  wanted.update = CounterUpdate::conservative;
  ThresholdShape shape = plan_threshold(wanted);
  shape.update = CounterUpdate::plain;
  EXPECT_EQ(shape, plain);
}

TEST(ConservativePlan, HasALowerRateInTheSameMemory) {
  Requirements wanted = conservative_wanted(CounterUpdate::conservative);
  wanted.false_positive_rate.reset();
  wanted.true_count.reset();
  wanted.memory_bytes = 50'000;
  const Plan conservative = plan(wanted);
  wanted.update = CounterUpdate::plain;
  const Plan plain = plan(wanted);
  const auto for_absent = [](const Plan& planned) {
    for (const Candidate& candidate : planned.candidates) {
      if (candidate.kind() == FilterKind::threshold && candidate.promised_true_count == 0) return candidate;
    }
    return Candidate{};
  };
  const Candidate lower = for_absent(conservative);
  EXPECT_EQ(lower.error_law, ErrorLaw::conservative);
  EXPECT_LE(lower.shape.num_bytes(), 50'000);
  EXPECT_LT(lower.false_positive_rate, for_absent(plain).false_positive_rate);
  EXPECT_EQ(lower.false_positive_rate, lower.errors.front().false_positive_rate);
  for (std::size_t t = 1; t < lower.errors.size(); ++t)
    EXPECT_GE(lower.errors[t].false_positive_rate, lower.errors[t - 1].false_positive_rate);
  bool is_said = false;
  for (const std::string& warning : conservative.warnings)
    is_said = is_said || warning.find("random order") != std::string::npos;
  EXPECT_TRUE(is_said);
}

TEST(ConservativePlan, SaysIfOnlyTheBoundOfPlainCountersIsKnown) {
  Requirements wanted{.num_keys = 10'000, .false_positive_rate = 0.01, .threshold = 3};
  wanted.update = CounterUpdate::conservative;
  bool is_said = false;
  for (const std::string& warning : plan(wanted).warnings)
    is_said = is_said || warning.find("bound of plain counters") != std::string::npos;
  EXPECT_TRUE(is_said);
}

}  // namespace
}  // namespace tally
