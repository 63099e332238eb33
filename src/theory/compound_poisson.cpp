#include "tally/theory/compound_poisson.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <numeric>
#include <utility>

#include "tally/theory/tails.hpp"
#include "theory/detail.hpp"

namespace tally::theory {
namespace {

using detail::infinity;

constexpr std::uint64_t max_limit = 10000;

void check_limit(const char* function, const char* parameter, std::uint64_t value) {
  detail::require(value >= 1 && value <= max_limit, function, parameter, value, "1 to 10000");
}

void check_num_keys(const char* function, double value) {
  detail::require(value >= 0.0 && value < infinity, function, "number of keys", value,
                  "finite and at least 0");
}

void check(const char* function, const CountHistogram& histogram, std::uint32_t k, std::uint64_t m,
           std::uint64_t theta) {
  check_limit(function, "theta", theta);
  detail::require_m_and_k(function, m, k);
  for (std::size_t c = 1; c < histogram.keys_with_count.size(); ++c) {
    check_num_keys(function, histogram.keys_with_count[c]);
  }
  check_num_keys(function, histogram.keys_beyond);
  detail::require(histogram.keys_beyond == 0.0 || theta <= histogram.keys_with_count.size(), function,
                  "theta", theta, "at most the histogram's size, since keys lie beyond it");
}

/// The compound Poisson distribution of one counter, cut off at theta.
///
/// Jumps of theta and more are one event of rate heavy(). The rest uses the tilted distribution with the
/// rates rate_j exp(a j), where a is such that the tilted mean is theta: Pr(s) = tilted(s) exp(-a s + shift).
/// Tilted values near theta are neither tiny nor rounded off, whatever the real ones are.
class Counter {
 public:
  Counter(const CountHistogram& histogram, std::uint32_t k, std::uint64_t m, std::uint64_t theta)
      : theta_(theta), jump_rate_(theta, 0.0) {
    const double per_key = k / static_cast<double>(m);
    heavy_ = per_key * histogram.keys_beyond;
    double mean = 0.0;
    double rate = 0.0;
    for (std::size_t c = 1; c < histogram.keys_with_count.size(); ++c) {
      const double rate_of_c = per_key * histogram.keys_with_count[c];
      if (c >= theta) {
        heavy_ += rate_of_c;
        continue;
      }
      jump_rate_[c] = static_cast<double>(c) * rate_of_c;
      rate += rate_of_c;
      mean += jump_rate_[c];
      if (rate_of_c > 0.0) largest_ = c;
    }
    light_mean_ = mean;
    if (mean > 0.0) tilt(rate);
  }

  [[nodiscard]] double heavy() const { return heavy_; }

  /// ln Pr(sum of the light jumps = s) for s < theta.
  [[nodiscard]] std::vector<double> ln_points() const {
    std::vector<double> result(theta_, -infinity);
    if (light_mean_ == 0.0) {
      result[0] = 0.0;
      return result;
    }
    const std::vector<long double> tilted = lower();
    for (std::uint64_t s = 0; s < theta_; ++s) {
      result[s] = static_cast<double>(std::log(tilted[s])) - a_ * static_cast<double>(s) + shift_;
    }
    return result;
  }

  /// ln Pr(counter >= theta).
  [[nodiscard]] double ln_upper() const {
    if (light_mean_ == 0.0) return detail::ln_one_minus_exp(-heavy_);
    if (light_mean_ >= static_cast<double>(theta_)) {
      // The tail is not small, so one minus the lower part loses no accuracy.
      double ln_lower = -infinity;
      for (const double point : ln_points()) ln_lower = detail::ln_add(ln_lower, point);
      return detail::ln_one_minus_exp(ln_lower - heavy_);
    }
    const double ln_light = ln_light_upper();
    if (ln_light < -1.0) return detail::ln_add(detail::ln_one_minus_exp(-heavy_), ln_light - heavy_);
    return detail::ln_one_minus_exp(detail::ln_one_minus_exp(ln_light) - heavy_);
  }

 private:
  void tilt(double rate) {
    const auto target = static_cast<double>(theta_);
    const auto tilted_mean = [&](double a) {
      double sum = 0.0;
      for (std::size_t j = 1; j <= largest_; ++j) sum += jump_rate_[j] * std::exp(a * static_cast<double>(j));
      return sum;
    };
    // One jump of 1 bounds the tilt from both sides: e^a and e^(a largest) times the mean.
    const double ln_ratio = std::log(target / light_mean_);
    double low = std::min(ln_ratio, ln_ratio / static_cast<double>(largest_));
    double high = std::max(ln_ratio, ln_ratio / static_cast<double>(largest_));
    for (int i = 0; i < 60 && high - low > 1e-6 * std::fabs(high); ++i) {
      const double middle = 0.5 * (low + high);
      (tilted_mean(middle) < target ? low : high) = middle;
    }
    a_ = 0.5 * (low + high);
    double tilted_rate = 0.0;
    for (std::size_t j = 1; j <= largest_; ++j) {
      jump_rate_[j] *= std::exp(a_ * static_cast<double>(j));
      tilted_rate += jump_rate_[j] / static_cast<double>(j);
    }
    tilted_rate_ = tilted_rate;
    shift_ = tilted_rate - rate;
  }

  /// Panjer: s Pr(s) = sum over j of j rate_j Pr(s - j).
  [[nodiscard]] long double next(const std::vector<long double>& tilted) const {
    const std::size_t s = tilted.size();
    long double sum = 0.0L;
    for (std::size_t j = 1; j <= std::min(s, largest_); ++j) sum += jump_rate_[j] * tilted[s - j];
    return sum / static_cast<long double>(s);
  }

  [[nodiscard]] std::vector<long double> lower() const {
    // The rate is at most the tilted mean, theta <= 10000: inside long double's exponents.
    std::vector<long double> tilted{std::exp(-static_cast<long double>(tilted_rate_))};
    while (tilted.size() < theta_) tilted.push_back(next(tilted));
    return tilted;
  }

  /// ln Pr(sum of the light jumps >= theta), a >= 0: summed up from theta until the rest is negligible.
  [[nodiscard]] double ln_light_upper() const {
    const auto target = static_cast<double>(theta_);
    std::vector<long double> tilted = lower();
    const auto mean = std::accumulate(jump_rate_.begin(), jump_rate_.end(), 0.0L);
    long double sum = 0.0L;
    for (;;) {
      const auto s = static_cast<double>(tilted.size());
      tilted.push_back(next(tilted));
      sum += tilted.back() * std::exp(static_cast<long double>(-a_ * (s - target)));
      // Beyond twice the mean, the largest of any `largest_` consecutive values is at most half that of the
      // previous ones. So the rest is below 2 largest_ times the largest of the last ones.
      if (s < 2.0L * mean || tilted.size() % largest_ != 0) continue;
      const auto row = tilted.end() - static_cast<std::ptrdiff_t>(largest_);
      const long double greatest = *std::max_element(row, tilted.end());
      const long double damping = std::exp(static_cast<long double>(-a_ * (s - target)));
      if (2.0L * static_cast<long double>(largest_) * greatest * damping <= 1e-17L * sum) break;
    }
    return static_cast<double>(std::log(sum)) - a_ * target + shift_;
  }

  std::uint64_t theta_;
  std::size_t largest_ = 1;        // largest light jump with a rate
  std::vector<double> jump_rate_;  // [j] = j times the (tilted) rate of jumps of size j
  double heavy_ = 0.0;
  double light_mean_ = 0.0;
  double a_ = 0.0;
  double shift_ = 0.0;
  double tilted_rate_ = 0.0;
};

/// Adds `weight` keys with Poisson(mean) counts to the histogram.
void add_poisson_keys(CountHistogram& histogram, double mean, double weight) {
  if (mean == 0.0) return;
  std::vector<double>& keys = histogram.keys_with_count;
  const std::size_t limit = keys.size();
  const std::size_t top = std::min(limit - 1, static_cast<std::size_t>(std::min(mean, 1e9)));
  const double point = std::exp(ln_poisson_point(top, mean));
  double below_limit = 0.0;
  double value = point;
  for (std::size_t c = top; c > 0; --c) {  // down from the mode, or from the last count kept
    keys[c] += weight * value;
    below_limit += value;
    value *= static_cast<double>(c) / mean;
    if (value < 1e-30) break;
  }
  if (mean >= static_cast<double>(limit)) {
    histogram.keys_beyond += weight * (-std::expm1(-mean) - below_limit);
    return;
  }
  value = point;
  for (std::size_t c = top + 1;; ++c) {  // up from it, past the limit too
    value *= mean / static_cast<double>(c);
    if (c < limit) {
      keys[c] += weight * value;
    } else {
      histogram.keys_beyond += weight * value;
    }
    if (value < 1e-30) break;
  }
}

/// The histogram of `num_insertions` insertions: keys above its largest count are in the fields `_beyond`.
CountHistogram of_insertions(CountHistogram histogram, double num_insertions) {
  double kept = 0.0;
  for (std::size_t c = 1; c < histogram.keys_with_count.size(); ++c) {
    kept += static_cast<double>(c) * histogram.keys_with_count[c];
  }
  histogram.insertions_beyond = std::max(0.0, num_insertions - kept);
  return histogram;
}

/// Integral of x^-exponent from a to b.
double power_integral(double a, double b, double exponent) {
  const double ln_ratio = std::log(b / a);
  const double e = 1.0 - exponent;
  if (std::fabs(e * ln_ratio) < 1e-8) return std::pow(a, e) * ln_ratio;
  return std::pow(a, e) * std::expm1(e * ln_ratio) / e;
}

}  // namespace

double CountHistogram::num_distinct() const {
  double sum = keys_beyond;
  for (std::size_t c = 1; c < keys_with_count.size(); ++c) sum += keys_with_count[c];
  return sum;
}

double CountHistogram::num_insertions() const {
  double sum = std::max(insertions_beyond, keys_beyond * static_cast<double>(keys_with_count.size()));
  for (std::size_t c = 1; c < keys_with_count.size(); ++c) sum += static_cast<double>(c) * keys_with_count[c];
  return sum;
}

CountHistogram make_count_histogram(const std::vector<std::pair<std::uint64_t, double>>& counts,
                                    std::uint64_t limit) {
  constexpr const char* function = "make_count_histogram";
  check_limit(function, "limit", limit);
  CountHistogram histogram;
  histogram.keys_with_count.assign(limit, 0.0);
  for (const auto& [count, num_keys] : counts) {
    detail::require_at_least_1(function, "count", count);
    check_num_keys(function, num_keys);
    if (count < limit) {
      histogram.keys_with_count[count] += num_keys;
    } else {
      histogram.keys_beyond += num_keys;
      histogram.insertions_beyond += static_cast<double>(count) * num_keys;
    }
  }
  return histogram;
}

std::vector<double> counter_value_distribution(const CountHistogram& histogram, std::uint32_t k,
                                               std::uint64_t m, std::uint64_t theta) {
  check("counter_value_distribution", histogram, k, m, theta);
  const Counter counter(histogram, k, m, theta);
  std::vector<double> points = counter.ln_points();
  for (double& point : points) point = std::exp(point - counter.heavy());
  return points;
}

double ln_counter_upper_tail(const CountHistogram& histogram, std::uint32_t k, std::uint64_t m,
                             std::uint64_t theta) {
  check("ln_counter_upper_tail", histogram, k, m, theta);
  return Counter(histogram, k, m, theta).ln_upper();
}

double ln_compound_threshold_false_positive_probability(const CountHistogram& histogram, std::uint64_t theta,
                                                        std::uint32_t k, std::uint64_t m,
                                                        std::uint64_t true_count) {
  constexpr const char* function = "compound_threshold_false_positive_probability";
  check_limit(function, "theta", theta);
  detail::require(true_count < theta, function, "true_count", true_count, "below theta");
  check(function, histogram, k, m, theta - true_count);
  return k * Counter(histogram, k, m, theta - true_count).ln_upper();
}

double compound_threshold_false_positive_probability(const CountHistogram& histogram, std::uint64_t theta,
                                                     std::uint32_t k, std::uint64_t m,
                                                     std::uint64_t true_count) {
  return std::exp(ln_compound_threshold_false_positive_probability(histogram, theta, k, m, true_count));
}

CountHistogram zipf_count_histogram(std::uint64_t num_ranks, double exponent, std::uint64_t total,
                                    std::uint64_t limit) {
  constexpr const char* function = "zipf_count_histogram";
  constexpr std::uint64_t exact_ranks = 65536;
  detail::require_at_least_1(function, "num_ranks", num_ranks);
  detail::require(exponent >= 0.0 && exponent <= 20.0, function, "exponent", exponent, "0 to 20");
  check_limit(function, "limit", limit);
  CountHistogram histogram;
  histogram.keys_with_count.assign(limit, 0.0);

  const std::uint64_t exact = std::min(num_ranks, exact_ranks);
  // A sum over ranks a .. b is the integral from a - 1/2 to b + 1/2, except for second derivatives.
  const double start = static_cast<double>(exact) + 0.5;
  const double end = static_cast<double>(num_ranks) + 0.5;
  double weights = num_ranks > exact ? power_integral(start, end, exponent) : 0.0;
  for (std::uint64_t i = exact; i > 0; --i) weights += std::pow(static_cast<double>(i), -exponent);
  const double scale = static_cast<double>(total) / weights;
  const auto mean_of = [&](double rank) { return scale * std::pow(rank, -exponent); };

  for (std::uint64_t i = 1; i <= exact; ++i) {
    add_poisson_keys(histogram, mean_of(static_cast<double>(i)), 1.0);
  }
  if (num_ranks == exact) return of_insertions(std::move(histogram), static_cast<double>(total));

  // Pr(count = c) has a width of about 1 / (exponent sqrt(c)) in ln(rank): steps are of that order.
  using Gauss = boost::math::quadrature::gauss<double, 10>;
  const double step = std::min(0.25, 1.0 / ((1.0 + exponent) * std::sqrt(static_cast<double>(limit))));
  const double span = std::log(end / start);
  const double num_steps = std::ceil(span / step);
  const double half = 0.5 * span / num_steps;
  for (double i = 0.0; i < num_steps; i += 1.0) {
    const double middle = std::log(start) + (2.0 * i + 1.0) * half;
    for (std::size_t j = 0; j < Gauss::abscissa().size(); ++j) {
      for (const double sign : {-1.0, 1.0}) {
        const double rank = std::exp(middle + sign * half * Gauss::abscissa()[j]);
        add_poisson_keys(histogram, mean_of(rank), Gauss::weights()[j] * half * rank);
      }
    }
  }
  return of_insertions(std::move(histogram), static_cast<double>(total));
}

}  // namespace tally::theory
