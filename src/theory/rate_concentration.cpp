#include "tally/theory/rate_concentration.hpp"

#include <algorithm>
#include <cmath>

#include "tally/theory/bloom.hpp"
#include "theory/detail.hpp"

namespace tally::theory {
namespace {

void require_scheme(const char* function, double lambda, double xi, double bias) {
  detail::require(lambda > 0 && lambda < detail::infinity, function, "lambda", lambda, "above 0 and finite");
  detail::require(xi >= 0 && xi < detail::infinity, function, "xi", xi, "0 or more and finite");
  detail::require(bias >= 0 && bias < detail::infinity, function, "bias", bias, "0 or more and finite");
}

void require_epsilon(const char* function, double epsilon) {
  detail::require(epsilon > 0 && epsilon < detail::infinity, function, "epsilon", epsilon,
                  "above 0 and finite");
}

/// Without the limit of 1.
double deviation_bound(std::uint64_t n, double lambda, double xi, double epsilon, double bias) {
  const double excess = epsilon - bias;
  if (excess <= 0) return 1;
  return 2 * std::exp(-2 * static_cast<double>(n) * excess * excess / (lambda * lambda + xi));
}

/// The relative entropy of a coin of chance x to one of chance y; infinite for x > 0 = y.
double coin_divergence(double x, double y) {
  const double heads = x <= 0 ? 0 : x * std::log(x / y);
  const double tails = x >= 1 ? 0 : (1 - x) * (std::log1p(-x) - std::log1p(-y));
  return heads + tails;
}

}  // namespace

double rate_deviation_bound(std::uint64_t n, double lambda, double xi, double epsilon, double bias) {
  require_scheme("rate_deviation_bound", lambda, xi, bias);
  require_epsilon("rate_deviation_bound", epsilon);
  return std::min(1.0, deviation_bound(n, lambda, xi, epsilon, bias));
}

double measured_rate_deviation_bound(std::uint64_t n, double lambda, double xi, double epsilon, double bias,
                                     std::uint64_t q) {
  require_scheme("measured_rate_deviation_bound", lambda, xi, bias);
  require_epsilon("measured_rate_deviation_bound", epsilon);
  const double of_the_queries = 2 * std::exp(-static_cast<double>(q) * epsilon * epsilon / 2);
  return std::min(1.0, of_the_queries + deviation_bound(n, lambda, xi, epsilon / 2, bias));
}

double rate_deviation(std::uint64_t n, double lambda, double xi, double bias, double delta) {
  require_scheme("rate_deviation", lambda, xi, bias);
  detail::require_at_least_1("rate_deviation", "n", n);
  detail::require_open_unit("rate_deviation", "delta", delta);
  return bias + std::sqrt((lambda * lambda + xi) * std::log(2 / delta) / (2 * static_cast<double>(n)));
}

double rate_variance_bound(std::uint64_t m, std::uint32_t k, double f) {
  detail::require_m_and_k("rate_variance_bound", m, k);
  detail::require_open_unit("rate_variance_bound", "f", f);
  return std::min(f * (1 - f), std::pow(k, 3) * f / static_cast<double>(m));
}

double rate_deviation_bound_by_rate(std::uint64_t m, std::uint32_t k, double f, double epsilon) {
  detail::require_m_and_k("rate_deviation_bound_by_rate", m, k);
  detail::require_open_unit("rate_deviation_bound_by_rate", "f", f);
  require_epsilon("rate_deviation_bound_by_rate", epsilon);
  const double squares = static_cast<double>(m) * epsilon * epsilon / 2;
  const double above = f + epsilon > 1 ? 0 : std::exp(-squares / (std::pow(k, 3) * (f + epsilon)));
  const double below = epsilon > f ? 0 : std::exp(-squares / (std::pow(k, 2) * (k * f + epsilon / 3)));
  return std::min(1.0, above + below);
}

double rate_deviation_bound_independent(std::uint64_t m, std::uint32_t k, std::uint64_t n, double epsilon) {
  constexpr const char* function = "rate_deviation_bound_independent";
  detail::require_m_and_k(function, m, k);
  detail::require_at_least_1(function, "n", n);
  require_epsilon(function, epsilon);
  const double f = false_positive_probability(m, k, n);
  const double empty = std::exp(detail::product(k, n) * std::log1p(-1 / static_cast<double>(m)));
  const auto side = [&](double rate) {
    if (rate < 0 || rate > 1) return 0.0;
    const double empty_at_rate = -std::expm1(std::log(rate) / k);
    return std::exp(-static_cast<double>(m) * coin_divergence(empty_at_rate, empty));
  };
  return std::min(1.0, side(f + epsilon) + side(f - epsilon));
}

double rate_variance_approximate(std::uint64_t m, std::uint32_t k, std::uint64_t n) {
  detail::require_m_and_k("rate_variance_approximate", m, k);
  const double kappa = k * static_cast<double>(n) / static_cast<double>(m);
  if (n == 0) return 0;
  const double set = -std::expm1(-kappa);
  // exp(-2 kappa) (exp(kappa) - 1 - kappa), which is kappa^2 / 2 for a small kappa
  const double share = kappa < 1e-4 ? kappa * kappa * (0.5 + kappa / 6) : std::expm1(kappa) - kappa;
  return std::pow(k, 2) * std::pow(set, 2.0 * (k - 1)) * std::exp(-2 * kappa) * share /
         static_cast<double>(m);
}

}  // namespace tally::theory
