#include "tally/theory/counter_overflow.hpp"

#include <algorithm>
#include <boost/math/tools/roots.hpp>
#include <cmath>

#include "tally/theory/tails.hpp"
#include "theory/detail.hpp"

namespace tally::theory {
namespace {

using detail::infinity;
using detail::product;

constexpr double ln_ln_2 = -0.36651292058166432701;

void check(const char* function, std::uint64_t m, std::uint32_t k, std::uint64_t i) {
  detail::require_m_and_k(function, m, k);
  detail::require(i >= 1 && i <= detail::max_theta, function, "i", i, "1 to 2^40");
}

double ln_of(std::uint64_t value) { return std::log(static_cast<double>(value)); }

/// A bound above 1 is trivial.
double capped(double ln_bound) { return std::min(0.0, ln_bound); }

}  // namespace

double ln_counter_overflow_union_bound(std::uint64_t m, std::uint32_t k, std::uint64_t n, std::uint64_t i) {
  check("counter_overflow_union_bound", m, k, i);
  return capped(ln_of(m) + ln_binomial_upper_tail(i, product(k, n), 1.0 / static_cast<double>(m)));
}

double ln_counter_overflow_bound(std::uint64_t m, std::uint32_t k, std::uint64_t n, std::uint64_t i) {
  check("counter_overflow_bound", m, k, i);
  const double throws = product(k, n);
  const auto limit = static_cast<double>(i);
  if (limit > throws) return -infinity;
  if (m == 1) return 0.0;  // the one counter holds every throw
  // C(kn, i) / m^i is the binomial point without its factor (1 - 1/m)^(kn - i).
  const double p = 1.0 / static_cast<double>(m);
  return capped(ln_of(m) + ln_binomial_point(i, throws, p) - (throws - limit) * std::log1p(-p));
}

double ln_counter_overflow_bound_simple(std::uint64_t m, std::uint32_t k, std::uint64_t n, std::uint64_t i) {
  check("counter_overflow_bound_simple", m, k, i);
  if (n == 0) return -infinity;
  const auto limit = static_cast<double>(i);
  return capped(ln_of(m) + limit * (1.0 + std::log(product(k, n) / static_cast<double>(m) / limit)));
}

double ln_counter_overflow_bound_best_k(std::uint64_t m, std::uint64_t i) {
  check("counter_overflow_bound_best_k", m, 1, i);
  return capped(ln_of(m) + static_cast<double>(i) * (1.0 + ln_ln_2 - ln_of(i)));
}

double counter_overflow_union_bound(std::uint64_t m, std::uint32_t k, std::uint64_t n, std::uint64_t i) {
  return std::exp(ln_counter_overflow_union_bound(m, k, n, i));
}

double counter_overflow_bound(std::uint64_t m, std::uint32_t k, std::uint64_t n, std::uint64_t i) {
  return std::exp(ln_counter_overflow_bound(m, k, n, i));
}

double counter_overflow_bound_simple(std::uint64_t m, std::uint32_t k, std::uint64_t n, std::uint64_t i) {
  return std::exp(ln_counter_overflow_bound_simple(m, k, n, i));
}

double counter_overflow_bound_best_k(std::uint64_t m, std::uint64_t i) {
  return std::exp(ln_counter_overflow_bound_best_k(m, i));
}

double inverse_gamma_function(double x) {
  detail::require(x >= 1.0 && x < infinity, "inverse_gamma_function", "x", x, "finite and at least 1");
  const double ln_x = std::log(x);
  if (ln_x == 0.0) return 2.0;
  // Gamma(ln x + 3) > x for every x >= 1, so the root is between 2 and there.
  boost::uintmax_t iterations = 200;
  const auto ends =
      boost::math::tools::toms748_solve([&](double y) { return std::lgamma(y) - ln_x; }, 2.0, ln_x + 3.0,
                                        boost::math::tools::eps_tolerance<double>(), iterations);
  return 0.5 * (ends.first + ends.second);
}

double expected_largest_counter(std::uint64_t m, std::uint32_t k, std::uint64_t n) {
  detail::require_m_and_k("expected_largest_counter", m, k);
  detail::require_at_least_1("expected_largest_counter", "n", n);
  const double G = inverse_gamma_function(static_cast<double>(m));
  return G * (1.0 + std::log(product(k, n) / static_cast<double>(m)) / std::log(G));
}

}  // namespace tally::theory
