#include <fmt/core.h>

#include <iterator>

#include "node/node_api.hpp"
#include "node/status_json.hpp"

namespace tally::cli {
namespace {

/// Metrics in the order in which they are added, each with its help and type.
class MetricsText {
 public:
  void add(std::string_view name, std::string_view type, std::string_view help, double value) {
    begin(name, type, help);
    fmt::format_to(std::back_inserter(text_), "{} {}\n", full(name), value);
  }

  void begin(std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(std::back_inserter(text_), "# HELP {0} {1}\n# TYPE {0} {2}\n", full(name), help, type);
  }
  void add_of_peer(std::string_view name, std::string_view peer, double value) {
    fmt::format_to(std::back_inserter(text_), "{}{{peer=\"{}\"}} {}\n", full(name), peer, value);
  }

  std::string take() { return std::move(text_); }

 private:
  static std::string full(std::string_view name) { return "tally_node_" + std::string(name); }
  std::string text_;
};

}  // namespace

std::string metrics_text(const NodeApi& api, Nanoseconds now) {
  const SummaryNode& node = api.node_;
  const NodeTotals& totals = node.totals();
  const PendingChanges pending = node.directory().pending();
  MetricsText text;
  const auto gauge = [&](std::string_view name, std::string_view help, auto value) {
    text.add(name, "gauge", help, static_cast<double>(value));
  };
  const auto counter = [&](std::string_view name, std::string_view help, auto value) {
    text.add(name, "counter", help, static_cast<double>(value));
  };
  gauge("up", "Whether the node is connected to the Redis server.", node.bus().is_up());
  gauge("publishing", "Whether it sends its own summary.", node.own().is_publishing());
  gauge("keys", "Keys that it holds.", pending.num_keys);
  gauge("pending_changes", "Insertions and removals that no version has yet.",
        pending.num_inserted + pending.num_removed);
  gauge("copies_bytes", "Memory of the copies of all peers.", node.peers().copies().num_bytes());
  counter("versions_sent_total", "Versions of its summary that were sent.", totals.num_versions_sent);
  counter("copies_stored_total", "Full copies of it that were stored on the server.",
          totals.num_copies_stored);
  counter("copies_fetched_total", "Full copies of peers that were fetched.", totals.num_copies_fetched);
  counter("heartbeats_sent_total", "Messages that only confirm the last version.",
          totals.num_heartbeats_sent);
  counter("requests_sent_total", "Requests for full copies: versions that were lost.",
          totals.num_requests_sent);
  counter("sent_bytes_total", "Bytes of messages and copies that were sent.", totals.num_bytes_sent);
  counter("messages_received_total", "Messages of peers.", totals.num_received);
  counter("received_bytes_total", "Bytes of messages and copies that were received.",
          totals.num_bytes_received);
  counter("messages_refused_total", "Messages that were invalid or from strangers.", totals.num_refused);
  counter("messages_not_authentic_total", "Those of them without the proof that the key of the group makes.",
          totals.num_not_authentic);
  counter("name_conflicts_total", "Messages of another node with the same name.", totals.num_name_conflicts);
  counter("strangers_removed_total", "Peers that made room for new ones.", totals.num_strangers_removed);
  counter("connections_lost_total", "Connections to the server that ended early.", node.bus().num_losses());
  counter("changes_refused_total",
          "Insertions into a full filter, and removals of keys that were certainly absent.",
          node.directory().num_refused());
  counter("lookups_total", "Keys that were asked for over HTTP.", api.num_lookups_);
  counter("lookups_maybe_total", "Those of them that some peer may have.", api.num_maybe_);
  counter("http_requests_total", "Requests over HTTP.", api.num_requests_);
  counter("http_requests_refused_total", "Those of them that were refused.", api.num_refused_);

  const std::vector<FollowedPeers::Peer> peers = node.peers().all(now);
  gauge("peers", "Peers with a copy here.", peers.size());
  const auto of_peers = [&](std::string_view name, std::string_view help, auto value) {
    text.begin(name, "gauge", help);
    for (const FollowedPeers::Peer& peer : peers)
      if (const std::optional<double> known = value(peer)) text.add_of_peer(name, peer.name, *known);
  };
  using Peer = FollowedPeers::Peer;
  of_peers("peer_current", "Whether the newest known version of the peer is here.",
           [](const Peer& peer) { return std::optional(peer.is_current ? 1.0 : 0.0); });
  of_peers("peer_age_seconds", "Time since the copy was known to equal the peer's own.", age_seconds);
  of_peers("peer_silent_seconds", "Time since the last message of the peer.",
           [](const Peer& peer) { return std::optional(static_cast<double>(peer.silent) / 1e9); });
  of_peers("peer_versions_behind", "Versions that are known and not here.",
           [](const Peer& peer) -> std::optional<double> {
             const auto behind = peer.status.num_versions_behind();
             return behind ? std::optional(static_cast<double>(*behind)) : std::nullopt;
           });
  of_peers("peer_false_positive_rate", "Probability that the copy finds a key which the peer does not hold.",
           [](const Peer& peer) { return std::optional(peer.false_positive_rate); });
  of_peers("peer_copy_bytes", "Memory of the copy.",
           [](const Peer& peer) { return std::optional(static_cast<double>(peer.num_bytes)); });
  return text.take();
}

}  // namespace tally::cli
