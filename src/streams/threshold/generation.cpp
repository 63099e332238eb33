#include "streams/threshold/generation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tally/theory/bloom.hpp"

namespace tally::detail {
namespace {

/// The false positive rate, measured on the first counters of the filter.
double measured_error(const ThresholdFilter<>& filter) {
  constexpr std::uint64_t most_counters = std::uint64_t{1} << 22;
  const std::uint64_t num_counters = std::min(filter.shape().num_counters, most_counters);
  std::uint64_t num_taken = 0;
  for (std::uint64_t i = 0; i < num_counters; ++i) num_taken += filter.storage().get(i) != 0;
  return std::pow(static_cast<double>(num_taken) / static_cast<double>(num_counters),
                  filter.shape().num_hashes);
}

}  // namespace

std::uint64_t most_seen_to_be_new(const ThresholdShape& shape, std::uint64_t num_keys) {
  constexpr int num_steps = 64;
  double mean_rate = 0;
  for (int i = 0; i < num_steps; ++i) {
    const double keys = (i + 0.5) / num_steps * static_cast<double>(num_keys);
    mean_rate += theory::false_positive_probability(shape.num_counters, shape.num_hashes,
                                                    static_cast<std::uint64_t>(keys)) /
                 num_steps;
  }
  const double num_others = mean_rate * static_cast<double>(num_keys);
  const auto others = static_cast<std::uint64_t>(std::max(0.0, num_others - 6 * std::sqrt(num_others)));
  return std::max<std::uint64_t>(1, num_keys - std::min(others, num_keys));
}

Generation::Generation(ThresholdFilter<> empty, std::uint64_t num_planned, double rate)
    : filter(std::move(empty)),
      planned_keys(num_planned),
      false_positive_rate(rate),
      most_new(most_seen_to_be_new(filter.shape(), num_planned)),
      counts(filter.shape().threshold),
      own(filter.shape().threshold) {}

double Generation::error() const {
  // In a filter with more keys than planned, too few keys are recognized as new.
  if (num_keys > most_new + 1) return measured_error(filter);
  const ThresholdShape& shape = filter.shape();
  const double all_keys =
      static_cast<double>(num_keys) / static_cast<double>(most_new) * static_cast<double>(planned_keys);
  return theory::false_positive_probability(shape.num_counters, shape.num_hashes,
                                            std::max<std::uint64_t>(1, static_cast<std::uint64_t>(all_keys)));
}

}  // namespace tally::detail
