#include "tally/theory/dleft_orientable_load.hpp"

#include <boost/math/tools/roots.hpp>
#include <cmath>

#include "tally/theory/tails.hpp"
#include "theory/detail.hpp"
#include "theory/dleft_trajectory.hpp"

namespace tally::theory {

double dleft_orientable_load(std::uint32_t d, std::uint32_t c) {
  constexpr const char* function = "dleft_orientable_load";
  detail::require(d >= 2 && d <= 8, function, "d", d, "2 to 8");
  detail::require_num_cells(function, c);
  if (d == 2 && c == 1) return 0.5;  // xi is 0: the limit
  const double ln_cells = std::log(static_cast<double>(d) * c);
  const auto excess = [&](double xi) {
    return std::log(xi) + ln_poisson_upper_tail(c, xi) - ln_poisson_upper_tail(c + 1, xi) - ln_cells;
  };
  // The left side of the equation rises from c + 1 at 0, and is at least xi.
  boost::uintmax_t iterations = 100;
  const auto [low, high] = boost::math::tools::toms748_solve(
      excess, 1e-9, static_cast<double>(d) * c, boost::math::tools::eps_tolerance<double>(50), iterations);
  const double xi = 0.5 * (low + high);
  return xi * std::exp(-(d - 1.0) * ln_poisson_upper_tail(c, xi)) / d;
}

}  // namespace tally::theory
