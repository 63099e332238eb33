#include "tally/theory/threshold.hpp"

#include <algorithm>
#include <cmath>

#include "tally/theory/kappa_star.hpp"
#include "tally/theory/tails.hpp"
#include "theory/detail.hpp"

namespace tally::theory {
namespace {

void check(const char* function, std::uint64_t theta, std::uint32_t k, std::uint64_t m,
           std::uint64_t true_count) {
  detail::require(theta >= 1 && theta <= detail::max_theta, function, "theta", theta, "1 to 2^40");
  detail::require_m_and_k(function, m, k);
  detail::require(true_count < theta, function, "true_count", true_count, "below theta");
}

}  // namespace

double ln_threshold_false_positive_probability(std::uint64_t theta, std::uint32_t k, std::uint64_t n,
                                               std::uint64_t m, std::uint64_t true_count) {
  check("threshold_false_positive_probability", theta, k, m, true_count);
  return k * ln_binomial_upper_tail(theta - true_count, detail::product(k, n), 1.0 / static_cast<double>(m));
}

double threshold_false_positive_probability(std::uint64_t theta, std::uint32_t k, std::uint64_t n,
                                            std::uint64_t m, std::uint64_t true_count) {
  return std::exp(ln_threshold_false_positive_probability(theta, k, n, m, true_count));
}

double ln_threshold_false_positive_probability_approximate(std::uint64_t theta, std::uint32_t k,
                                                           std::uint64_t n, std::uint64_t m,
                                                           std::uint64_t true_count) {
  check("threshold_false_positive_probability_approximate", theta, k, m, true_count);
  return k * ln_poisson_upper_tail(theta - true_count, detail::product(k, n) / static_cast<double>(m));
}

double threshold_false_positive_probability_approximate(std::uint64_t theta, std::uint32_t k, std::uint64_t n,
                                                        std::uint64_t m, std::uint64_t true_count) {
  return std::exp(ln_threshold_false_positive_probability_approximate(theta, k, n, m, true_count));
}

std::uint32_t best_num_hashes_threshold(std::uint64_t theta, std::uint64_t n, std::uint64_t m) {
  detail::require_at_least_1("best_num_hashes_threshold", "n", n);
  detail::require_at_least_1("best_num_hashes_threshold", "m", m);
  const double real = kappa_star(theta) * static_cast<double>(m) / static_cast<double>(n);
  const auto low = static_cast<std::uint32_t>(std::clamp(std::floor(real), 1.0, 1024.0));
  const std::uint32_t high = std::min(low + 1, detail::max_num_hashes);
  return ln_threshold_false_positive_probability_approximate(theta, high, n, m) <
                 ln_threshold_false_positive_probability_approximate(theta, low, n, m)
             ? high
             : low;
}

}  // namespace tally::theory
