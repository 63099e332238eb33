#include "tally/theory/dleft_fingerprints.hpp"

#include <algorithm>
#include <cmath>

#include "tally/theory/tails.hpp"
#include "theory/detail.hpp"
#include "theory/dleft_trajectory.hpp"

namespace tally::theory {
namespace {

using detail::infinity;

/// B R as a double: it may pass 2^64.
double num_values(const char* function, std::uint64_t B, std::uint64_t R) {
  detail::require_at_least_1(function, "B", B);
  detail::require_at_least_1(function, "R", R);
  return static_cast<double>(B) * static_cast<double>(R);
}

void require_multiplicity(const char* function, std::uint64_t i) {
  detail::require(i >= 1 && i <= detail::max_theta, function, "i", i, "1 to 2^40");
}

/// ln(1 - (1 - 1/values)^n).
double ln_share_used(double values, std::uint64_t n) {
  if (n == 0) return -infinity;
  if (values == 1.0) return 0.0;
  return detail::ln_one_minus_exp(static_cast<double>(n) * std::log1p(-1.0 / values));
}

}  // namespace

double ln_dleft_false_positive_probability(std::uint64_t B, std::uint64_t R, std::uint64_t n) {
  return ln_share_used(num_values("dleft_false_positive_probability", B, R), n);
}

double dleft_false_positive_probability(std::uint64_t B, std::uint64_t R, std::uint64_t n) {
  return std::exp(ln_dleft_false_positive_probability(B, R, n));
}

double dleft_distinct_fingerprints(std::uint64_t B, std::uint64_t R, std::uint64_t n) {
  const double values = num_values("dleft_distinct_fingerprints", B, R);
  if (n == 0 || values == 1.0) return n == 0 ? 0.0 : 1.0;
  return -values * std::expm1(static_cast<double>(n) * std::log1p(-1.0 / values));
}

double dleft_distinct_load(std::uint32_t d, std::uint64_t B, std::uint64_t R, std::uint64_t n) {
  detail::require_num_subtables("dleft_distinct_load", d);
  return dleft_distinct_fingerprints(B, R, n) / d / static_cast<double>(B);
}

double ln_dleft_shared_fingerprint_bound(std::uint64_t B, std::uint64_t R, std::uint64_t n, std::uint64_t i) {
  constexpr const char* function = "dleft_shared_fingerprint_bound";
  const double values = num_values(function, B, R);
  require_multiplicity(function, i);
  if (i > n) return -infinity;
  if (values == 1.0) return 0.0;
  // C(n, i) / values^i is the binomial point without its factor (1 - 1/values)^(n - i).
  const auto keys = static_cast<double>(n);
  const double p = 1.0 / values;
  const double ln_subsets = ln_binomial_point(i, keys, p) - (keys - static_cast<double>(i)) * std::log1p(-p);
  return std::min(0.0, ln_subsets + std::log(values));
}

double dleft_shared_fingerprint_bound(std::uint64_t B, std::uint64_t R, std::uint64_t n, std::uint64_t i) {
  return std::exp(ln_dleft_shared_fingerprint_bound(B, R, n, i));
}

double ln_dleft_expected_shared_insertions(std::uint64_t B, std::uint64_t R, std::uint64_t n, std::uint64_t i,
                                           std::uint64_t N) {
  constexpr const char* function = "dleft_expected_shared_insertions";
  const double values = num_values(function, B, R);
  require_multiplicity(function, i);
  detail::require_at_least_1(function, "n", n);
  return std::log(static_cast<double>(N)) +
         ln_binomial_upper_tail(i - 1, static_cast<double>(n - 1), 1.0 / values);
}

double dleft_expected_shared_insertions(std::uint64_t B, std::uint64_t R, std::uint64_t n, std::uint64_t i,
                                        std::uint64_t N) {
  return std::exp(ln_dleft_expected_shared_insertions(B, R, n, i, N));
}

}  // namespace tally::theory
