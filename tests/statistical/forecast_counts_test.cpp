// What is forecast for sketches of plain counters, against sketches that take streams by Zipf's law with weights.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "support/measured_rate.hpp"
#include "support/random.hpp"
#include "support/weighted_draw.hpp"
#include "tally/planner/forecast_counts.hpp"
#include "tally/sketches/count_min.hpp"

namespace tally::test {
namespace {

struct Forecast {
  std::string name;
  CountMinShape shape;
  ZipfStream stream;
  double epsilon;
};

const std::vector<WeightFrequency> byte_counts{{40, 60}, {576, 25}, {1500, 14}, {60'000, 1}};

const std::vector<Forecast> forecasts{
    {"no weights", {.width = 300, .depth = 2}, {20'000, 1.0, 60'000}, 0.005},
    {"uniform keys, no weights", {.width = 500, .depth = 3}, {10'000, 0.0, 50'000}, 0.0025},
    {"bytes of frequent keys", {.width = 300, .depth = 2}, {20'000, 1.0, 60'000, byte_counts}, 0.005},
    {"bytes of keys drawn once", {.width = 300, .depth = 3}, {1 << 30, 0.0, 20'000, byte_counts}, 0.006},
    {"small weights", {.width = 1000, .depth = 2}, {5000, 0.7, 10'000, {{1, 5}, {2, 3}, {7, 2}}}, 0.002},
};

// A forecast groups weights and insertions, so what is measured may differ by a tenth.
TEST(ForecastCounts, OfStreamsWithAndWithoutWeightsAreMeasured) {
  constexpr std::uint64_t num_queries = 2000;
  constexpr double tolerance = 0.1;
  const double confidence = theory::per_test_confidence(family_confidence, 2 * forecasts.size());
  Random random(25);
  for (const Forecast& own : forecasts) {
    const ZipfStream& stream = own.stream;
    const std::uint64_t num_drawn = std::min<std::uint64_t>(stream.num_ranks, 20'000);
    const WeightedDraw rank = WeightedDraw::by_zipf(num_drawn, stream.exponent);
    std::vector<double> of_weights;
    for (const WeightFrequency& weight : stream.weights) of_weights.push_back(weight.num_insertions);
    const WeightedDraw weight(of_weights.empty() ? std::vector{1.0} : of_weights);

    const auto error = static_cast<std::uint64_t>(own.epsilon * stream.total());
    MeasuredRate too_high(num_queries);
    double sum = 0;
    double sum_of_squares = 0;
    const std::uint64_t trials = num_trials(100);
    for (std::uint64_t trial = 0; trial < trials; ++trial) {
      CountMinSketch<> sketch(own.shape, random.next());
      const bool is_drawn_once = stream.num_ranks > num_drawn;
      for (std::uint64_t i = 0; i < stream.num_insertions; ++i) {
        const std::uint64_t key = is_drawn_once ? i : rank(random);
        sketch.add(sketch.hasher()(key), stream.weights.empty() ? 1 : stream.weights[weight(random)].weight);
      }
      std::uint64_t num_too_high = 0;
      double excess = 0;
      for (std::uint64_t i = 0; i < num_queries; ++i) {
        const std::uint64_t value = sketch.count(random.digest()).value;
        num_too_high += value > error;
        excess += static_cast<double>(value) / num_queries;
      }
      too_high.add_filter(num_too_high);
      sum += excess;
      sum_of_squares += excess * excess;
    }
    const CountForecast forecast = forecast_counts(own.shape, stream, error);
    const theory::ProbabilityInterval limits = too_high.limits(confidence);
    const double predicted = forecast.plain_failure_probability;
    EXPECT_GE(predicted, 5 * least_tested_probability) << own.name;
    EXPECT_LE(limits.low, (1 + tolerance) * predicted) << own.name << ": measured " << too_high.rate();
    EXPECT_GE(limits.high, (1 - tolerance) * predicted) << own.name << ": measured " << too_high.rate();

    const auto num = static_cast<double>(trials);
    const double mean = sum / num;
    constexpr double standard_errors = 4;
    const double error_of_mean =
        standard_errors * std::sqrt((sum_of_squares / num - mean * mean) / (num - 1));
    EXPECT_NEAR(mean, forecast.plain_mean_excess, tolerance * forecast.plain_mean_excess + error_of_mean)
        << own.name;
  }
}

}  // namespace
}  // namespace tally::test
