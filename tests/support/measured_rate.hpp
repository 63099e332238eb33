#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tally/theory/confidence.hpp"

namespace tally::test {

/// `usual` trials, times the factor in the environment variable TALLY_TRIALS.
inline std::uint64_t num_trials(std::uint64_t usual) {
  const char* text = std::getenv("TALLY_TRIALS");
  const double factor = text == nullptr ? 1.0 : std::stod(text);
  return std::max<std::uint64_t>(50, static_cast<std::uint64_t>(factor * static_cast<double>(usual)));
}

/// Queries to each filter of a MeasuredRate.
inline constexpr std::uint64_t usual_num_queries = 2000;

/// A probability measured over many fresh filters.
///
/// The queries of one filter share its randomness: its rate differs from filter to filter, so the
/// total is not binomial. How much it varies between filters is measured, and the sample counted as
/// smaller by that much (the design effect: observed variance of the filters' counts over the
/// binomial one, never taken below 1). The limits are then the exact binomial ones of the smaller
/// sample (Korn and Graubard 1998). Filters are independent of each other, and there are hundreds.
class MeasuredRate {
 public:
  explicit MeasuredRate(std::uint64_t queries_per_filter) : queries_per_filter_(queries_per_filter) {}

  void add_filter(std::uint64_t num_positives) { add_filter(num_positives, queries_per_filter_); }
  /// A filter with another number of queries.
  void add_filter(std::uint64_t num_positives, std::uint64_t num_queries) {
    ++num_filters_;
    num_queries_ += num_queries;
    sum_ += num_positives;
    sum_of_squares_ += num_positives * num_positives;
    sum_of_products_ += num_positives * num_queries;
    sum_of_squared_queries_ += num_queries * num_queries;
  }

  std::uint64_t num_queries() const { return num_queries_; }
  double rate() const { return static_cast<double>(sum_) / static_cast<double>(num_queries()); }

  double design_effect() const {
    const auto filters = static_cast<double>(num_filters_);
    // Of positives beyond rate times queries, which is that of a ratio (Cochran 1977, chapter 6).
    const double squares = static_cast<double>(sum_of_squares_) -
                           2 * rate() * static_cast<double>(sum_of_products_) +
                           rate() * rate() * static_cast<double>(sum_of_squared_queries_);
    const double variance = squares / (filters - 1);
    const double binomial = static_cast<double>(num_queries_) / filters * rate() * (1 - rate());
    return binomial > 0 ? std::max(1.0, variance / binomial) : 1.0;
  }

  /// Two-sided limits for the true probability.
  theory::ProbabilityInterval limits(double confidence) const {
    const double effect = design_effect();
    const auto shrink = [&](std::uint64_t count) {
      return static_cast<std::uint64_t>(std::llround(static_cast<double>(count) / effect));
    };
    return theory::binomial_confidence_limits(shrink(sum_), shrink(num_queries()), confidence);
  }

 private:
  std::uint64_t queries_per_filter_;
  std::uint64_t num_filters_ = 0;
  std::uint64_t num_queries_ = 0;
  std::uint64_t sum_ = 0;  // of positives
  std::uint64_t sum_of_squares_ = 0;
  std::uint64_t sum_of_products_ = 0;  // of positives and queries
  std::uint64_t sum_of_squared_queries_ = 0;
};

/// Tests that are to hold all together with one confidence: 99.9% shared out evenly (Bonferroni,
/// which holds however the tests depend on each other).
struct Cell {
  std::string name;
  double predicted;
  MeasuredRate measured;
};

inline constexpr double family_confidence = 0.999;
inline constexpr double least_tested_probability = 1e-4;

}  // namespace tally::test
