#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tally/shapes/threshold.hpp"

namespace tally::cli {

/// How often the count of a key came out at each value, from 1 to a threshold; all above it are one.
///
/// Of large thresholds it keeps the values that matter to expected_false_reports: the least ones, and those next to the
/// threshold.
class CountVisits {
 public:
  /// A key that lacks more than this is not expected to be reported too soon.
  static constexpr std::uint64_t max_gap = 32;

  explicit CountVisits(std::uint64_t threshold)
      : threshold_(threshold),
        num_low_(std::min(threshold, 2 * max_gap)),
        visits_(num_low_ + (threshold > num_low_ ? max_gap + 1 : 0) + 1) {}

  void add(std::uint64_t value) noexcept { ++visits_[slot_of(std::min(value, threshold_))]; }

  /// 0 for values that are not kept.
  std::uint64_t at(std::uint64_t value) const noexcept {
    const std::size_t slot = slot_of(std::min(value, threshold_));
    return slot == 0 ? 0 : visits_[slot];
  }

  std::uint64_t threshold() const noexcept { return threshold_; }
  std::span<const std::uint64_t> words() const noexcept { return visits_; }
  std::span<std::uint64_t> words() noexcept { return visits_; }

 private:
  std::size_t slot_of(std::uint64_t value) const noexcept {
    if (value <= num_low_) return value;
    const std::uint64_t gap = threshold_ - value;
    return gap <= max_gap ? num_low_ + 1 + gap : 0;
  }

  std::uint64_t threshold_;
  std::uint64_t num_low_;
  std::vector<std::uint64_t> visits_;  // [0]: of values that are not kept
};

/// What became of the keys that were counted in one generation of a ThresholdStream.
struct GenerationVisits {
  ThresholdShape shape;
  const CountVisits* counts;  ///< over all generations: those from the threshold on were reported
  const CountVisits* own;     ///< in this generation alone
};

/// How many keys are expected to have been reported although they never reach the threshold, from what the filters
/// counted; nothing where they are so full that this says nothing. With conservative update it is an upper estimate.
///
/// A key that came t times is reported by mistake if the other keys put as much as is missing on each of its counters.
/// That law is the one of ExactCheck, at the average load of a generation; how many keys came t times follows from the
/// counts that were seen, less what the same law makes of them.
std::optional<double> expected_false_reports(std::uint64_t threshold,
                                             std::span<const GenerationVisits> generations);

}  // namespace tally::cli
