#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "node/directory.hpp"
#include "node/redis_bus.hpp"
#include "tally/summaries/set.hpp"
#include "text/duration.hpp"

namespace tally::cli {

/// Letters, digits, '.', '_' and '-', 1 to 64 of them: usable in a channel's name and between blanks.
bool is_node_name(std::string_view name) noexcept;

/// One node of a group: keeps its summary published, and follows those of the others, over a RedisBus.
///
/// Messages of a node go to the channel tally:GROUP:summary:NODE, and requests for a full copy of it to
/// tally:GROUP:request:NODE. A node that connects, or reconnects, announces itself on tally:GROUP:hello, and
/// all others send a heartbeat soon. A lost message is detected by the version in the next message or
/// heartbeat, and requested: at most once per peer and interval, after a random pause, because all nodes
/// receive an answer. A node sends at most one full copy per interval, however many nodes request it.
class SummaryNode {
 public:
  struct Options {
    std::string name;
    std::string group = "default";
    double share_of_new_keys = 0.01;                     ///< publish at this share; not before interval / 10
    Nanoseconds interval = nanoseconds_per_second;       ///< publish changes after this time
    Nanoseconds heartbeat = 5 * nanoseconds_per_second;  ///< the longest time without a message
    Nanoseconds forget = 600 * nanoseconds_per_second;   ///< a peer that is silent for longer is removed
    std::size_t max_message_bytes = std::size_t{32} << 20;
    SummaryTerms terms;
  };

  /// Totals so far.
  struct Totals {
    std::uint64_t num_versions_sent = 0;  ///< deltas, and full copies if those were shorter
    std::uint64_t num_answers_sent = 0;   ///< full copies on request
    std::uint64_t num_heartbeats_sent = 0;
    std::uint64_t num_requests_sent = 0;
    std::uint64_t num_bytes_sent = 0;
    std::uint64_t num_received = 0;
    std::uint64_t num_bytes_received = 0;
    std::uint64_t num_refused = 0;  ///< messages that were invalid, or not on our terms
  };

  struct Peer {
    std::string_view name;
    SummaryStatus status;
    Nanoseconds silent = 0;
    double false_positive_rate = 0;
    std::uint64_t num_bytes = 0;
  };

  /// Throws std::invalid_argument for invalid names, and if a full copy of that layout does not fit into a
  /// message. Call it before the filter is made.
  static void check(const Options& options, const SummaryLayout& layout);

  /// `address` is that of the Redis server. Throws what check throws.
  SummaryNode(const Options& options, NodeDirectory directory, const redis_client::Address& address,
              Nanoseconds now);

  const std::string& name() const noexcept { return options_.name; }
  const KeyHasher& hasher() const noexcept { return options_.terms.hasher; }
  NodeDirectory& directory() noexcept { return directory_; }
  const NodeDirectory& directory() const noexcept { return directory_; }
  const RedisBus& bus() const noexcept { return bus_; }
  const Totals& totals() const noexcept { return totals_; }

  /// Ordered by name.
  std::vector<Peer> all_peers(Nanoseconds now) const;
  /// Names of the peers that may have the key, sorted.
  std::vector<std::string_view> who_may_have(Hash128 digest) const;
  /// The number of peers whose newest known version is here.
  std::uint64_t num_caught_up() const;

  void add_polled(std::vector<pollfd>& polled) const { bus_.add_polled(polled); }
  /// Processes incoming messages; throws std::runtime_error if another node has taken our name.
  void receive(const std::vector<pollfd>& polled, Nanoseconds now);
  /// Sends what is due.
  void send(Nanoseconds now);
  /// The latest time for the next call of both.
  Nanoseconds deadline() const;

  /// Publishes what is pending as soon as possible, whatever is due.
  void publish_now() noexcept { hurry_ = true; }
  /// Whether Redis has everything that there is to publish.
  bool is_published() const;

 private:
  /// A request for the full copy of a peer that is missing here.
  struct Request {
    Nanoseconds due = 0;
    int num_sent = 0;
  };
  struct Heard {
    Nanoseconds at = 0;
    std::optional<Request> request;
  };

  void take(std::string_view channel, std::string_view bytes, Nanoseconds now);
  void take_summary(std::string_view peer, std::span<const std::byte> bytes, Nanoseconds now);
  void take_own(const SummaryMessage& message) const;
  void take_request(std::span<const std::byte> bytes);
  void refuse(std::string_view peer, std::string_view why);

  bool is_version_due(Nanoseconds now) const;
  void send_requests(Nanoseconds now);
  void send_summary(std::span<const std::byte> message, Nanoseconds now);
  void forget_silent(Nanoseconds now);
  Nanoseconds drawn(Nanoseconds most);

  Options options_;
  NodeDirectory directory_;
  SummarySet peers_;
  std::string prefix_;
  std::string summary_channel_;
  std::string request_channel_;
  std::string hello_channel_;
  RedisBus bus_;
  Totals totals_;

  bool hurry_ = false;
  std::vector<std::byte> request_;   // the request to answer next; empty if there is none
  std::uint64_t request_epoch_ = 0;  // the epoch that its sender knows
  std::uint64_t num_connections_seen_ = 0;
  Nanoseconds published_at_;
  Nanoseconds next_answer_;
  Nanoseconds next_heartbeat_;
  Nanoseconds next_greeting_;  // no heartbeat in answer to hellos before this time
  Nanoseconds next_forgetting_;
  std::map<std::string, Heard, std::less<>> heard_;
  std::set<std::string, std::less<>> said_;
  std::mt19937_64 random_;
};

}  // namespace tally::cli
