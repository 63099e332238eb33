#include "tally/theory/rate_concentration.hpp"

#include <algorithm>
#include <cmath>

#include "theory/detail.hpp"

namespace tally::theory {
namespace {

void require_scheme(const char* function, double lambda, double xi, double bias) {
  internal::require(lambda > 0 && lambda < internal::kInfinity, function, "lambda", lambda,
                    "above 0 and finite");
  internal::require(xi >= 0 && xi < internal::kInfinity, function, "xi", xi, "0 or more and finite");
  internal::require(bias >= 0 && bias < internal::kInfinity, function, "bias", bias, "0 or more and finite");
}

void require_epsilon(const char* function, double epsilon) {
  internal::require(epsilon > 0 && epsilon < internal::kInfinity, function, "epsilon", epsilon,
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
  internal::require_at_least_1("rate_deviation", "n", n);
  internal::require_open_unit("rate_deviation", "delta", delta);
  return bias + std::sqrt((lambda * lambda + xi) * std::log(2 / delta) / (2 * static_cast<double>(n)));
}

}  // namespace tally::theory
