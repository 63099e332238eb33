#include <cmath>
#include <cstdint>

#include "tally/theory/tails.hpp"
#include "theory/detail.hpp"

namespace tally::theory {
namespace {

using detail::infinity;

constexpr double half_ln_two_pi = 0.91893853320467274178;
constexpr double negligible = 1e-18;

/// ln(x!) minus Stirling's (x + 1/2) ln x - x + ln(2 pi)/2, for x > 0.
double stirling_error(double x) {
  if (x < 16.0) return std::lgamma(x + 1.0) - (x + 0.5) * std::log(x) + x - half_ln_two_pi;
  const double r = 1.0 / (x * x);
  return (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r / 1188)))) / x;
}

/// x ln(x / mean) + mean - x for x > 0, with x - mean given: it may have lost its digits in the arguments.
double deviance(double x, double mean, double difference) {
  if (std::fabs(difference) >= 0.1 * (x + mean)) return x * std::log(x / mean) - difference;
  // x / mean = (1 + v) / (1 - v): a power series in v, where the closed form would cancel.
  const double v = difference / (x + mean);
  double sum = difference * v;
  double power = 2.0 * x * v;
  for (double odd = 3.0;; odd += 2.0) {
    power *= v * v;
    const double next = sum + power / odd;
    if (next == sum) return sum;
    sum = next;
  }
}

double poisson_point(double x, double kappa) {
  if (kappa == 0.0) return x == 0.0 ? 0.0 : -infinity;
  if (x == 0.0) return -kappa;
  return -stirling_error(x) - deviance(x, kappa, x - kappa) - half_ln_two_pi - 0.5 * std::log(x);
}

double binomial_point(double x, double trials, double p) {
  if (x > trials) return -infinity;
  if (p == 0.0) return x == 0.0 ? 0.0 : -infinity;
  if (p == 1.0) return x == trials ? 0.0 : -infinity;
  if (x == 0.0) return trials * std::log1p(-p);
  if (x == trials) return trials * std::log(p);
  const double rest = trials - x;
  const double mean = trials * p;
  return stirling_error(trials) - stirling_error(x) - stirling_error(rest) - deviance(x, mean, x - mean) -
         deviance(rest, trials * (1.0 - p), mean - x) - half_ln_two_pi -
         0.5 * (std::log(x) + std::log(rest / trials));
}

/// ln(1 + r_0 + r_0 r_1 + ...) where ratio(i) = r_i falls and ends below 1.
template <class Ratio>
double ln_falling_sum(Ratio ratio) {
  double sum = 1.0;
  double term = 1.0;
  for (std::uint64_t i = 0;; ++i) {
    const double r = ratio(static_cast<double>(i));
    term *= r;
    sum += term;
    if (term <= 0.0 || (r < 1.0 && term * r < negligible * sum * (1.0 - r))) return std::log(sum);
  }
}

/// Pr(X >= theta) summed up from theta; for theta at or above the mean.
double poisson_up(double theta, double kappa) {
  return poisson_point(theta, kappa) + ln_falling_sum([&](double i) { return kappa / (theta + 1.0 + i); });
}

/// Pr(X < theta) summed down from theta - 1; for theta at or below the mean.
double poisson_down(double theta, double kappa) {
  return poisson_point(theta - 1.0, kappa) +
         ln_falling_sum([&](double i) { return (theta - 1.0 - i) / kappa; });
}

double binomial_up(double theta, double trials, double p) {
  const double odds = p / (1.0 - p);
  return binomial_point(theta, trials, p) +
         ln_falling_sum([&](double i) { return (trials - theta - i) / (theta + 1.0 + i) * odds; });
}

double binomial_down(double theta, double trials, double p) {
  const double odds = (1.0 - p) / p;
  return binomial_point(theta - 1.0, trials, p) +
         ln_falling_sum([&](double i) { return (theta - 1.0 - i) / (trials - theta + 2.0 + i) * odds; });
}

void check_tail_theta(const char* function, std::uint64_t theta) {
  detail::require(theta <= detail::max_theta, function, "theta", theta, "0 to 2^40");
}

void check_kappa(const char* function, double kappa) {
  detail::require(kappa >= 0.0 && kappa < infinity, function, "kappa", kappa, "finite and at least 0");
}

void check_binomial(const char* function, double trials, double p) {
  detail::require(trials >= 0.0 && trials <= 0x1p75 && std::floor(trials) == trials, function, "trials",
                  trials, "a whole number from 0 to 2^75");
  detail::require(p >= 0.0 && p <= 1.0, function, "p", p, "0 to 1");
}

}  // namespace

double ln_poisson_point(std::uint64_t x, double kappa) {
  check_tail_theta("ln_poisson_point", x);
  check_kappa("ln_poisson_point", kappa);
  return poisson_point(static_cast<double>(x), kappa);
}

double ln_poisson_upper_tail(std::uint64_t theta, double kappa) {
  check_tail_theta("ln_poisson_upper_tail", theta);
  check_kappa("ln_poisson_upper_tail", kappa);
  if (theta == 0) return 0.0;
  if (kappa == 0.0) return -infinity;
  const auto t = static_cast<double>(theta);
  return t > kappa ? poisson_up(t, kappa) : std::log1p(-std::exp(poisson_down(t, kappa)));
}

double detail::ln_poisson_upper_tail_over_point(std::uint64_t theta, double kappa) {
  const auto t = static_cast<double>(theta);
  if (t + 1.0 < kappa) return ln_poisson_upper_tail(theta, kappa) - poisson_point(t, kappa);
  return ln_falling_sum([&](double i) { return kappa / (t + 1.0 + i); });
}

double ln_poisson_lower_tail(std::uint64_t theta, double kappa) {
  check_tail_theta("ln_poisson_lower_tail", theta);
  check_kappa("ln_poisson_lower_tail", kappa);
  if (theta == 0) return -infinity;
  if (kappa == 0.0) return 0.0;
  const auto t = static_cast<double>(theta);
  return t > kappa ? std::log1p(-std::exp(poisson_up(t, kappa))) : poisson_down(t, kappa);
}

double ln_binomial_point(std::uint64_t x, double trials, double p) {
  check_tail_theta("ln_binomial_point", x);
  check_binomial("ln_binomial_point", trials, p);
  return binomial_point(static_cast<double>(x), trials, p);
}

double ln_binomial_upper_tail(std::uint64_t theta, double trials, double p) {
  check_tail_theta("ln_binomial_upper_tail", theta);
  check_binomial("ln_binomial_upper_tail", trials, p);
  const auto t = static_cast<double>(theta);
  if (theta == 0) return 0.0;
  if (t > trials || p == 0.0) return -infinity;
  if (p == 1.0) return 0.0;
  return t > trials * p ? binomial_up(t, trials, p) : std::log1p(-std::exp(binomial_down(t, trials, p)));
}

double ln_binomial_lower_tail(std::uint64_t theta, double trials, double p) {
  check_tail_theta("ln_binomial_lower_tail", theta);
  check_binomial("ln_binomial_lower_tail", trials, p);
  const auto t = static_cast<double>(theta);
  if (theta == 0) return -infinity;
  if (t > trials || p == 0.0) return 0.0;
  if (p == 1.0) return -infinity;
  return t > trials * p ? std::log1p(-std::exp(binomial_up(t, trials, p))) : binomial_down(t, trials, p);
}

}  // namespace tally::theory
