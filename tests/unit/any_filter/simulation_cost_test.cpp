#include "tally/any_filter/simulation_cost.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "tally/any_filter/verification.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/planner.hpp"

namespace tally {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

FilterShape planned(FilterKind kind, std::uint64_t num_keys, std::uint64_t theta = 1) {
  Requirements wanted{.num_keys = num_keys, .false_positive_rate = 0.01};
  if (theta > 1) wanted.threshold = theta;
  wanted.keys_repeat = kind != FilterKind::compact_dleft;
  return plan_shape(kind, wanted);
}

const std::vector<FilterShape>& large_shapes() {
  static const std::vector<FilterShape> shapes = {
      planned(FilterKind::bloom, 500'000'000),
      planned(FilterKind::blocked_bloom, 500'000'000),
      planned(FilterKind::counting_bloom, 500'000'000),
      planned(FilterKind::blocked_counting_bloom, 500'000'000),
      planned(FilterKind::threshold, 500'000'000, 3),
      planned(FilterKind::dleft, 500'000'000),
      planned(FilterKind::compact_dleft, 500'000'000),
      {CountMinShape{.width = 100'000'007, .depth = 4, .counter_bits = 32}, row_scheme_id("congruential")},
      {CountMinShape{.width = 100'000'007, .depth = 2, .counter_bits = 32}, row_scheme_id("two-hash")}};
  return shapes;
}

TEST(SimulationCost, OfAnyLargeShapeIsLessThanAMinuteOnceItIsScaledDown) {
  for (const FilterShape& shape : large_shapes()) {
    const FilledShape small = small_enough_to_simulate(shape, 500'000'000);
    EXPECT_LT(small.num_insertions, 60'000'000) << name_of(shape.kind());
    EXPECT_GE(small.num_insertions, 1'000'000) << name_of(shape.kind());
    const double full = static_cast<double>(shape.num_positions()) / 500'000'000;
    const double scaled =
        static_cast<double>(small.shape.num_positions()) / static_cast<double>(small.num_insertions);
    EXPECT_NEAR(scaled / full, 1, 1e-5) << name_of(shape.kind());
    const SimulationPlan plan = plan_simulation(small.shape, small.num_insertions);
    EXPECT_LT(simulation_seconds(plan), 25) << name_of(shape.kind());
    EXPECT_GE(plan.num_trials, 5) << name_of(shape.kind());
  }
}

TEST(SimulationCost, OfARateThatNoMinuteShowsIsSmall) {
  for (const double rate : {1e-3, 1e-7, 1e-12, 1e-30}) {
    const FilterShape shape =
        plan_shape(FilterKind::bloom, {.num_keys = 10'000, .false_positive_rate = rate});
    EXPECT_LT(simulation_seconds(plan_simulation(shape, 10'000)), 25) << rate;
  }
  const FilterShape threshold = planned(FilterKind::threshold, 10'000, 3);
  EXPECT_LT(simulation_seconds(plan_simulation(threshold, 10'000)), 25);
}

TEST(SimulationCost, GrowsWithTrialsAndQueries) {
  const FilterShape shape = planned(FilterKind::bloom, 10'000);
  const auto seconds = [&](std::uint64_t num_trials, std::uint64_t num_queries) {
    return simulation_seconds(
        plan_simulation(shape, 10'000, {.num_trials = num_trials, .num_queries = num_queries}));
  };
  EXPECT_NEAR(seconds(200, 1000) / seconds(100, 1000), 2, 1e-9);
  EXPECT_GT(seconds(100, 1'000'000), 10 * seconds(100, 1000));
}

TEST(SimulationCost, OfFewKeysLeavesTheFilterAsItIs) {
  const FilterShape shape = planned(FilterKind::bloom, 1'000'000);
  const FilledShape same = small_enough_to_simulate(shape, 1'000'000);
  EXPECT_EQ(same.shape, shape);
  EXPECT_EQ(same.num_insertions, 1'000'000);
}

TEST(SimulationCost, IsNotLoweredForAFilterThatHasDoubled) {
  FilterShape shape = planned(FilterKind::dleft, 500'000'000);
  auto& dleft = std::get<DLeftShape>(shape.shape);
  dleft.least_remainder_bits = dleft.remainder_bits - 1;
  dleft.num_doublings = 1;
  EXPECT_EQ(small_enough_to_simulate(shape, 900'000'000).shape, shape);
  EXPECT_THAT([&] { (void)scaled_down(shape, 1000, 0.5); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("num_doublings is 1; must be 0")));
}

TEST(SimulationCost, RefusesAFactorThatWouldNotMakeItSmaller) {
  const FilterShape shape = planned(FilterKind::bloom, 1000);
  for (const double factor : {0.0, -1.0, 1.5, std::nan("")}) {
    EXPECT_THAT([&] { (void)scaled_down(shape, 1000, factor); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("factor is ")));
  }
  EXPECT_EQ(scaled_down(shape, 1000, 1).shape, shape);
  EXPECT_EQ(scaled_down(shape, 1000, 1).num_insertions, 1000);
}

// A side table of a share of the entries would be full in half of all filters, because the share varies more.
TEST(SimulationCost, ASmallerDLeftFilterIsNotFull) {
  const FilterShape shape = planned(FilterKind::dleft, 50'000'000);
  const FilledShape small = scaled_down(shape, 50'000'000, 0.002);
  EXPECT_NEAR(static_cast<double>(small.num_insertions), 100'000, 1000);
  const Verification found =
      verify(plan_simulation(small.shape, small.num_insertions, {.num_trials = 20, .num_queries = 2000}));
  EXPECT_FALSE(found.result.was_full);
  EXPECT_TRUE(found.is_good());
}

}  // namespace
}  // namespace tally
