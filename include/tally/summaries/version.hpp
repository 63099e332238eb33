#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace tally {

/// Times of summaries, which are exchanged between machines.
using SummaryTime = std::chrono::sys_time<std::chrono::microseconds>;

inline SummaryTime summary_time_now() noexcept {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

/// A state of a directory: the `sequence`-th version that a publisher sent in its `epoch`. A later epoch is a
/// later version, whatever the sequence. {0, 0} is the empty directory of a replica that never received
/// anything.
struct SummaryVersion {
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;

  friend auto operator<=>(const SummaryVersion&, const SummaryVersion&) = default;
};

}  // namespace tally
