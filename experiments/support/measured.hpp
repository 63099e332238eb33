#pragma once

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "measured_rate.hpp"
#include "tally/theory/confidence.hpp"

namespace tally::experiments {

/// Two-sided limits for the true value.
struct Limits {
  double low;
  double high;
};

/// What was measured in `trials` independent trials, and its limits at any confidence, if it has any.
struct Measured {
  double value;
  std::uint64_t trials;
  std::function<Limits(double confidence)> limits;
};

/// The mean of a number that each trial gives; limits by Student's law.
class Mean {
 public:
  void add(double value) { values_.push_back(value); }

  double mean() const {
    double sum = 0;
    for (const double value : values_) sum += value;
    return sum / static_cast<double>(values_.size());
  }
  double least() const { return *std::min_element(values_.begin(), values_.end()); }
  double greatest() const { return *std::max_element(values_.begin(), values_.end()); }
  /// The value that a share `q` of the trials is at or below.
  double quantile(double q) const {
    std::vector<double> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    const double at = std::ceil(q * static_cast<double>(sorted.size())) - 1;
    return sorted[static_cast<std::size_t>(std::max(at, 0.0))];
  }

  operator Measured() const {
    double squares = 0;
    for (const double value : values_) squares += (value - mean()) * (value - mean());
    const auto n = static_cast<double>(values_.size());
    const double error = n > 1 ? std::sqrt(squares / (n - 1) / n) : std::numeric_limits<double>::infinity();
    return {mean(), values_.size(), [mean = mean(), n, error](double confidence) -> Limits {
              if (n < 2) return {-error, error};
              const boost::math::students_t law(n - 1);
              const double width = error * boost::math::quantile(complement(law, (1 - confidence) / 2));
              return {mean - width, mean + width};
            }};
  }

 private:
  std::vector<double> values_;
};

/// In how many of the trials something happened; exact binomial limits.
class Share {
 public:
  void add(bool happened) {
    ++trials_;
    happened_ += happened;
  }
  std::uint64_t happened() const { return happened_; }

  operator Measured() const {
    return {static_cast<double>(happened_) / static_cast<double>(trials_), trials_,
            [*this](double confidence) -> Limits {
              const auto limits = theory::binomial_confidence_limits(happened_, trials_, confidence);
              return {limits.low, limits.high};
            }};
  }

 private:
  std::uint64_t trials_ = 0;
  std::uint64_t happened_ = 0;
};

/// The number of rare events a trial; exact limits of a Poisson mean. Where events come in bunches, the variance of
/// the trials' numbers is above their mean, and the sample is counted as smaller by that factor.
class Events {
 public:
  void add(std::uint64_t num_events) {
    ++trials_;
    sum_ += static_cast<double>(num_events);
    sum_of_squares_ += static_cast<double>(num_events * num_events);
  }

  operator Measured() const {
    const auto trials = static_cast<double>(trials_);
    const double mean = sum_ / trials;
    const double variance = (sum_of_squares_ - sum_ * mean) / std::max(trials - 1, 1.0);
    const double bunch = mean > 0 ? std::max(1.0, variance / mean) : 1;
    return {mean, trials_, [trials, bunch, sum = sum_](double confidence) -> Limits {
              const double miss = (1 - confidence) / 2;
              const double low = sum == 0 ? 0 : boost::math::gamma_p_inv(sum / bunch, miss);
              const double high = boost::math::gamma_q_inv(sum / bunch + 1, miss);
              return {low * bunch / trials, high * bunch / trials};
            }};
  }

 private:
  std::uint64_t trials_ = 0;
  double sum_ = 0;
  double sum_of_squares_ = 0;
};

/// A rate of queries over many filters, as the statistical tests measure it.
inline Measured measured(const test::MeasuredRate& rate, std::uint64_t trials) {
  return {rate.rate(), trials, [rate](double confidence) -> Limits {
            const auto limits = rate.limits(confidence);
            return {limits.low, limits.high};
          }};
}

/// A number without limits: an extreme, or a quantile.
inline Measured without_limits(double value, std::uint64_t trials) { return {value, trials, nullptr}; }

}  // namespace tally::experiments
