#pragma once

#include <cstdint>

#include "tally/any_filter/simulation.hpp"
#include "tally/export.hpp"

// How long a simulation takes, and a smaller one of the same law.

namespace tally {

/// The time that a simulation may take if its caller fixes neither trials nor queries: three times as long on a slow machine
/// is still a minute.
inline constexpr double usual_simulation_seconds = 20;

/// About the time that simulate(plan) takes, by the planner's table of times (operation_costs), so that it is the same on
/// every machine. Sketches, which the table does not have, count as counting Bloom filters of as many counters.
[[nodiscard]] TALLY_EXPORT double simulation_seconds(const SimulationPlan& plan);

/// A shape and the number of insertions that it gets.
struct FilledShape {
  FilterShape shape;
  std::uint64_t num_insertions = 0;
};

/// The same number of positions per insertion in a filter with about `factor` times as many of both, so that a formula that
/// holds for one may be tested with the other: the nearest number that the scheme can use. A side table keeps eight
/// standard deviations beyond its share. `factor` must be in (0, 1], and the shape not have doubled; else
/// std::invalid_argument.
[[nodiscard]] TALLY_EXPORT FilledShape scaled_down(const FilterShape& shape, std::uint64_t num_insertions,
                                                   double factor);

/// The filter itself if a few trials of it take at most half of `seconds`; else one of the same positions per insertion that
/// does. Filters of at most a million insertions, and those that have doubled, stay as they are.
[[nodiscard]] TALLY_EXPORT FilledShape small_enough_to_simulate(const FilterShape& shape,
                                                                std::uint64_t num_insertions,
                                                                double seconds = usual_simulation_seconds);

}  // namespace tally
