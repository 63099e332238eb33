#include "tally/planner/forecast_counts.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "planner/conservative.hpp"
#include "planner/conservative_simulation.hpp"
#include "planner/zipf_stream.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/hash_scheme.hpp"
#include "tally/theory/compound_poisson.hpp"
#include "tally/theory/conservative_update.hpp"

namespace tally {
namespace {

using namespace planner_detail;

constexpr std::uint32_t most_forecast_rows = 64;
constexpr std::uint64_t longest_count_histogram = 10'000;
constexpr double levels_of_mean = 24;  // of the mean of a counter with conservative update
constexpr double levels_of_error = 48;
/// The prediction of how far absent keys are too high is at most a fifth too low.
constexpr double share_of_error = 0.8;

/// In how many units the counters of plain update are calculated.
struct PlainLevels {
  double of_mean;   ///< of the mean of a counter
  double of_error;  ///< of an error
  std::uint64_t of_counter;
};
constexpr PlainLevels levels_without_weights{2048, 4096, 8192};
constexpr PlainLevels levels_with_weights{512, 1024, 2048};

const PlainLevels& plain_levels(const ZipfStream& stream) {
  return stream.weights.empty() ? levels_without_weights : levels_with_weights;
}

void check_rows(std::string_view function, const CountMinShape& shape) {
  detail::require_in_range(function, "width", shape.width, 1, max_num_positions);
  detail::require_in_range(function, "num_rows", shape.num_rows(), 1, most_forecast_rows);
}

theory::CountHistogram long_histogram(const ZipfStream& stream, double unit) {
  return histogram_in_units(stream, unit, longest_count_histogram);
}

/// Grouping insertions widens the distribution of a counter, which matters less with conservative update.
double plain_mean_excess(const CountMinShape& shape, const ZipfStream& stream) {
  const PlainLevels& levels = plain_levels(stream);
  const double unit = std::max(1.0, stream.total() / static_cast<double>(shape.width) / levels.of_mean);
  const std::vector<double> points =
      theory::counter_value_distribution(histogram_in_units(stream, unit, levels.of_counter),
                                         shape.num_rows(), shape.num_counters(), levels.of_counter);
  double at_least = 1;
  double mean = 0;
  for (const double point : points) {
    at_least = std::max(0.0, at_least - point);
    mean += std::pow(at_least, shape.num_rows());
  }
  return unit * mean;
}

double conservative_mean_excess(const CountMinShape& shape, const ZipfStream& stream) {
  const double unit = std::max(1.0, stream.total() / static_cast<double>(shape.width) / levels_of_mean);
  return unit * theory::conservative_mean_excess(long_histogram(stream, unit), shape.num_rows(),
                                                 shape.num_counters());
}

/// The probability that a sketch of a width is too high by more than an error.
class Failure {
 public:
  Failure(const ZipfStream& stream, std::uint64_t error, std::uint32_t num_rows, CounterUpdate update)
      : num_rows_(num_rows), update_(update) {
    const bool is_plain = update == CounterUpdate::plain;
    const double kept = is_plain ? static_cast<double>(error) : share_of_error * static_cast<double>(error);
    const double unit = std::max(1.0, kept / (is_plain ? plain_levels(stream).of_error : levels_of_error));
    theta_ = static_cast<std::uint64_t>(std::floor(kept / unit)) + 1;
    histogram_ = is_plain ? histogram_in_units(stream, unit, plain_levels(stream).of_counter)
                          : long_histogram(stream, unit);
  }

  double at(std::uint64_t width) const {
    const std::uint64_t num_counters = width * num_rows_;
    if (update_ == CounterUpdate::plain) {
      return theory::compound_threshold_false_positive_probability(histogram_, theta_, num_rows_,
                                                                   num_counters);
    }
    const double predicted = theory::conservative_threshold_false_positive_probability(
        histogram_, theta_, num_rows_, num_counters);
    return ConservativeSimulation(histogram_, theta_, num_rows_, num_counters)
        .at_least(std::min(1.0, conservative_margin * predicted), 0);
  }

 private:
  std::uint32_t num_rows_;
  CounterUpdate update_;
  std::uint64_t theta_ = 1;
  theory::CountHistogram histogram_;
};

}  // namespace

CountForecast forecast_counts(const CountMinShape& shape, const ZipfStream& stream, std::uint64_t error) {
  check_rows("forecast_counts", shape);
  check_stream("forecast_counts", stream);
  CountForecast forecast;
  forecast.plain_mean_excess = plain_mean_excess(shape, stream);
  forecast.plain_failure_probability =
      Failure(stream, error, shape.num_rows(), CounterUpdate::plain).at(shape.width);
  if (!stream.weights.empty()) return forecast;
  forecast.conservative_mean_excess =
      std::min(forecast.plain_mean_excess, conservative_mean_excess(shape, stream));
  const double promised =
      std::max(least_conservative_rate,
               Failure(stream, error, shape.num_rows(), CounterUpdate::conservative).at(shape.width));
  forecast.conservative_failure_probability = std::min(forecast.plain_failure_probability, promised);
  return forecast;
}

std::optional<std::uint64_t> least_count_min_width(const CountMinShape& shape, const ZipfStream& stream,
                                                   std::uint64_t error, double failure_probability) {
  constexpr std::string_view function = "least_count_min_width";
  check_stream(function, stream);
  detail::require_probability(function, "failure_probability", failure_probability);
  const bool is_known = shape.update == CounterUpdate::plain ||
                        (stream.weights.empty() && failure_probability >= least_conservative_rate);
  if (shape.num_rows() > most_forecast_rows || !is_known) return std::nullopt;
  check_rows(function, shape);
  const Failure failure(stream, error, shape.num_rows(), shape.update);
  const auto is_enough = [&](std::uint64_t width) { return failure.at(width) <= failure_probability; };
  if (!is_enough(shape.width)) return std::nullopt;
  auto low = 1.0;
  auto high = static_cast<double>(shape.width);
  constexpr double closest = 1.01;
  while (high > closest * low && high - low > 1) {
    const double middle = std::sqrt(low * high);
    (is_enough(static_cast<std::uint64_t>(middle)) ? high : low) = middle;
  }
  return std::min(shape.width, static_cast<std::uint64_t>(std::ceil(high)));
}

}  // namespace tally
