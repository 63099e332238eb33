#include "tally/theory/dleft_placement.hpp"

#include <algorithm>
#include <cmath>

#include "theory/detail.hpp"
#include "theory/dleft_trajectory.hpp"

namespace tally::theory {
namespace {

/// ln of the Chernoff bound of Pr(Binomial(n, p) >= x); 0 up to the mean.
double ln_chernoff_bound(double x, double n, double p) {
  if (x > n) return -detail::infinity;
  if (x <= n * p) return 0;
  const double rest = x == n ? 0 : (n - x) * std::log((n - x) / (n * (1 - p)));
  return -(x * std::log(x / (n * p)) + rest);
}

}  // namespace

double ln_dleft_no_placement_bound(std::uint32_t d, std::uint64_t B, std::uint32_t c, std::uint64_t n) {
  constexpr const char* function = "dleft_no_placement_bound";
  detail::require(d >= 2 && d <= 8, function, "d", d, "2 to 8");
  detail::require(B >= 1 && B <= std::uint64_t{1} << 20, function, "B", B, "1 to 2^20");
  detail::require_num_cells(function, c);
  const std::uint64_t num_buckets = d * B;
  if (n > num_buckets * c) return 0;
  const auto all = static_cast<double>(num_buckets);
  const auto elements = static_cast<double>(n);
  double ln_sum = -detail::infinity;
  double ln_choices = 0;  // C(d B, s)
  for (std::uint64_t s = 1; s < num_buckets && c * s < n; ++s) {
    const auto buckets = static_cast<double>(s);
    ln_choices += std::log((all - buckets + 1) / buckets);
    if (s < d) continue;
    const double p = std::pow(buckets / all, static_cast<double>(d));
    ln_sum =
        detail::ln_add(ln_sum, ln_choices + ln_chernoff_bound(static_cast<double>(c * s + 1), elements, p));
  }
  return std::min(0.0, ln_sum);
}

double dleft_no_placement_bound(std::uint32_t d, std::uint64_t B, std::uint32_t c, std::uint64_t n) {
  return std::exp(ln_dleft_no_placement_bound(d, B, c, n));
}

}  // namespace tally::theory
