#include "tally/any_filter/simulation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "tally/hashing/scheme_list.hpp"

namespace tally {
namespace {

SimulationPlan plan_of(const FilterShape& shape) {
  SimulationPlan plan;
  plan.shape = shape;
  plan.num_insertions = 300;
  plan.num_trials = 10;
  plan.num_queries = 1'000;
  plan.seed = 5;
  return plan;
}

const FilterShape bloom{BloomShape{.num_bits = 2'048, .num_hashes = 4}, DefaultScheme::file_id};

TEST(Simulation, ComesOutAsTheLawPredictsAndFindsNoFalseNegative) {
  const SimulationPlan plan = plan_of(bloom);
  const SimulationResult result = simulate(plan);
  ASSERT_EQ(result.rates.size(), 1u);
  EXPECT_EQ(result.rates[0].num_queries, 10'000u);
  EXPECT_EQ(result.num_positives_checked, 3'000u);
  EXPECT_EQ(result.num_false_negatives, 0u);
  EXPECT_FALSE(result.was_full);
  const double predicted = std::exp(predicted_law(plan, insertion_mix(plan), 0).ln_false_positive_rate);
  const double deviation = std::sqrt(predicted / 10'000 * result.rates[0].design_effect);
  EXPECT_NEAR(result.rates[0].rate(), predicted, 6 * deviation);  // by chance once in 5e8 seeds
}

TEST(Simulation, IsTheSameForTheSameSeedOnly) {
  SimulationPlan plan = plan_of(bloom);
  const std::uint64_t passed = simulate(plan).rates[0].num_passed;
  EXPECT_EQ(simulate(plan).rates[0].num_passed, passed);
  plan.seed = 6;
  EXPECT_NE(simulate(plan).rates[0].num_passed, passed);
}

TEST(Simulation, EndsBeforeTheTrialThatIsNotWanted) {
  SimulationPlan plan = plan_of(bloom);
  int num_asked = 0;
  plan.should_stop = [&] { return ++num_asked > 3; };
  EXPECT_EQ(simulate(plan).rates[0].num_queries, 3'000u);
  EXPECT_EQ(num_asked, 4);
}

TEST(Simulation, EndsWithinALongTrialWhichThenDoesNotCount) {
  SimulationPlan plan = plan_of(bloom);
  plan.num_queries = 1'000'000;
  int num_asked = 0;
  plan.should_stop = [&] { return ++num_asked > 11; };  // a trial has seven questions or eight
  EXPECT_EQ(simulate(plan).rates[0].num_queries, 1'000'000u);
  EXPECT_EQ(num_asked, 12);
}

TEST(Simulation, CountsTheTrialsThatAreDone) {
  SimulationPlan plan = plan_of(bloom);
  std::vector<std::uint64_t> done;
  plan.after_trial = [&](std::uint64_t num_trials) { done.push_back(num_trials); };
  (void)simulate(plan);
  EXPECT_EQ(done, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(Simulation, SaysThatAFilterIsFull) {
  const FilterShape shape{DLeftShape{.buckets_per_subtable = 4, .num_subtables = 2, .cells_per_bucket = 8},
                          RotationBuckets::file_id};
  EXPECT_TRUE(simulate(plan_of(shape)).was_full);
}

TEST(Simulation, RefusesAPlanThatIsOutOfRange) {
  SimulationPlan plan = plan_of(bloom);
  plan.num_trials = 0;
  EXPECT_THROW((void)simulate(plan), std::invalid_argument);
  plan = plan_of(bloom);
  plan.num_queries = 0;
  EXPECT_THROW((void)simulate(plan), std::invalid_argument);
  plan = plan_of(bloom);
  plan.threshold = 0;
  EXPECT_THROW((void)simulate(plan), std::invalid_argument);
  plan = plan_of({BloomShape{.num_bits = 0, .num_hashes = 4}, DefaultScheme::file_id});
  EXPECT_THROW((void)simulate(plan), std::invalid_argument);
}

}  // namespace
}  // namespace tally
