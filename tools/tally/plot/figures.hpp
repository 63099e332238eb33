#pragma once

#include "plot/draw.hpp"
#include "tally/any_filter.hpp"
#include "tally/filters/statistics.hpp"
#include "tally/planner.hpp"

namespace tally::cli {

/// False positive rate against memory: a curve for each kind of structure, planned anew for memories around
/// those of the plan, with the candidates on the curves and a mark at the recommended one.
Figure plan_figure(const Requirements& wanted, const Plan& plan);

/// Counters by value beside the Poisson distribution for as many insertions of distinct keys; for a d-left
/// filter, buckets by cells in use beside the fluid limit. Without the predicted distribution if there is
/// none (conservative update).
Figure info_figure(const AnyFilter& filter, const FilterStatistics& statistics);

/// A row of verify's table: the measured rate with limits, and the predicted rate.
struct VerifiedRate {
  std::string name;  ///< of the true count, the scheme, or both
  double predicted;
  double measured;
  double low;
  double high;
};
Figure verify_figure(std::string title, std::string x_label, const std::vector<VerifiedRate>& rates);

}  // namespace tally::cli
