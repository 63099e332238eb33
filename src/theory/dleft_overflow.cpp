#include "tally/theory/dleft_overflow.hpp"

#include <cmath>

#include "theory/detail.hpp"
#include "theory/dleft_trajectory.hpp"

namespace tally::theory {

double ln_dleft_overflow_probability(const DLeftLoads& loads, std::uint32_t c) {
  detail::require_num_cells("dleft_overflow_probability", c);
  double sum = 0.0;
  for (std::uint32_t j = 0; j < loads.subtables.size(); ++j) sum += std::log(loads.fraction(j, c));
  return sum;
}

double dleft_overflow_probability(const DLeftLoads& loads, std::uint32_t c) {
  return std::exp(ln_dleft_overflow_probability(loads, c));
}

double dleft_expected_overflows_filling(const DLeftLoads& loads, std::uint64_t B, std::uint32_t c) {
  constexpr const char* function = "dleft_expected_overflows_filling";
  detail::require_at_least_1(function, "B", B);
  detail::require_num_cells(function, c);
  double above = 0.0;
  for (const std::vector<double>& fractions : loads.subtables) {
    for (std::size_t i = std::size_t{c} + 1; i < fractions.size(); ++i) above += fractions[i];
  }
  return static_cast<double>(B) * above;
}

DLeftExpectedOverflows dleft_expected_overflows(std::uint32_t d, std::uint64_t B, std::uint32_t c,
                                                double average_load, std::uint64_t N) {
  constexpr const char* function = "dleft_expected_overflows";
  detail::require_num_subtables(function, d);
  detail::require_average_load(function, average_load);
  detail::DLeftRows rows = detail::DLeftFilling(d).rows_at(average_load);
  DLeftExpectedOverflows expected;
  expected.filling = dleft_expected_overflows_filling(detail::dleft_loads_of(d, rows), B, c);
  if (N == 0 || average_load == 0.0) return expected;
  const double buckets = d * static_cast<double>(B);
  const double steps_per_element = static_cast<double>(N) / buckets / average_load;
  const double at_first = std::fmin(steps_per_element, detail::steady_after);
  expected.churning = buckets * detail::dleft_replace(d, rows, at_first, c);
  const double later = (steps_per_element - at_first) * buckets * average_load;
  if (later > 0.0)
    expected.churning += later * dleft_overflow_probability(dleft_loads(d, average_load, steady_state), c);
  return expected;
}

double ln_probability_of_any(double expected) {
  detail::require(expected >= 0.0, "probability_of_any", "expected", expected, "at least 0");
  return detail::ln_one_minus_exp(-expected);
}

double probability_of_any(double expected) { return std::exp(ln_probability_of_any(expected)); }

}  // namespace tally::theory
