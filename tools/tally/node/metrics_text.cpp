#include <fmt/core.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "node/named_totals.hpp"
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
  void add_with_label(std::string_view name, std::string_view label, std::string_view text, double value) {
    fmt::format_to(std::back_inserter(text_), "{}{{{}=\"{}\"}} {}\n", full(name), label, text, value);
  }
  void add_of_peer(std::string_view name, std::string_view peer, double value) {
    add_with_label(name, "peer", peer, value);
  }
  void add_of_peer_and_kind(std::string_view name, std::string_view peer, SummaryMessageKind kind,
                            double value) {
    fmt::format_to(std::back_inserter(text_), "{}{{peer=\"{}\",kind=\"{}\"}} {}\n", full(name), peer,
                   tally::name_of(kind), value);
  }
  /// Of the process: the name that every exporter uses.
  void add_resident_memory(double num_bytes) {
    fmt::format_to(std::back_inserter(text_),
                   "# HELP process_resident_memory_bytes Memory of this process.\n"
                   "# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes {}\n",
                   num_bytes);
  }

  /// A metric that tells a text, as its label.
  void add_text(std::string_view name, std::string_view help, std::string_view label,
                std::string_view value) {
    begin(name, "gauge", help);
    std::string text;
    for (const char c : value) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    add_with_label(name, label, text, 1);
  }

  std::string take() { return std::move(text_); }

 private:
  static std::string full(std::string_view name) { return "tally_node_" + std::string(name); }
  std::string text_;
};

std::optional<std::uint64_t> resident_bytes() {
  std::uint64_t all_pages = 0;
  std::uint64_t pages = 0;
  if (!(std::ifstream("/proc/self/statm") >> all_pages >> pages)) return std::nullopt;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

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
  if (node.bus().is_up()) {
    const BusServers& servers = node.bus().servers();
    text.add_text("server_info", "The server that it subscribes to.", "redis",
                  servers.to_subscribe().shown());
    text.add_text("publish_server_info", "The server where it publishes and keeps its full copy.", "redis",
                  servers.to_publish().shown());
  }
  gauge("publishing", "Whether it sends its own summary.", node.own().is_publishing());
  gauge("keys", "Keys that it holds.", pending.num_keys);
  gauge("pending_changes", "Insertions and removals that no version has yet.",
        pending.num_inserted + pending.num_removed);
  gauge("copies_bytes", "Memory of the copies of all peers.", node.peers().copies().num_bytes());
  for (const NamedTotal& total : named_totals)
    counter(std::string(total.name) + "_total", total.help, totals.*total.number);
  text.begin("sent_bytes_total", "counter",
             "Bytes of messages to all peers, and of copies that were stored.");
  for (const SummaryMessageKind kind : BytesByKind::kinds)
    text.add_with_label("sent_bytes_total", "kind", tally::name_of(kind),
                        static_cast<double>(totals.sent.of(kind)));
  counter("received_bytes_total", "Bytes of messages of other nodes, and of copies that were fetched.",
          totals.num_bytes_received);
  text.begin("messages_refused_total", "counter", "Messages that were refused, by reason.");
  for (std::size_t reason = 0; reason < refusal_names.size(); ++reason)
    text.add_with_label("messages_refused_total", "reason", refusal_names[reason],
                        static_cast<double>(totals.refused[reason]));
  counter("connections_lost_total", "Connections to the server that broke.", node.bus().num_losses());
  counter("failovers_total", "Times that it connected to another server than before.",
          node.bus().num_failovers());
  counter("changes_refused_total",
          "Insertions into a full filter, and removals of keys that were certainly absent.",
          node.directory().num_refused());
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
  text.begin("peer_received_bytes_total", "counter", "Bytes of messages and copies of the peer.");
  for (const Peer& peer : peers)
    for (const SummaryMessageKind kind : BytesByKind::kinds)
      if (kind != SummaryMessageKind::request)
        text.add_of_peer_and_kind("peer_received_bytes_total", peer.name, kind,
                                  static_cast<double>(peer.received.of(kind)));
  text.begin("peer_sent_bytes_total", "counter", "Bytes of messages to this peer only.");
  for (const Peer& peer : peers)
    text.add_of_peer_and_kind("peer_sent_bytes_total", peer.name, SummaryMessageKind::request,
                              static_cast<double>(peer.num_request_bytes_sent));
  const auto count_of_peers = [&](std::string_view name, std::string_view help, auto value) {
    text.begin(name, "counter", help);
    for (const Peer& peer : peers) text.add_of_peer(name, peer.name, static_cast<double>(value(peer)));
  };
  count_of_peers("peer_lookups_maybe_total", "Keys that were asked for and that the peer may have.",
                 [](const Peer& peer) { return peer.num_lookups_maybe; });
  count_of_peers("peer_false_positives_total", "Those of them that it did not have, as clients reported.",
                 [](const Peer& peer) { return peer.num_false_positives; });
  if (const auto num_bytes = resident_bytes()) text.add_resident_memory(static_cast<double>(*num_bytes));
  return text.take();
}

}  // namespace tally::cli
