#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tally::detail {

/// The number of times that counting a key gave each value, from 1 to a threshold; larger values count as the threshold.
///
/// For a large threshold only the values that expected_false_reports needs are stored: the smallest ones, and those just
/// below the threshold.
class CountVisits {
 public:
  /// A key that lacks more than this is assumed not to be reported too early.
  static constexpr std::uint64_t max_gap = 32;

  explicit CountVisits(std::uint64_t threshold)
      : threshold_(threshold),
        num_low_(std::min(threshold, 2 * max_gap)),
        visits_(num_low_ + (threshold > num_low_ ? max_gap + 1 : 0) + 1) {}

  void add(std::uint64_t value) noexcept { ++visits_[slot_of(std::min(value, threshold_))]; }

  /// Adds all values from 1 to `last`, which is at most the threshold.
  void add_up_to(std::uint64_t last) noexcept {
    for (std::uint64_t value = 1; value <= std::min(last, num_low_); ++value) add(value);
    if (last <= num_low_) return;
    const std::uint64_t first_near = threshold_ - std::min(threshold_, max_gap);
    for (std::uint64_t value = std::max(num_low_ + 1, first_near); value <= last; ++value) add(value);
    if (first_near > num_low_ + 1) visits_[0] += std::min(last + 1, first_near) - (num_low_ + 1);
  }

  /// 0 for values that are not stored.
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
  std::vector<std::uint64_t> visits_;  // [0]: all values that are not stored
};

}  // namespace tally::detail
