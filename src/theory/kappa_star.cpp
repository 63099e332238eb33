#include "tally/theory/kappa_star.hpp"

#include <boost/math/tools/roots.hpp>
#include <cmath>

#include "tally/theory/tails.hpp"
#include "theory/detail.hpp"

namespace tally::theory {
namespace {

void check_theta(const char* function, std::uint64_t theta) {
  detail::require(theta >= 1 && theta <= (std::uint64_t{1} << 32), function, "theta", theta, "1 to 2^32");
}

void check(const char* function, std::uint64_t theta, double kappa) {
  check_theta(function, theta);
  detail::require(kappa > 0.0 && kappa < detail::infinity, function, "kappa", kappa, "finite and above 0");
}

template <class Function>
double root(Function function, double low, double high) {
  boost::uintmax_t iterations = 200;
  const auto ends = boost::math::tools::toms748_solve(
      function, low, high, boost::math::tools::eps_tolerance<double>(), iterations);
  return 0.5 * (ends.first + ends.second);
}

/// kappa P'/P = theta Pr(X = theta) / Pr(X >= theta).
double slope(std::uint64_t theta, double kappa) {
  return static_cast<double>(theta) * std::exp(-detail::ln_poisson_upper_tail_over_point(theta, kappa));
}

/// ln P + kappa P'/P: below 0 at theta/10 for every theta (it tends to theta (ln r + 2 - 2r) at
/// kappa = r theta), above 0 from kappa_2 on, and kappa_2 < theta + 1.
double g_over_p(std::uint64_t theta, double kappa) {
  return ln_poisson_upper_tail(theta, kappa) + slope(theta, kappa);
}

}  // namespace

double kappa_star(std::uint64_t theta) {
  check_theta("kappa_star", theta);
  const auto t = static_cast<double>(theta);
  return root([&](double kappa) { return g_over_p(theta, kappa); }, 0.1 * t, t + 1.0);
}

double ln_c(std::uint64_t theta) {
  check_theta("ln_c", theta);
  const double kappa = kappa_star(theta);
  return kappa * ln_poisson_upper_tail(theta, kappa);
}

double kappa_star_line(std::uint64_t theta) {
  check_theta("kappa_star_line", theta);
  return 0.2037 * static_cast<double>(theta) + 0.9176;
}

double y1(std::uint64_t theta, double kappa) {
  check("y1", theta, kappa);
  return ln_poisson_upper_tail(theta, kappa);
}

double y2(std::uint64_t theta, double kappa) {
  check("y2", theta, kappa);
  return kappa - static_cast<double>(theta) - 1.0;
}

double g(std::uint64_t theta, double kappa) {
  check("g", theta, kappa);
  const double ln_tail = ln_poisson_upper_tail(theta, kappa);
  const double p = std::exp(ln_tail);
  return p == 0.0 ? 0.0 : p * (ln_tail + slope(theta, kappa));
}

double kappa_1(std::uint64_t theta) {
  check_theta("kappa_1", theta);
  const auto t = static_cast<double>(theta);
  // Near r theta, r = 0.203 the zero of ln r + 2 - 2r, for large theta; above 0.05 theta always.
  return root([&](double kappa) { return y1(theta, kappa) - y2(theta, kappa); }, 0.05 * t, 0.5 * (t + 1.0));
}

double kappa_2(std::uint64_t theta) {
  check_theta("kappa_2", theta);
  const auto t = static_cast<double>(theta);
  return root([&](double kappa) { return y1(theta, kappa) - y2(theta, kappa); }, 0.5 * (t + 1.0), t + 1.0);
}

}  // namespace tally::theory
