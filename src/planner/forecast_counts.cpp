#include "tally/planner/forecast_counts.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "planner/conservative.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/hash_scheme.hpp"
#include "tally/theory/compound_poisson.hpp"
#include "tally/theory/conservative_update.hpp"

namespace tally {
namespace {

constexpr std::uint32_t most_forecast_rows = 64;
constexpr std::uint64_t longest_count_histogram = 10'000;
constexpr double levels_of_mean = 24;  // of the mean of a counter
constexpr double levels_of_error = 48;
constexpr std::uint64_t levels_of_plain_counters = 8192;
constexpr double mean_of_plain_counters = 2048;  // in levels
/// The prediction of how far absent keys are too high is at most a fifth too low.
constexpr double share_of_error = 0.8;

void check_forecast(std::string_view function, const CountMinShape& shape, const ZipfStream& stream) {
  detail::require_in_range(function, "width", shape.width, 1, max_num_positions);
  detail::require_in_range(function, "num_rows", shape.num_rows(), 1, most_forecast_rows);
  detail::require_in_range(function, "num_ranks", stream.num_ranks, 1, max_num_positions);
  detail::require_in_range(function, "exponent", stream.exponent, 0.0, 20.0);
  detail::require_in_range(function, "num_insertions", stream.num_insertions, 1, max_num_positions);
}

/// The histogram of a stream in which `unit` insertions count as one.
theory::CountHistogram scaled_histogram(const ZipfStream& stream, double unit) {
  const double total = std::max(1.0, std::round(static_cast<double>(stream.num_insertions) / unit));
  return theory::zipf_count_histogram(stream.num_ranks, stream.exponent, static_cast<std::uint64_t>(total),
                                      longest_count_histogram);
}

double plain_mean_excess(const theory::CountHistogram& histogram, std::uint32_t depth, std::uint64_t m) {
  const std::vector<double> points =
      theory::counter_value_distribution(histogram, depth, m, levels_of_plain_counters);
  double at_least = 1;
  double mean = 0;
  for (const double point : points) {
    at_least = std::max(0.0, at_least - point);
    mean += std::pow(at_least, depth);
  }
  return mean;
}

}  // namespace

CountForecast forecast_counts(const CountMinShape& shape, const ZipfStream& stream) {
  check_forecast("forecast_counts", shape, stream);
  const std::uint32_t depth = shape.num_rows();
  const std::uint64_t m = shape.num_counters();
  const double load = static_cast<double>(stream.num_insertions) / static_cast<double>(shape.width);
  // Grouping insertions widens the distribution of a counter, which matters less with conservative update.
  const double plain_unit = std::max(1.0, load / mean_of_plain_counters);
  const double unit = std::max(1.0, load / levels_of_mean);
  return {plain_unit * plain_mean_excess(scaled_histogram(stream, plain_unit), depth, m),
          unit * theory::conservative_mean_excess(scaled_histogram(stream, unit), depth, m)};
}

std::optional<std::uint64_t> least_conservative_width(const CountMinShape& shape, const ZipfStream& stream,
                                                      std::uint64_t error, double failure_probability) {
  constexpr std::string_view function = "least_conservative_width";
  detail::require_in_range(function, "num_ranks", stream.num_ranks, 1, max_num_positions);
  detail::require_probability(function, "failure_probability", failure_probability);
  if (shape.num_rows() > most_forecast_rows || failure_probability < planner_detail::least_conservative_rate)
    return std::nullopt;
  check_forecast(function, shape, stream);
  const double promised = share_of_error * static_cast<double>(error);
  const double unit = std::max(1.0, promised / levels_of_error);
  const theory::CountHistogram histogram = scaled_histogram(stream, unit);
  const std::uint32_t depth = shape.num_rows();
  const auto theta = static_cast<std::uint64_t>(std::floor(promised / unit)) + 1;
  const auto is_enough = [&](std::uint64_t width) {
    const double predicted =
        theory::conservative_threshold_false_positive_probability(histogram, theta, depth, width * depth);
    return planner_detail::conservative_margin * predicted <= failure_probability;
  };
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
