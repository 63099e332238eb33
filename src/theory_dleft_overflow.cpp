#include "tally/theory/dleft_overflow.hpp"

#include <algorithm>
#include <cmath>

#include "theory_dleft_trajectory.hpp"
#include "theory_internal.hpp"

namespace tally::theory {

double ln_dleft_overflow_probability(const DLeftLoads& loads, std::uint32_t c) {
  internal::require_num_cells("dleft_overflow_probability", c);
  double sum = 0.0;
  for (std::uint32_t j = 0; j < loads.subtables.size(); ++j) sum += std::log(loads.fraction(j, c));
  return sum;
}

double dleft_overflow_probability(const DLeftLoads& loads, std::uint32_t c) {
  return std::exp(ln_dleft_overflow_probability(loads, c));
}

double dleft_expected_overflows_filling(const DLeftLoads& loads, std::uint64_t B, std::uint32_t c) {
  constexpr const char* function = "dleft_expected_overflows_filling";
  internal::require_at_least_1(function, "B", B);
  internal::require_num_cells(function, c);
  double above = 0.0;
  for (const std::vector<double>& fractions : loads.subtables) {
    for (std::size_t i = std::size_t{c} + 1; i < fractions.size(); ++i) above += fractions[i];
  }
  return static_cast<double>(B) * above;
}

double dleft_expected_overflows_churning(const DLeftLoads& loads, std::uint64_t N, std::uint32_t c) {
  return static_cast<double>(N) * dleft_overflow_probability(loads, c);
}

double ln_probability_of_any(double expected) {
  internal::require(expected >= 0.0, "probability_of_any", "expected", expected, "at least 0");
  return internal::ln_one_minus_exp(-expected);
}

double probability_of_any(double expected) { return std::exp(ln_probability_of_any(expected)); }

}  // namespace tally::theory
