#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tally/export.hpp"

namespace tally::theory {

/// Loads of the buckets of a d-left hash table: there are d subtables of equally many buckets, and a new
/// element goes to the least loaded of its d buckets; ties go left. Buckets have no capacity here.
struct TALLY_EXPORT DLeftLoads {
  /// Elements per bucket.
  double average_load = 0.0;
  /// subtables[j][i] = x_{j,i}: share of the buckets of subtable j (0 is the leftmost) with load >= i. Entry
  /// 0 is 1; entries beyond the end are 0.
  std::vector<std::vector<double>> subtables;

  /// x_{j,i}; j below d.
  [[nodiscard]] double fraction(std::uint32_t j, std::uint64_t i) const;
  /// Share of all buckets with load >= i: the mean of x_{j,i} over j.
  [[nodiscard]] double fraction(std::uint64_t i) const;
};

/// Values for `steps_per_element`.
inline constexpr double insert_only = 0.0;
inline constexpr double steady_state = std::numeric_limits<double>::infinity();

/// The fluid limit: loads as the number of buckets grows, at `average_load` elements per bucket. First these
/// elements are inserted. With t in elements per bucket,
///
///     dx_{j,i}/dt = d (x_{j,i-1} - x_{j,i}) prod_{l<j} x_{l,i} prod_{l>j} x_{l,i-1}
///
/// Then `steps_per_element` times the number of elements, one element drawn uniformly is deleted and a new
/// one inserted, which adds -i (x_{j,i} - x_{j,i+1}) / average_load. `insert_only` and `steady_state` are the
/// two extremes; from 48 steps per element on, the steady state is returned.
///
/// Relative accuracy 1e-9 for values of at least 1e-100; smaller ones are returned as 0. For a d-left filter,
/// use the load of distinct fingerprints: see dleft_fingerprints.hpp. A table of few buckets fluctuates
/// around the limit.
///
/// @param d                  subtables; 1 to 8. With d = 1 both extremes are the Poisson distribution
/// @param average_load       0 to 256
/// @param steps_per_element  at least 0; may be infinite
/// @throws std::invalid_argument for anything else
/// @source Bonomi et al. 2006, "An Improved Construction for Counting Bloom Filters", section 2.3, and the
///         papers on d-left hashing it cites; the solution of the steady state by a fixed point is ours
TALLY_EXPORT DLeftLoads dleft_loads(std::uint32_t d, double average_load, double steps_per_element);

}  // namespace tally::theory
