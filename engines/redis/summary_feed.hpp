#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "tally/any_filter.hpp"
#include "tally/summaries/publisher.hpp"

namespace tally::redis {

/// The versions of a filter that clients follow: the last one, and the deltas that led to it, as long as they are shorter than
/// a full copy together. It belongs to one server and is not stored: after a restart another epoch begins, and followers
/// receive a full copy.
class SummaryFeed {
 public:
  /// `name` is that of the key. Throws std::invalid_argument for a kind without summaries and for an empty name or one of more
  /// than 255 bytes, and std::bad_alloc.
  SummaryFeed(const AnyFilter& filter, std::string name);

  /// These items may have been inserted or removed.
  void touch(const AnyFilter& filter, std::span<const Hash128> digests) noexcept;
  void touch_all() noexcept;

  /// Whether what has changed can be published in a call that takes as long as to copy `max_bytes`. If not, does a part of
  /// the work, and the next version is sent as a full copy. Throws std::bad_alloc, and then a later call has the changes.
  bool can_publish(const AnyFilter& filter, std::uint64_t max_bytes);

  /// What brings a follower from a version to what the filter holds now: a heartbeat, deltas, or a full copy. The messages are
  /// valid until the next call. Throws std::bad_alloc, and then a later call has the changes.
  std::vector<std::span<const std::byte>> since(const AnyFilter& filter, SummaryVersion version);
  /// The version to which the last messages lead.
  SummaryVersion version() const noexcept { return publisher_.version(); }

  std::uint64_t memory_bytes() const noexcept;

 private:
  struct Delta {
    std::uint64_t from_sequence;
    std::vector<std::byte> message;
  };

  void add_changes(std::uint64_t number) noexcept;
  std::uint64_t cost_of_change() const noexcept;
  void adopt_layout(const AnyFilter& filter);
  void publish(const AnyFilter& filter);
  void forget_deltas() noexcept;
  std::span<const std::byte> heartbeat_or_full_copy(SummaryVersion version);

  SummaryPublisher publisher_;
  bool has_changed_ = true;
  std::uint64_t num_changes_;           // units that may differ from the last version, about
  std::uint64_t num_late_changes_ = 0;  // of them, those since the publisher began to catch up
  bool is_catching_up_ = false;
  std::deque<Delta>
      deltas_;  // each begins where the one before ends, and the last one ends at the last version
  std::uint64_t delta_bytes_ = 0;
  std::vector<std::byte> full_copy_;  // of the last version, or empty
  std::vector<std::byte> heartbeat_;
};

}  // namespace tally::redis
