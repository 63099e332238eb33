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
