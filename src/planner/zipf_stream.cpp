#include "planner/zipf_stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/hash_scheme.hpp"

namespace tally {
namespace {

constexpr double standard_deviations_above = 6;
/// Numbers of units up to this are kept; larger ones are rounded to one of eight per octave.
constexpr double finest_units = 16;
constexpr double ratio_of_units = 1.0905077326652577;  // 2^(1/8)
constexpr double negligible = 1e-13;

double num_weighted(const std::vector<WeightFrequency>& weights) noexcept {
  double sum = 0;
  for (const WeightFrequency& own : weights) sum += own.num_insertions;
  return sum;
}

/// The weight of one insertion in units: probabilities[u], and of `limit` units or more the rest.
class WeightInUnits {
 public:
  WeightInUnits(const std::vector<WeightFrequency>& weights, double unit, std::uint64_t limit)
      : probabilities_(limit) {
    const double all = num_weighted(weights);
    for (const WeightFrequency& own : weights)
      add(static_cast<double>(own.weight) / unit, own.num_insertions / all);
  }

  /// How many of the insertions weigh anything.
  double positive() const { return 1 - probabilities_[0]; }
  std::uint64_t limit() const { return probabilities_.size(); }
  /// Those that do, as pairs of units and their share; those of `limit` and more left out.
  std::vector<std::pair<std::size_t, double>> shares() const {
    std::vector<std::pair<std::size_t, double>> all;
    for (std::size_t units = 1; units < probabilities_.size(); ++units)
      if (probabilities_[units] > 0) all.emplace_back(units, probabilities_[units] / positive());
    return all;
  }

 private:
  /// Between the two nearest numbers of units, with the mean unchanged.
  void add(double units, double share) {
    const auto limit = static_cast<double>(probabilities_.size());
    if (units >= limit) return;
    double low = std::floor(units);
    double high = low + 1;
    if (units >= finest_units) {
      low = finest_units;
      high = std::ceil(low * ratio_of_units);
      for (; high <= units; high = std::ceil(high * ratio_of_units)) low = high;
    }
    const double of_high = (units - low) / (high - low);
    probabilities_[static_cast<std::size_t>(low)] += share * (1 - of_high);
    if (high < limit) probabilities_[static_cast<std::size_t>(high)] += share * of_high;
  }

  std::vector<double> probabilities_;
};

/// The keys by the sum of as many independent weights as their count; `total` is that of all keys, in units.
theory::CountHistogram histogram_of_sums(const theory::CountHistogram& counts, const WeightInUnits& weight,
                                         double total) {
  const std::uint64_t limit = weight.limit();
  const auto shares = weight.shares();
  theory::CountHistogram sums{.keys_with_count = std::vector<double>(limit)};
  std::vector<double> of_count(limit);  // probabilities of the sum of `count` weights
  of_count[0] = 1;
  for (std::size_t count = 1; count < counts.keys_with_count.size(); ++count) {
    std::vector<double> next(limit);
    for (std::size_t units = count - 1; units < limit; ++units) {
      if (of_count[units] < negligible) continue;
      for (const auto& [more, share] : shares) {
        if (units + more >= limit) break;
        next[units + more] += of_count[units] * share;
      }
    }
    of_count = std::move(next);
    bool any = false;
    for (std::size_t units = count; units < limit; ++units) {
      sums.keys_with_count[units] += counts.keys_with_count[count] * of_count[units];
      any = any || of_count[units] >= negligible;
    }
    if (!any) break;
  }
  sums.insertions_beyond = std::max(0.0, total - sums.num_insertions());
  sums.keys_beyond = std::max(0.0, counts.num_distinct() - sums.num_distinct());
  return sums;
}

}  // namespace

double ZipfStream::mean_weight() const noexcept {
  if (weights.empty()) return 1;
  double sum = 0;
  for (const WeightFrequency& own : weights) sum += static_cast<double>(own.weight) * own.num_insertions;
  return sum / num_weighted(weights);
}

double ZipfStream::largest_total() const noexcept {
  if (weights.empty()) return static_cast<double>(num_insertions);
  double squares = 0;
  for (const WeightFrequency& own : weights)
    squares += std::pow(static_cast<double>(own.weight), 2) * own.num_insertions;
  const double variance = squares / num_weighted(weights) * static_cast<double>(num_insertions);
  return total() + standard_deviations_above * std::sqrt(variance);
}

namespace planner_detail {

void check_stream(std::string_view function, const ZipfStream& stream) {
  detail::require_in_range(function, "num_ranks", stream.num_ranks, 1, max_num_positions);
  detail::require_in_range(function, "exponent", stream.exponent, 0.0, 20.0);
  detail::require_in_range(function, "num_insertions", stream.num_insertions, 1, max_num_positions);
  for (const WeightFrequency& own : stream.weights) {
    detail::require_in_range(function, "weight", own.weight, 1, max_num_positions);
    detail::require_in_range(function, "num_insertions of a weight", own.num_insertions, 0.0,
                             std::numeric_limits<double>::max());
  }
  if (stream.weights.empty()) return;
  const double all = num_weighted(stream.weights);
  if (!(all > 0 && std::isfinite(stream.largest_total())))
    throw std::invalid_argument(std::string(function) +
                                ": the weights are of no insertion, or of too many; give finite numbers "
                                "of insertions, at least one of them above 0");
}

theory::CountHistogram histogram_in_units(const ZipfStream& stream, double unit, std::uint64_t limit) {
  const auto counts = [&](double num_insertions) {
    return theory::zipf_count_histogram(stream.num_ranks, stream.exponent,
                                        static_cast<std::uint64_t>(std::max(1.0, std::round(num_insertions))),
                                        limit);
  };
  const auto num_insertions = static_cast<double>(stream.num_insertions);
  if (stream.weights.empty()) return counts(num_insertions / unit);
  const WeightInUnits weight(stream.weights, unit, limit);
  return histogram_of_sums(counts(num_insertions * weight.positive()), weight, stream.total() / unit);
}

}  // namespace planner_detail
}  // namespace tally
