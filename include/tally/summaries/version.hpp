#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace tally {

/// Times of summaries: they go between machines.
using SummaryTime = std::chrono::sys_time<std::chrono::microseconds>;

inline SummaryTime summary_time_now() noexcept {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

/// Which state of a directory: what a publisher sent as its `sequence`-th version since it began its `epoch`.
/// A later epoch is a later version, whatever the sequence. {0, 0} is the empty directory of one who never heard.
struct SummaryVersion {
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;

  friend auto operator<=>(const SummaryVersion&, const SummaryVersion&) = default;
};

}  // namespace tally
