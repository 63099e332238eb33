#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "tally/summaries/version.hpp"

namespace tally {

/// The result of applying a message. SummaryStatus::needs_full tells whether to request a full copy.
enum class ApplyResult {
  applied,    ///< the replica is now at the message's version, which need not be the newest it has heard of
  unchanged,  ///< nothing new: a repeated message, or one that is older than what the replica holds
  behind,     ///< the replica lacks an earlier message, or its units differ: a full copy is needed
  unknown     ///< of a SummarySet: there is no copy of this publisher, and only a full copy makes it a peer
};

/// Where a replica stands in its publisher's history.
struct SummaryStatus {
  SummaryVersion held;    ///< {0, 0} if no message has ever arrived
  SummaryVersion newest;  ///< the newest version that a message mentioned
  /// The publisher's clock when it last confirmed that the version held was the newest.
  SummaryTime as_of{};
  std::uint64_t digest = 0;       ///< of the units held
  std::uint64_t num_nonzero = 0;  ///< units held that are not 0
  bool has_diverged = false;  ///< the units differ from the publisher's at that version (should never happen)
  /// The last message was from an earlier epoch: it was late, or the publisher's clock was set back. A
  /// request resolves this.
  bool is_contradicted = false;

  /// Whether it holds the newest version that it has heard of.
  bool is_current() const noexcept { return held.epoch != 0 && !needs_full(); }
  bool needs_full() const noexcept { return held < newest || has_diverged || is_contradicted; }

  /// How many versions it is behind; empty if that is unknown, because another epoch has begun or no message
  /// has ever arrived.
  std::optional<std::uint64_t> num_versions_behind() const noexcept {
    if (held.epoch == 0 || held.epoch != newest.epoch) return std::nullopt;
    return newest.sequence - held.sequence;
  }

  /// The time since the copy was known to equal the publisher's version; 0 if the clocks disagree. Empty if
  /// no message has ever arrived.
  std::optional<std::chrono::microseconds> age(SummaryTime now) const noexcept {
    if (held.epoch == 0) return std::nullopt;
    return now < as_of ? std::chrono::microseconds{0} : now - as_of;
  }

  friend bool operator==(const SummaryStatus&, const SummaryStatus&) = default;
};

}  // namespace tally
