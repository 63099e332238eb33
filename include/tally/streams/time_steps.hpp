#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tally/export.hpp"
#include "tally/streams/records.hpp"

namespace tally {

class StateReader;
class StateWriter;

/// Splits a stream where its time passes a multiple of a step. A record whose time is before that of an earlier record is
/// late: it counts at the latest time so far, or not at all if it is late by `max_lateness` or more.
class TALLY_EXPORT TimeSteps {
 public:
  /// `step` is at least 1.
  explicit TimeSteps(Nanoseconds step, Nanoseconds max_lateness = std::numeric_limits<Nanoseconds>::max())
      : step_(step), max_lateness_(max_lateness) {}

  /// Calls use(records) for the records of each step, in order, and pass(number of steps) before those of a later step.
  template <class Use, class Pass>
  void split(const StreamRecords& records, Use use, Pass pass) {
    std::size_t begin = 0;
    const auto use_until = [&](std::size_t end) {
      if (begin < end) use(records.part(begin, end));
      begin = end;
    };
    for (std::size_t i = 0; i < records.size(); ++i) {
      const Nanoseconds time = std::clamp(records.times[i], -max_time, max_time);
      if (has_begun_ && time < latest_) {
        ++num_late_;
        if (latest_ - time < max_lateness_) continue;
        ++num_left_out_;
        use_until(i);
        begin = i + 1;
        continue;
      }
      const std::int64_t at = step_of(time);
      const std::int64_t before = has_begun_ ? step_of(latest_) : at;
      has_begun_ = true;
      latest_ = time;
      if (at == before) continue;
      use_until(i);
      pass(static_cast<std::uint64_t>(at - before));
    }
    use_until(records.size());
  }

  std::uint64_t num_late() const noexcept { return num_late_; }          ///< including those left out
  std::uint64_t num_left_out() const noexcept { return num_left_out_; }  ///< too late to count
  Nanoseconds latest() const noexcept { return latest_; }  ///< of all records; valid after the first

  void save(StateWriter& state) const;
  /// Throws FormatError.
  void restore(StateReader& state);

 private:
  std::int64_t step_of(Nanoseconds time) const noexcept {
    return time / step_ - (time % step_ < 0 ? 1 : 0);  // rounded down
  }

  Nanoseconds step_;
  Nanoseconds max_lateness_;
  bool has_begun_ = false;
  Nanoseconds latest_ = 0;
  std::uint64_t num_late_ = 0;
  std::uint64_t num_left_out_ = 0;
};

}  // namespace tally
