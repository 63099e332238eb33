#pragma once

#include <cstdint>

#include "streams/threshold/count_visits.hpp"
#include "tally/filters/threshold.hpp"

namespace tally::detail {

/// Of `num_keys` keys, the number that find a counter at 0 and are recognized as new. Six standard deviations are added, so
/// that a filter with the planned keys is not treated as one with more.
std::uint64_t most_seen_to_be_new(const ThresholdShape& shape, std::uint64_t num_keys);

/// One filter of a ThresholdStream, with statistics of its keys.
struct Generation {
  Generation(ThresholdFilter<> empty, std::uint64_t num_planned, double rate);

  /// The present upper bound on the probability that a key which was never added finds no counter at 0.
  double error() const;
  bool is_past_plan() const noexcept { return num_keys > most_new; }

  ThresholdFilter<> filter;
  std::uint64_t planned_keys;
  double false_positive_rate;  ///< with all planned keys
  std::uint64_t most_new;      ///< number of planned keys that are recognized as new
  std::uint64_t num_keys = 0;  ///< recognized as new
  CountVisits counts;          ///< counts of its keys over all generations
  CountVisits own;             ///< counts of the same keys in this generation alone
};

}  // namespace tally::detail
