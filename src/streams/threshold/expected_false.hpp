#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "streams/threshold/count_visits.hpp"
#include "tally/shapes/threshold.hpp"

namespace tally::detail {

/// The counts of the keys that were counted in one generation of a ThresholdStream.
struct GenerationVisits {
  ThresholdShape shape;
  const CountVisits* counts;  ///< over all generations; at the threshold, the keys were reported
  const CountVisits* own;     ///< in this generation alone
};

/// The expected number of keys that were reported although they never reach the threshold, estimated from the counts in the
/// filters; nothing if the filters are too full for an estimate. With conservative update it is too high.
///
/// A key that occurred t times is reported falsely if other keys added what is missing to each of its counters. The
/// distribution is that of ExactCheck, at the average load of a generation. The number of keys that occurred t times is
/// estimated from the measured counts, corrected by the same distribution.
std::optional<double> expected_false_reports(std::uint64_t threshold,
                                             std::span<const GenerationVisits> generations);

}  // namespace tally::detail
