#include "tally/theory/largest_share.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

#include "tally/theory/tails.hpp"
#include "theory/detail.hpp"

namespace tally::theory {
namespace {

using detail::infinity;

constexpr double least_by_ibeta = 1e-290;  // below, doubles lose their digits

void check_shares(const char* function, std::uint64_t n, std::uint64_t s) {
  detail::require(n <= detail::max_theta, function, "n", n, "0 to 2^40");
  detail::require_at_least_1(function, "s", s);
}

/// ln(s Pr(Binomial(n, 1/s) > c)), which may be above 0. The terms of the tail, which ln_binomial_upper_tail adds, are
/// too many near the mean of a large share: 2.7 million for n = 10^12, s = 2. The continued fraction of ibeta takes a few.
double ln_union_bound(std::uint64_t n, std::uint64_t s, std::uint64_t c) {
  if (c >= n) return -infinity;
  const auto trials = static_cast<double>(n);
  const auto shares = static_cast<double>(s);
  const auto limit = static_cast<double>(c);
  const double tail = boost::math::ibeta(limit + 1.0, trials - limit, 1.0 / shares);
  const double ln_tail =
      tail > least_by_ibeta ? std::log(tail) : ln_binomial_upper_tail(c + 1, trials, 1.0 / shares);
  return std::log(shares) + ln_tail;
}

}  // namespace

double ln_probability_of_larger_share(std::uint64_t n, std::uint64_t s, std::uint64_t c) {
  check_shares("probability_of_larger_share", n, s);
  return std::min(0.0, ln_union_bound(n, s, c));
}

double probability_of_larger_share(std::uint64_t n, std::uint64_t s, std::uint64_t c) {
  return std::exp(ln_probability_of_larger_share(n, s, c));
}

std::uint64_t largest_share(std::uint64_t n, std::uint64_t s, double failure_probability) {
  check_shares("largest_share", n, s);
  detail::require_open_unit("largest_share", "failure_probability", failure_probability);
  const double ln_failure = std::log(failure_probability);
  // One share has at least n/s keys. Bernstein's inequality gives a c that is large enough.
  const double mean = static_cast<double>(n) / static_cast<double>(s);
  const double L = std::log(static_cast<double>(s)) - ln_failure;
  const double most = mean + L / 3.0 + std::sqrt(L * L / 9.0 + 2.0 * L * mean);
  std::uint64_t low = n / s + (n % s != 0);
  std::uint64_t high = std::min(n, static_cast<std::uint64_t>(most) + 1);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (ln_union_bound(n, s, middle) <= ln_failure) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace tally::theory
