#include "tally/theory/dleft_safe_load.hpp"

#include <algorithm>
#include <boost/math/tools/roots.hpp>
#include <cmath>

#include "tally/theory/dleft_fluid_limit.hpp"
#include "tally/theory/dleft_overflow.hpp"
#include "theory/detail.hpp"
#include "theory/dleft_trajectory.hpp"

namespace tally::theory {
namespace {

void check(const char* function, std::uint32_t d, std::uint32_t c) {
  detail::require_num_subtables(function, d);
  detail::require_num_cells(function, c);
}

/// The largest load up to c at which `events`, which rises, is at most `target`.
template <class Events>
double largest_load_with(std::uint32_t c, double target, Events events) {
  // The logarithm is much closer to linear; if nothing is expected at all, it needs a finite value.
  const auto excess = [&](double load) {
    return std::log(std::max(events(load), 1e-300)) - std::log(target);
  };
  const double at_capacity = excess(c);
  if (at_capacity <= 0.0) return c;
  boost::uintmax_t iterations = 100;
  return boost::math::tools::toms748_solve(
             excess, 0.0, static_cast<double>(c), excess(0.0), at_capacity,
             [](double low, double high) { return high - low <= 1e-10 * high; }, iterations)
      .first;
}

}  // namespace

double dleft_safe_load_for_share(std::uint32_t d, std::uint32_t c, double share, double steps_per_element) {
  constexpr const char* function = "dleft_safe_load_for_share";
  check(function, d, c);
  detail::require_open_unit(function, "share", share);
  if (steps_per_element == insert_only) {
    detail::DLeftFilling filling(d);
    return largest_load_with(c, share, [&](double load) { return filling.loads_at(load).fraction(c + 1); });
  }
  return largest_load_with(
      c, share, [&](double load) { return dleft_loads(d, load, steps_per_element).fraction(c + 1); });
}

double dleft_safe_load(std::uint32_t d, std::uint64_t B, std::uint32_t c, std::uint64_t N,
                       double failure_probability) {
  constexpr const char* function = "dleft_safe_load";
  check(function, d, c);
  detail::require_at_least_1(function, "B", B);
  detail::require_open_unit(function, "failure_probability", failure_probability);
  detail::DLeftFilling filling(d);
  return largest_load_with(c, -std::log1p(-failure_probability), [&](double load) {
    const double events = dleft_expected_overflows_filling(filling.loads_at(load), B, c);
    if (N == 0) return events;
    return events +
           static_cast<double>(N) * dleft_overflow_probability(dleft_loads(d, load, steady_state), c);
  });
}

}  // namespace tally::theory
