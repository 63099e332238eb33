#include "tally/theory/rate_concentration.hpp"

#include <algorithm>
#include <cmath>

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

}  // namespace tally::theory
