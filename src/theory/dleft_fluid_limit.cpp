#include "tally/theory/dleft_fluid_limit.hpp"

#include "theory/detail.hpp"
#include "theory/dleft_trajectory.hpp"

namespace tally::theory {

double DLeftLoads::fraction(std::uint32_t j, std::uint64_t i) const {
  const std::vector<double>& fractions = subtables.at(j);
  return i < fractions.size() ? fractions[i] : 0.0;
}

double DLeftLoads::fraction(std::uint64_t i) const {
  double sum = 0.0;
  for (std::uint32_t j = 0; j < subtables.size(); ++j) sum += fraction(j, i);
  return sum / static_cast<double>(subtables.size());
}

DLeftLoads dleft_loads(std::uint32_t d, double average_load, double steps_per_element) {
  constexpr const char* function = "dleft_loads";
  detail::require_num_subtables(function, d);
  detail::require_average_load(function, average_load);
  detail::require(steps_per_element >= 0.0, function, "steps_per_element", steps_per_element, "at least 0");
  if (steps_per_element >= detail::steady_after)
    return detail::dleft_loads_of(d, detail::dleft_steady_state(d, average_load));
  detail::DLeftRows rows = detail::DLeftFilling(d).rows_at(average_load);
  if (steps_per_element > 0.0) detail::dleft_replace(d, rows, steps_per_element, 1);
  return detail::dleft_loads_of(d, rows);
}

}  // namespace tally::theory
