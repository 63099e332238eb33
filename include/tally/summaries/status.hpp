#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "tally/summaries/version.hpp"

namespace tally {

/// What became of a message. Whether a full copy should be asked for is SummaryStatus::needs_full.
enum class ApplyResult {
  applied,    ///< the replica is at the message's version now, which need not be the newest it heard of
  unchanged,  ///< nothing new: a repeated message, or one that is older than what the replica holds
  behind  ///< the replica lacks something that came before, or holds something else: a full copy is needed
};

/// Where a replica stands in its publisher's history.
struct SummaryStatus {
  SummaryVersion held;    ///< {0, 0} if nothing ever came
  SummaryVersion newest;  ///< of which a message told
  /// The publisher's clock when it last told that the version held was the newest.
  SummaryTime as_of{};
  std::uint64_t digest = 0;       ///< of the units held
  std::uint64_t num_nonzero = 0;  ///< units held that are not 0
  bool has_diverged = false;  ///< the units are not what the publisher has at that version (should never be)
  /// A message of an earlier epoch came last: a late one, or the publisher's clock was set back. A request settles it.
  bool is_contradicted = false;

  /// Whether it holds the newest version it heard of.
  bool is_current() const noexcept { return held.epoch != 0 && !needs_full(); }
  bool needs_full() const noexcept { return held < newest || has_diverged || is_contradicted; }

  /// How many versions it is behind; nothing where that is not known: another epoch has begun, or nothing ever came.
  std::optional<std::uint64_t> num_versions_behind() const noexcept {
    if (held.epoch == 0 || held.epoch != newest.epoch) return std::nullopt;
    return newest.sequence - held.sequence;
  }

  /// Since the copy was known to be what the publisher has; 0 if the clocks disagree. Nothing if nothing ever came.
  std::optional<std::chrono::microseconds> age(SummaryTime now) const noexcept {
    if (held.epoch == 0) return std::nullopt;
    return now < as_of ? std::chrono::microseconds{0} : now - as_of;
  }
};

}  // namespace tally
