#include "tally/theory/coinciding_positions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "theory/coinciding_weights.hpp"
#include "theory/detail.hpp"

namespace tally::theory {
namespace {

using detail::Extended;

/// For m of at least k: the power of a series by its logarithmic derivative, all terms positive.
double ln_mean_in_many(std::uint64_t m, std::uint32_t k, std::span<const double> w) {
  const auto size = static_cast<double>(m);
  std::vector<double> ln_mean(k + 1);  // of the first n positions
  std::vector<double> ln_terms(k + 1);
  for (std::uint32_t n = 1; n <= k; ++n) {
    double ln_ways = 0.0;  // n over j, divided by m^j
    double largest = -std::numeric_limits<double>::infinity();
    for (std::uint32_t j = 1; j <= n; ++j) {
      ln_ways += std::log((n - j + 1) / (j * size));
      ln_terms[j] =
          std::log(j * (size + 1) - n) + ln_ways + std::log(detail::weight_of(w, j)) + ln_mean[n - j];
      largest = std::max(largest, ln_terms[j]);
    }
    double sum = 0.0;
    for (std::uint32_t j = 1; j <= n; ++j) sum += std::exp(ln_terms[j] - largest);
    ln_mean[n] = largest + std::log(sum) - std::log(n);
  }
  return ln_mean[k];
}

/// For m below k, by repeated squaring.
double ln_mean_in_few(std::uint64_t m, std::uint32_t k, std::span<const double> w) {
  std::vector<Extended> base(k + 1);
  base[0] = 1;
  Extended factorial = 1;
  for (std::uint32_t j = 1; j <= k; ++j) base[j] = detail::weight_of(w, j) / (factorial *= j);
  std::vector<Extended> power(k + 1);
  power[0] = 1;
  const auto times = [&](const std::vector<Extended>& a, const std::vector<Extended>& b) {
    std::vector<Extended> product(k + 1);
    for (std::uint32_t i = 0; i <= k; ++i)
      for (std::uint32_t j = 0; i + j <= k; ++j) product[i + j] += a[i] * b[j];
    return product;
  };
  for (std::uint64_t left = m; left != 0; left /= 2) {
    if (left % 2 != 0) power = times(power, base);
    base = times(base, base);
  }
  return static_cast<double>(std::log(power[k]) + std::log(factorial) -
                             k * std::log(static_cast<Extended>(m)));
}

}  // namespace

double ln_mean_over_coinciding_positions(std::uint64_t m, std::uint32_t k, std::span<const double> w) {
  detail::require_weights("ln_mean_over_coinciding_positions", m, k, w);
  const double ln_mean = m >= k ? ln_mean_in_many(m, k, w) : ln_mean_in_few(m, k, w);
  return std::isnan(ln_mean) ? 0.0 : std::min(0.0, ln_mean);
}

}  // namespace tally::theory
