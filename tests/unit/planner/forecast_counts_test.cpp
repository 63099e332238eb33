// What a sketch is expected to report after a stream.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tally/planner.hpp"
#include "tally/theory/compound_poisson.hpp"

namespace tally {
namespace {

const ZipfStream stream{1'000'000, 1.0, 10'000'000};
constexpr CountMinShape wide{.width = 27'183, .depth = 5};
constexpr std::uint64_t error = 999;

CountMinShape conservative(CountMinShape shape) {
  shape.update = CounterUpdate::conservative;
  return shape;
}

// Measured in the experiment's program: 5 rows of 27,183, 1 million ranks, 10 million insertions: 48.88, and 82.39
// with plain update; and with 5 rows of 2,305 counters 0.12% of the absent keys reach 1000.
TEST(ForecastCounts, PredictsTheErrorOfASketch) {
  const CountForecast forecast = forecast_counts(wide, stream, error);
  EXPECT_NEAR(*forecast.conservative_mean_excess / 48.88, 1, 0.2);
  EXPECT_NEAR(forecast.plain_mean_excess / 82.39, 1, 0.05);
  const auto width = least_count_min_width(conservative(wide), stream, error, 0.0067);
  ASSERT_TRUE(width);
  EXPECT_GT(*width, 2000);
  EXPECT_LT(*width, 4000);
  EXPECT_FALSE(least_count_min_width(conservative(wide), stream, 40, 0.0067));
  EXPECT_FALSE(least_count_min_width(conservative(wide), stream, error, 1e-5));
}

TEST(ForecastCounts, TheLeastWidthJustKeepsTheErrorWithItsProbability) {
  for (const double failure_probability : {0.1, 0.0067, 1e-6}) {
    CountMinShape shape = wide;
    const auto width = least_count_min_width(shape, stream, error, failure_probability);
    ASSERT_TRUE(width);
    shape.width = *width;
    const double at_width = forecast_counts(shape, stream, error).plain_failure_probability;
    EXPECT_LE(at_width, failure_probability);
    shape.width = *width * 97 / 100;
    EXPECT_GT(forecast_counts(shape, stream, error).plain_failure_probability, failure_probability);
  }
}

TEST(ForecastCounts, ConservativeUpdateIsNeverWorse) {
  for (const std::uint64_t width : {300u, 3000u, 30'000u}) {
    const CountForecast forecast = forecast_counts({.width = width, .depth = 4}, stream, error);
    EXPECT_LE(*forecast.conservative_mean_excess, forecast.plain_mean_excess);
    EXPECT_LE(*forecast.conservative_failure_probability, forecast.plain_failure_probability);
  }
}

// Twice the weight is twice the error, and as likely.
TEST(ForecastCounts, WeightsOfOneKindScaleTheErrors) {
  ZipfStream weighted = stream;
  weighted.weights = {{1000, 7.0}};
  const CountForecast forecast = forecast_counts(wide, weighted, 1000 * error + 999);
  const CountForecast without = forecast_counts(wide, stream, error);
  EXPECT_NEAR(forecast.plain_mean_excess / without.plain_mean_excess, 1000, 10);
  EXPECT_NEAR(forecast.plain_failure_probability / without.plain_failure_probability, 1, 0.15);
  EXPECT_FALSE(forecast.conservative_mean_excess);
  EXPECT_FALSE(forecast.conservative_failure_probability);
  EXPECT_FALSE(least_count_min_width(conservative(wide), weighted, 1000 * error, 0.01));
}

// One key: its count is Poisson, and its sum compound Poisson.
TEST(ForecastCounts, WeightsOfFewInsertionsAreExact) {
  const ZipfStream few{1, 0, 3, {{2, 1.0}, {5, 3.0}}};
  EXPECT_DOUBLE_EQ(few.mean_weight(), 4.25);
  EXPECT_DOUBLE_EQ(few.total(), 12.75);
  const CountMinShape one_counter{.width = 1, .depth = 1};
  // The one key's sum is above 0 unless it is never drawn: exp(-3); and a counter has a Poisson number of such keys.
  const double per_key = -std::expm1(-3.0);
  EXPECT_NEAR(forecast_counts(one_counter, few, 0).plain_failure_probability, -std::expm1(-per_key), 1e-12);
  const double with_two = std::exp(-3.0) * 3 * 0.25;
  EXPECT_NEAR(forecast_counts(one_counter, few, 2).plain_failure_probability,
              1 - std::exp(-per_key) * (1 + with_two), 1e-9);
}

TEST(ForecastCounts, TheLargestTotalIsSixDeviationsAboveTheExpectedOne) {
  const ZipfStream with_two{100, 1, 100, {{1, 1.0}, {3, 1.0}}};
  EXPECT_DOUBLE_EQ(with_two.largest_total(), 200 + 6 * std::sqrt(500.0));
  EXPECT_DOUBLE_EQ(stream.largest_total(), 1e7);
}

TEST(ForecastCounts, RefusesAStreamOutOfRange) {
  const CountMinShape shape{.width = 100, .depth = 5};
  EXPECT_THROW((void)forecast_counts(shape, {0, 1.0, 100}, 5), std::invalid_argument);
  EXPECT_THROW((void)forecast_counts(shape, {100, -1.0, 100}, 5), std::invalid_argument);
  EXPECT_THROW((void)forecast_counts(shape, {100, 1.0, 0}, 5), std::invalid_argument);
  EXPECT_THROW((void)forecast_counts({.width = 100, .depth = 65}, {100, 1.0, 100}, 5), std::invalid_argument);
  EXPECT_THROW((void)least_count_min_width(shape, {100, 1.0, 100}, 5, 1.5), std::invalid_argument);
  for (const WeightFrequency& weight :
       {WeightFrequency{0, 1.0}, {1, -1.0}, {1, 0.0}, {1, std::nan("")}, {std::uint64_t{1} << 57, 1.0}})
    EXPECT_THROW((void)forecast_counts(shape, {100, 1.0, 100, {weight}}, 5), std::invalid_argument);
}

}  // namespace
}  // namespace tally
