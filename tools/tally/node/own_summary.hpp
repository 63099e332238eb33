#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/copy_store.hpp"
#include "node/directory.hpp"
#include "node/node_options.hpp"
#include "node/node_totals.hpp"
#include "node/random_time.hpp"
#include "node/redis_bus.hpp"

namespace tally::cli {

/// The sending half of a node: its versions, its heartbeats, and its full copy for those who ask.
///
/// A delta goes to all on the node's channel. A full copy goes under a key into the CopyStore, once, and only a message of 150
/// bytes (`stored`) tells all that it is there.
class OwnSummary {
 public:
  OwnSummary(const NodeOptions& options, const NodeChannels& channels, NodeTotals& totals,
             NodeDirectory& directory, RedisBus& bus, CopyStore& store, Nanoseconds now);

  /// A message under our own name: one of ours, or of another node.
  void take_own(const SummaryMessage& message, Nanoseconds now);
  /// A request to this node. `bytes` are those of the message.
  void take_request(const SummaryMessage& message, std::span<const std::byte> bytes);
  /// Another node has come.
  void take_hello(Nanoseconds now);
  /// The server may have lost the copy, and others may have missed messages.
  void take_reconnection(Nanoseconds now);

  /// Sends what is due.
  void send_due(Nanoseconds now);
  Nanoseconds deadline() const;

  /// Publishes what is pending as soon as possible, whatever is due.
  void publish_now() noexcept { hurry_ = true; }
  /// From now on, publishes; see NodeOptions::announces_later.
  void announce() noexcept { is_announced_ = true; }
  /// False before `announce`, and after another node with our name has started later.
  bool is_publishing() const noexcept { return is_announced_ && !has_yielded_; }
  bool has_yielded() const noexcept { return has_yielded_; }
  bool is_announced() const noexcept { return is_announced_; }
  /// Whether a full copy still has to be stored.
  bool owes_copy() const noexcept { return owed_.has_value(); }
  /// Whether Redis has everything that there is to publish.
  bool is_published() const;

 private:
  struct Stored {
    SummaryVersion version;
    std::uint64_t digest = 0;
    SummaryLayout layout;
    Nanoseconds at = 0;
    int num_requests = 0;  // since it was stored
  };

  void yield();
  void warn_of_forger(const SummaryMessage& message, Nanoseconds now);
  bool outrun(const SummaryMessage& message, Nanoseconds now);
  bool may_outrun(Nanoseconds now);
  bool is_version_due(Nanoseconds now) const;
  void send_version(Nanoseconds now);
  void send_answer(Nanoseconds now);
  void send_heartbeat(Nanoseconds now);
  void tell(std::vector<std::byte> message, Nanoseconds now);
  void store_copy(std::vector<std::byte> copy, Nanoseconds now);
  void send_stored(Nanoseconds now);
  void send(std::span<const std::byte> message, Nanoseconds now);
  void publish(std::span<const std::byte> message);
  bool has_current_copy(Nanoseconds now) const;

  const NodeOptions& options_;
  const NodeChannels& channels_;
  NodeTotals& totals_;
  NodeDirectory& directory_;
  RedisBus& bus_;
  CopyStore& store_;

  bool is_announced_;
  bool has_yielded_ = false;
  std::optional<Nanoseconds> challenged_at_;  // when we went above another node with our name and key
  SummaryTime started_at_;
  bool hurry_ = false;
  std::vector<std::byte> request_;   // the request to answer next; empty if there is none
  std::uint64_t request_epoch_ = 0;  // the epoch that its sender knows
  bool asked_in_version_1_ = false;

  std::optional<Stored> stored_;        // the full copy in the store
  int num_storing_ = 0;                 // on their way there
  std::optional<SummaryVersion> owed_;  // others need a full copy of it, which is not stored yet
  bool has_warned_of_size_ = false;

  Nanoseconds next_store_;  // of a copy that is owed
  Nanoseconds pause_of_stores_;

  Nanoseconds published_at_;
  Nanoseconds next_answer_;
  Nanoseconds next_heartbeat_;
  Nanoseconds next_greeting_;  // no heartbeat in answer to hellos before this time
  Nanoseconds next_outrun_;
  Nanoseconds pause_of_outruns_;
  Nanoseconds next_warning_;
  RandomTime random_time_;
};

}  // namespace tally::cli
