#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "node/copy_store.hpp"
#include "node/node_options.hpp"
#include "node/node_totals.hpp"
#include "node/random_time.hpp"
#include "node/redis_bus.hpp"
#include "tally/summaries/set.hpp"

namespace tally::cli {

/// The receiving half of a node: the copies of all other nodes, and what is done to keep them up to date.
///
/// A copy that is behind asks its publisher after a random pause, because the answer reaches all who lack the same. The answer,
/// `stored`, says that a full copy lies in the CopyStore; it is fetched from there, a few at a time. Deltas that arrive meanwhile
/// wait for it.
///
/// A name gets a slot when a valid full copy of it has arrived; until then it is only a name, and a limited number of them a
/// second is asked for. If all slots or the memory are taken, a new peer takes the place of a stranger: one that has not been
/// heard for long and is silent now.
class FollowedPeers {
 public:
  struct Peer {
    std::string_view name;
    SummaryStatus status;
    bool is_current = false;  // and its last message was taken
    Nanoseconds silent = 0;
    double false_positive_rate = 0;
    std::uint64_t num_bytes = 0;
    std::uint16_t format_version = 0;
    BytesByKind received;
    std::uint64_t num_request_bytes_sent = 0;
    std::uint64_t num_lookups_maybe = 0;
    std::uint64_t num_false_positives = 0;  ///< of them, as clients reported
  };

  FollowedPeers(const NodeOptions& options, const NodeChannels& channels, NodeTotals& totals, RedisBus& bus,
                CopyStore& store, Nanoseconds now);

  /// A message of another node that came on its channel. Throws what SummarySet::apply throws.
  void take(const SummaryMessage& message, Nanoseconds now);
  /// Sends requests, and begins to fetch copies.
  void send_due(Nanoseconds now);
  /// Removes peers that were silent for too long while the bus was up.
  void forget_silent(Nanoseconds now);
  /// The latest time for the next call of both.
  Nanoseconds deadline() const;

  /// Ordered by name.
  std::vector<Peer> all(Nanoseconds now) const;
  const SummarySet& copies() const noexcept { return copies_; }
  /// The number of peers whose newest known version is here.
  std::uint64_t num_caught_up() const;

  /// Names of the peers that may have the key, sorted. Counts the lookup.
  std::vector<std::string_view> ask(Hash128 digest);
  /// What the copies say of these blocks. Counts a lookup for each of them.
  std::vector<SummarySet::Prefix> longest_prefix(std::span<const Hash128> blocks);
  /// A client has found this number of answers that named the peer to be wrong. False: there is no such peer.
  bool report_false_positives(std::string_view peer, std::uint64_t number);

  /// Counts and prints why a message was refused: the exception that is being handled. Each text is printed once.
  void refuse_for_exception(std::string_view peer);

 private:
  /// What is lacking, and when to do something about it.
  struct Want {
    Nanoseconds due = 0;
    int num_tries = 0;
    bool is_stored = false;  // the copy can be fetched; otherwise, ask for it
    bool is_fetching = false;
    bool has_failed = false;  // the copy that was there did not help: ask before it is fetched again
  };
  struct Known {
    Nanoseconds first_at = 0;
    Nanoseconds at = 0;
    Nanoseconds listened_at = 0;  // the value of listening_ then
    bool is_refused = false;      // the last message
    std::uint64_t num_messages = 0;
    std::uint16_t format_version = 0;
    bool has_gap = false;  // a message did not arrive, and its copy has not caught up
    BytesByKind received;
    std::uint64_t num_request_bytes_sent = 0;
    std::uint64_t num_lookups_maybe = 0;
    std::uint64_t num_false_positives = 0;
    SummaryVersion heard;  // of the last message
    SummaryLayout layout;
    std::optional<Want> want;
    std::deque<std::vector<std::byte>> late;  // deltas that wait for a copy
    std::uint64_t late_bytes = 0;
  };
  using Entry = std::map<std::string, Known, std::less<>>::iterator;

  void refuse(std::string_view peer, MessageRefusal reason, std::string_view why);
  void close_gap(Known& known) noexcept;
  SummarySet::Applied apply(const SummaryMessage& message, Nanoseconds now);
  void note_refusal(Known& known, Nanoseconds now) const noexcept;
  Entry find_silent_stranger(std::string_view besides, Nanoseconds now);
  bool make_room(std::string_view name, Nanoseconds now);
  bool has_slot_for(std::string_view name, Nanoseconds now);
  Entry erase(Entry entry) noexcept;
  bool has_lasted(const Known& known) const noexcept;
  bool is_peer(std::string_view name) const { return copies_.find(name).has_value(); }
  Known* known_of(const SummaryMessage& message, Nanoseconds now);
  void note(Known& known, const SummaryMessage& message, SummarySet::Applied applied, Nanoseconds now);
  void ask_later(Known& known, Nanoseconds now);
  void ask_again(Want& want, Nanoseconds now);
  void keep_late(Known& known, const SummaryMessage& message);
  void drop_late(Known& known) noexcept;
  static bool leads_on(const Known& known, const SummaryMessage& message);
  void do_what_is_due(const std::string& name, Known& known, Nanoseconds now);
  void request(const std::string& name, Known& known, Nanoseconds now);
  void fetch(const std::string& name, Known& known);
  void take_copy(const std::string& name, CopyStore::Outcome outcome, std::string_view bytes,
                 Nanoseconds now);
  void take_late(Known& known, Nanoseconds now);
  bool take_token(Nanoseconds now);

  const NodeOptions& options_;
  const NodeChannels& channels_;
  NodeTotals& totals_;
  RedisBus& bus_;
  CopyStore& store_;
  SummarySet copies_;
  std::map<std::string, Known, std::less<>> known_;
  int num_fetching_ = 0;
  std::uint64_t late_bytes_ = 0;  // of all
  double tokens_;                 // new peers that may be asked for now
  Nanoseconds tokens_at_;
  Nanoseconds listening_ = 0;  // time that the bus was up
  Nanoseconds clocked_at_;
  Nanoseconds next_forgetting_;
  std::set<std::string, std::less<>> said_;
  RandomTime random_time_;
};

}  // namespace tally::cli
