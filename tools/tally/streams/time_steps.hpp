#pragma once

#include <cstdint>
#include <limits>

#include "input/records.hpp"

namespace tally::cli {

/// Cuts a stream where its time passes a multiple of a step. A line whose time is before that of an earlier
/// line is late: it counts at the latest time so far, or not at all if it is late by `max_lateness` or more.
class TimeSteps {
 public:
  explicit TimeSteps(Nanoseconds step, Nanoseconds max_lateness = std::numeric_limits<Nanoseconds>::max())
      : step_(step), max_lateness_(max_lateness) {}

  /// In order: use(records) for lines of one step, and before those of later ones pass(how many steps later).
  template <class Use, class Pass>
  void split(const Records& records, Use use, Pass pass) {
    std::size_t begin = 0;
    const auto use_until = [&](std::size_t end) {
      if (begin < end) use(records.part(begin, end));
      begin = end;
    };
    for (std::size_t i = 0; i < records.size(); ++i) {
      const Nanoseconds time = records.times[i];
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

  std::uint64_t num_late() const noexcept { return num_late_; }          ///< those left out too
  std::uint64_t num_left_out() const noexcept { return num_left_out_; }  ///< too late to count
  bool has_begun() const noexcept { return has_begun_; }
  Nanoseconds latest() const noexcept { return latest_; }  ///< of all lines, if there was one

  /// As another one was left.
  void resume(bool has_begun, Nanoseconds latest, std::uint64_t num_late,
              std::uint64_t num_left_out) noexcept {
    has_begun_ = has_begun;
    latest_ = latest;
    num_late_ = num_late;
    num_left_out_ = num_left_out;
  }

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

}  // namespace tally::cli
