#include "tally/theory/bloom.hpp"

#include <algorithm>
#include <cmath>

#include "theory/coverage.hpp"
#include "theory/detail.hpp"

namespace tally::theory {
namespace {

using detail::infinity;
using detail::ln_one_minus_exp;

constexpr double ln_2 = 0.69314718055994530942;

void require_keys(const char* function, std::uint64_t m, std::uint64_t n) {
  detail::require_at_least_1(function, "m", m);
  detail::require_at_least_1(function, "n", n);
}

}  // namespace

double ln_false_positive_probability(std::uint64_t m, std::uint32_t k, std::uint64_t n) {
  detail::require_m_and_k("false_positive_probability", m, k);
  return k * ln_one_minus_exp(detail::ln_empty(m, detail::product(k, n)));
}

double false_positive_probability(std::uint64_t m, std::uint32_t k, std::uint64_t n) {
  return std::exp(ln_false_positive_probability(m, k, n));
}

double ln_false_positive_probability_approximate(std::uint64_t m, std::uint32_t k, std::uint64_t n) {
  detail::require_m_and_k("false_positive_probability_approximate", m, k);
  return k * ln_one_minus_exp(-detail::product(k, n) / static_cast<double>(m));
}

double false_positive_probability_approximate(std::uint64_t m, std::uint32_t k, std::uint64_t n) {
  return std::exp(ln_false_positive_probability_approximate(m, k, n));
}

double ln_false_positive_probability_occupancy(std::uint64_t m, std::uint32_t k, std::uint64_t n) {
  constexpr const char* function = "false_positive_probability_occupancy";
  detail::require_m_and_k(function, m, k);
  detail::require(detail::product(k, n) * k <= 0x1p31, function, "n", n, "such that k^2 n is at most 2^31");
  if (n == 0) return -infinity;
  const double ln_fill = ln_one_minus_exp(detail::ln_empty(m, detail::product(k, n)));
  detail::CoverageChain chain(m, k, std::exp(ln_fill));
  for (std::uint64_t i = 0; i < k * n; ++i) chain.throw_once();
  return k * ln_fill + static_cast<double>(std::log(chain.scaled_probability()));
}

double false_positive_probability_occupancy(std::uint64_t m, std::uint32_t k, std::uint64_t n) {
  return std::exp(ln_false_positive_probability_occupancy(m, k, n));
}

namespace {

/// Of the number of set bits X after N throws at m bits: variance / mean^2, and the third cumulant / mean^3.
struct RelativeCumulants {
  double second;
  double third;
};

/// From the factorial cumulants c2 and c3 of the number of empty bits, of mean m q: its factorial moments are
/// m (m - 1) ... (1 - r/m)^N. Each is a small difference of large numbers, so q^r stays a factor, and what remains is computed
/// as its distance from 1.
RelativeCumulants relative_cumulants(double m, double N, double ln_fill) {
  const double x = 1 / m;
  const double rest = (1 - x) * (1 - x);
  const double a = std::expm1(N * std::log1p(-x * x / rest));  // (1 - 2x)^N / (1 - x)^2N - 1
  const double b = std::expm1(N * std::log1p(std::max(-1.0, (-3 * x * x + x * x * x) / (rest * (1 - x)))));
  const double t = -3 * x + 2 * x * x;
  const double u = a - x - a * x;
  const double v = b + t + b * t;
  const double empty = m * std::exp(N * std::log1p(-x));
  const double c2 = empty * empty * u;
  const double c3 = empty * empty * empty * (v - 3 * u);
  const double mean = m * std::exp(ln_fill);
  return {(c2 + empty) / (mean * mean), -(c3 + 3 * c2 + empty) / (mean * mean * mean)};
}

}  // namespace

double ln_false_positive_probability_expansion(std::uint64_t m, std::uint32_t k, std::uint64_t n) {
  detail::require_m_and_k("false_positive_probability_expansion", m, k);
  if (n == 0) return -infinity;
  if (m == 1) return 0.0;
  const double N = detail::product(k, n);
  const double ln_fill = ln_one_minus_exp(detail::ln_empty(m, N));
  const auto [s, g] = relative_cumulants(static_cast<double>(m), N, ln_fill);
  // ln E(exp(k L)) by the cumulants of L = ln(X / mean).
  const double K = k;
  const double mean = -s / 2 + g / 3 - 0.75 * s * s;
  const double variance = s - g + 2.5 * s * s;
  const double third = g - 3 * s * s;
  return std::min(0.0, K * (ln_fill + mean) + K * K * variance / 2 + K * K * K * third / 6);
}

double false_positive_probability_expansion(std::uint64_t m, std::uint32_t k, std::uint64_t n) {
  return std::exp(ln_false_positive_probability_expansion(m, k, n));
}

double ln_false_positive_probability_partitioned(std::uint64_t m, std::uint32_t k, std::uint64_t n) {
  constexpr const char* function = "false_positive_probability_partitioned";
  detail::require_num_hashes(function, k);
  detail::require(m >= k, function, "m", m, "at least k");
  if (n == 0) return -infinity;
  if (m == k) return 0.0;
  return k * ln_one_minus_exp(static_cast<double>(n) * std::log1p(-(k / static_cast<double>(m))));
}

double false_positive_probability_partitioned(std::uint64_t m, std::uint32_t k, std::uint64_t n) {
  return std::exp(ln_false_positive_probability_partitioned(m, k, n));
}

double best_num_hashes_real(std::uint64_t m, std::uint64_t n) {
  require_keys("best_num_hashes_real", m, n);
  return static_cast<double>(m) / static_cast<double>(n) * ln_2;
}

std::uint32_t best_num_hashes(std::uint64_t m, std::uint64_t n) {
  require_keys("best_num_hashes", m, n);
  const double below = std::clamp(std::floor(best_num_hashes_real(m, n)), 1.0, 1024.0);
  const auto low = static_cast<std::uint32_t>(below);
  const std::uint32_t high = std::min(low + 1, detail::max_num_hashes);
  return ln_false_positive_probability(m, high, n) < ln_false_positive_probability(m, low, n) ? high : low;
}

double ln_best_false_positive_probability(std::uint64_t m, std::uint64_t n) {
  return -ln_2 * best_num_hashes_real(m, n);
}

double best_false_positive_probability(std::uint64_t m, std::uint64_t n) {
  return std::exp(ln_best_false_positive_probability(m, n));
}

}  // namespace tally::theory
