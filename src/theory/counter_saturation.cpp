#include "tally/theory/counter_saturation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tally/theory/blocked_counters.hpp"
#include "tally/theory/tails.hpp"
#include "theory/detail.hpp"
#include "theory/line_mixture.hpp"

namespace tally::theory {
namespace {

using detail::Extended;
using detail::infinity;
using detail::product;

void require_maximum(const char* function, std::uint64_t i) {
  detail::require(i >= 1 && i <= detail::max_theta, function, "i", i, "1 to 2^40");
}

/// sum over r < k of Pr(Binomial(trials + r, p) = i - 1): p times it is Pr(Binomial(trials + k, p) >= i) less
/// Pr(Binomial(trials, p) >= i).
double sum_of_points(std::uint32_t k, double trials, double p, std::uint64_t i) {
  double sum = 0.0;
  for (std::uint32_t r = 0; r < k; ++r) sum += std::exp(ln_binomial_point(i - 1, trials + r, p));
  return sum;
}

/// A counter whose value is a sum over keys, of which each insertion adds h with the probability additions[h].
struct SummedCounter {
  std::vector<double> additions;
  CountHistogram jumps;        ///< n_c keys with count c, each times what its insertions add
  std::vector<double> points;  ///< Pr(S = s), s < i
};

SummedCounter one_of(const CountHistogram& histogram, std::uint64_t m, std::uint32_t k, std::uint64_t i) {
  return {{0, 1}, histogram, counter_value_distribution(histogram, k, m, i)};
}

SummedCounter one_in_a_line(const CountHistogram& histogram, std::uint64_t num_blocks, std::uint32_t B,
                            std::uint32_t k, std::uint64_t i) {
  CountHistogram jumps = blocked_counter_jumps(histogram, B, k);
  const CountHistogram once = make_count_histogram({{1, 1.0}}, k);
  std::vector<double> points = counter_value_distribution(jumps, 1, num_blocks, i);
  return {blocked_counter_jumps(once, B, k).keys_with_count, std::move(jumps), std::move(points)};
}

/// Sum over the keys of the probability that a key that comes or goes whole takes the counter across i.
double crossings_of_keys(const SummedCounter& counter) {
  const std::uint64_t i = counter.points.size();
  std::vector<double> below(i + 1, 0.0);  // [c]: Pr(i - c <= S < i)
  for (std::uint64_t c = 1; c <= i; ++c) below[c] = below[c - 1] + counter.points[i - c];
  double sum = counter.jumps.keys_beyond * below[i];
  for (std::uint64_t c = 1; c < counter.jumps.keys_with_count.size(); ++c)
    sum += counter.jumps.keys_with_count[c] * below[std::min(c, i)];
  return sum;
}

/// The same over the insertions, for a random one that comes or goes alone: from c to c - 1 insertions of its key.
double crossings_of_insertions(const CountHistogram& histogram, const SummedCounter& counter) {
  const std::uint64_t i = counter.points.size();
  double sum = 0;
  for (std::uint64_t c = 1; c < histogram.keys_with_count.size(); ++c) {
    double crossing = 0;
    for (std::uint64_t h = 1; h < counter.additions.size(); ++h) {
      for (std::uint64_t others = i - std::min(i, c * h); others + (c - 1) * h < i; ++others)
        crossing += counter.additions[h] * counter.points[others];
    }
    sum += static_cast<double>(c) * histogram.keys_with_count[c] * crossing;
  }
  return sum;
}

double crossings_of(const CountHistogram& histogram, const SummedCounter& counter) {
  return std::max(crossings_of_keys(counter), crossings_of_insertions(histogram, counter));
}

double at_most(double counters, double expected) { return std::min(counters, expected); }

void require_keys_in_lines(const char* function, std::uint64_t num_blocks, std::uint32_t B, std::uint32_t k,
                           std::uint64_t n, std::uint64_t i) {
  detail::require_lines(function, num_blocks, B, k);
  detail::require_at_least_1(function, "n", n);
  require_maximum(function, i);
}

/// sum_j Pr(Binomial(n, 1/num_lines) = j) g(j), g at most 1024 and 0 below `first`.
template <class G>
double mixture_over_lines(std::uint64_t first, std::uint64_t n, std::uint64_t num_lines, G g) {
  // Below the mean the points may be too small for the sum to tell that it is not at its end.
  Extended sum = 0.0;
  const auto mean = static_cast<std::uint64_t>(static_cast<double>(n) / static_cast<double>(num_lines));
  detail::for_each_number_in_line(first, n, num_lines, [&](std::uint64_t j, Extended probability) {
    sum += probability * static_cast<Extended>(g(j));
    return j < mean ? Extended(-1) : Extended(1e-17L) * sum;
  });
  return static_cast<double>(sum);
}

/// Whether practically all counters reach i. The sums would take long.
bool is_far_above(std::uint64_t num_blocks, std::uint32_t B, std::uint32_t k, std::uint64_t n,
                  std::uint64_t i) {
  return product(k, n) / static_cast<double>(num_blocks) / B > 4.0 * static_cast<double>(i) + 200.0;
}

double num_insertions_of(const char* function, const CountHistogram& histogram) {
  const double sum = histogram.num_insertions();
  detail::require(sum > 0.0, function, "number of insertions", sum, "above 0");
  return sum;
}

/// Keys that arrive at the rate kappa and leave each at the rate 1, until there are i of them.
class FirstPassage {
 public:
  FirstPassage(double kappa, std::uint64_t i) : kappa_(kappa), points_(i) {
    for (std::uint64_t s = 0; s < i; ++s) points_[s] = std::exp(ln_poisson_point(s, kappa));
    double below = 0.0;
    for (const double point : points_) below += point;
    const double flow = kappa * points_.back();
    // The slowest rate is at most that of the start, and is the least zero of Charlier's polynomial.
    double low = 0.0;
    double high = flow / below;
    if (!(high > 0.0)) return;
    for (int step = 0; step < 100 && high - low > 1e-15 * high; ++step) {
      const double middle = 0.5 * (low + high);
      (is_below_zero(middle) ? low : high) = middle;
    }
    slowest_ = 0.5 * (low + high);
    double sum = 0.0;
    double squares = 0.0;
    for_each_value(slowest_, [&](std::uint64_t s, double value) {
      sum += points_[s] * value;
      squares += points_[s] * value * value;
      return true;
    });
    const double weight = std::min(below, sum * sum / squares);
    rest_ = below - weight;
    // The rates of all parts, weighted, are the flow at the start.
    others_ = rest_ > 0.0 ? std::max(slowest_, (flow - weight * slowest_) / rest_) : slowest_;
    weight_ = weight;
  }

  /// How much the probability that i was never reached has fallen since the start.
  double lost(double time) const {
    return -weight_ * std::expm1(-slowest_ * time) - rest_ * std::expm1(-others_ * time);
  }

 private:
  /// Calls use(s, Q_s) for the polynomials Q_0 .. Q_{i-1} at this rate, until it returns false; returns Q_i, or 0.
  template <class Use>
  double for_each_value(double rate, Use use) const {
    double value = 1.0;
    double step = 0.0;
    for (std::uint64_t s = 0; s < points_.size(); ++s) {
      if (!use(s, value)) return 0.0;
      step = (static_cast<double>(s) * step - rate * value) / kappa_;  // all terms have one sign
      value += step;
    }
    return value;
  }

  /// Whether no polynomial has a zero up to this rate.
  bool is_below_zero(double rate) const {
    return for_each_value(rate, [](std::uint64_t, double value) { return value > 0.0; }) > 0.0;
  }

  double kappa_;
  std::vector<double> points_;
  double slowest_ = 0.0;
  double others_ = 0.0;
  double weight_ = 0.0;
  double rest_ = 0.0;
};

}  // namespace

double counter_saturation_rate(std::uint64_t m, std::uint32_t k, std::uint64_t n, std::uint64_t i) {
  constexpr const char* function = "counter_saturation_rate";
  detail::require_m_and_k(function, m, k);
  detail::require_at_least_1(function, "n", n);
  require_maximum(function, i);
  return sum_of_points(k, product(k, n - 1), 1.0 / static_cast<double>(m), i);
}

double expected_saturated_counters(std::uint64_t m, std::uint32_t k, std::uint64_t n, std::uint64_t i,
                                   std::uint64_t N) {
  const double rate = counter_saturation_rate(m, k, n, i);
  const auto counters = static_cast<double>(m);
  const double filled = counters * std::exp(ln_binomial_upper_tail(i, product(k, n), 1.0 / counters));
  return at_most(counters, filled + static_cast<double>(N) * rate);
}

double blocked_counter_saturation_rate(std::uint64_t num_blocks, std::uint32_t B, std::uint32_t k,
                                       std::uint64_t n, std::uint64_t i) {
  constexpr const char* function = "blocked_counter_saturation_rate";
  require_keys_in_lines(function, num_blocks, B, k, n, i);
  if (is_far_above(num_blocks, B, k, n, i)) return 0.0;
  const std::uint64_t least_keys = (i - 1) / k;  // with fewer, even the new key cannot bring a counter to i
  return mixture_over_lines(least_keys, n - 1, num_blocks,
                            [&](std::uint64_t j) { return sum_of_points(k, product(k, j), 1.0 / B, i); });
}

double blocked_expected_saturated_counters(std::uint64_t num_blocks, std::uint32_t B, std::uint32_t k,
                                           std::uint64_t n, std::uint64_t i, std::uint64_t N) {
  require_keys_in_lines("blocked_expected_saturated_counters", num_blocks, B, k, n, i);
  const double counters = static_cast<double>(num_blocks) * B;
  if (is_far_above(num_blocks, B, k, n, i)) return counters;
  const double share = mixture_over_lines((i - 1) / k + 1, n, num_blocks, [&](std::uint64_t j) {
    return std::exp(ln_binomial_upper_tail(i, product(k, j), 1.0 / B));
  });
  const double rate = blocked_counter_saturation_rate(num_blocks, B, k, n, i);
  return at_most(counters, counters * share + static_cast<double>(N) * rate);
}

double compound_counter_saturation_rate(const CountHistogram& histogram, std::uint32_t k, std::uint64_t m,
                                        std::uint64_t i) {
  const double insertions = num_insertions_of("compound_counter_saturation_rate", histogram);
  return k * crossings_of(histogram, one_of(histogram, m, k, i)) / insertions;
}

double compound_expected_saturated_counters(const CountHistogram& histogram, std::uint32_t k, std::uint64_t m,
                                            std::uint64_t i, std::uint64_t N) {
  const double insertions = num_insertions_of("compound_expected_saturated_counters", histogram);
  const auto counters = static_cast<double>(m);
  const double filled = counters * std::exp(ln_counter_upper_tail(histogram, k, m, i));
  const double crossings = k * crossings_of(histogram, one_of(histogram, m, k, i));
  return at_most(counters, filled + static_cast<double>(N) * crossings / insertions);
}

double blocked_compound_expected_saturated_counters(const CountHistogram& histogram, std::uint64_t num_blocks,
                                                    std::uint32_t B, std::uint32_t k, std::uint64_t i,
                                                    std::uint64_t N) {
  const double insertions = num_insertions_of("blocked_compound_expected_saturated_counters", histogram);
  const double counters = static_cast<double>(num_blocks) * B;
  const SummedCounter counter = one_in_a_line(histogram, num_blocks, B, k, i);
  const double filled = counters * std::exp(ln_counter_upper_tail(counter.jumps, 1, num_blocks, i));
  return at_most(counters,
                 filled + static_cast<double>(N) * B * crossings_of(histogram, counter) / insertions);
}

double saturated_share(double kappa, std::uint64_t i, double replacements_per_key) {
  constexpr const char* function = "saturated_share";
  detail::require(kappa > 0.0 && kappa <= 1000.0, function, "kappa", kappa, "above 0 and at most 1000");
  detail::require(i >= 1 && i <= 65535, function, "i", i, "1 to 65535");
  detail::require(replacements_per_key >= 0.0 && replacements_per_key < infinity, function,
                  "replacements_per_key", replacements_per_key, "finite and at least 0");
  const double filled = std::exp(ln_poisson_upper_tail(i, kappa));
  return std::min(1.0, filled + FirstPassage(kappa, i).lost(replacements_per_key));
}

double ln_saturated_false_positive_probability(std::uint64_t m, std::uint32_t k, std::uint64_t n,
                                               double share) {
  constexpr const char* function = "saturated_false_positive_probability";
  detail::require_m_and_k(function, m, k);
  detail::require(share >= 0.0 && share <= 1.0, function, "share", share, "0 to 1");
  return k * detail::ln_one_minus_exp(std::log1p(-share) + detail::ln_empty(m, product(k, n)));
}

double saturated_false_positive_probability(std::uint64_t m, std::uint32_t k, std::uint64_t n, double share) {
  return std::exp(ln_saturated_false_positive_probability(m, k, n, share));
}

}  // namespace tally::theory
