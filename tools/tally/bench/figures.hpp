#pragma once

#include <string>
#include <vector>

#include "bench/measure.hpp"
#include "tally/planner/plan.hpp"

namespace tally::cli {

/// time(operation): its time in ns, for each one that filters of the shape have.
template <class Time>
MeasuredFilter measured_filter(const FilterShape& shape, Time time) {
  MeasuredFilter figures{.shape = shape,
                         .costs = {.insert_ns = time(Operation::insert),
                                   .lookup_absent_ns = time(Operation::lookup_absent),
                                   .lookup_present_ns = time(Operation::lookup_present),
                                   .line_read_ns = time(Operation::line_read)}};
  if (traits_of(shape.kind()).can_remove) figures.costs.remove_ns = time(Operation::remove);
  return figures;
}

/// The times per key in batches that `tally bench --json` has written to a file. Throws std::system_error if it cannot be
/// read, and std::invalid_argument that names the file, the candidate and the field for anything else.
std::vector<MeasuredFilter> read_figures(const std::string& path);

/// Throws std::invalid_argument if no candidate has figures of its own: the file is of other requirements.
void require_own_figures(const std::string& path, const Plan& plan);

}  // namespace tally::cli
