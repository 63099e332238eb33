#include "node/status_json.hpp"

#include <string>

#include "node/named_totals.hpp"

namespace tally::cli {
namespace {

double seconds(Nanoseconds time) { return static_cast<double>(time) / 1e9; }

}  // namespace

std::optional<double> age_seconds(const FollowedPeers::Peer& peer) {
  const auto age = peer.status.age(summary_time_now());
  return age ? std::optional(static_cast<double>(age->count()) / 1e6) : std::nullopt;
}

Json peer_json(const FollowedPeers::Peer& peer) {
  const SummaryStatus& status = peer.status;
  return Json{{"name", peer.name},
              {"is_current", peer.is_current},
              {"epoch", status.held.epoch},
              {"sequence", status.held.sequence},
              {"versions_behind", json_or_null(status.num_versions_behind())},
              {"age_seconds", json_or_null(age_seconds(peer))},
              {"silent_seconds", seconds(peer.silent)},
              {"false_positive_rate", peer.false_positive_rate},
              {"num_bytes", peer.num_bytes},
              {"format_version", peer.format_version},
              {"bytes_received", peer.received.total()},
              {"lookups_maybe", peer.num_lookups_maybe},
              {"false_positives", peer.num_false_positives}};
}

Json node_json(const SummaryNode& node) {
  const NodeTotals& totals = node.totals();
  const PendingChanges pending = node.directory().pending();
  const bool used = node.bus().is_up();
  Json json{{"name", node.name()},
            {"is_connected", node.bus().is_up()},
            {"redis", used ? Json(node.bus().servers().to_subscribe().shown()) : Json()},
            {"publish_redis", used ? Json(node.bus().servers().to_publish().shown()) : Json()},
            {"is_publishing", node.own().is_publishing()},
            {"num_connections_lost", node.bus().num_losses()},
            {"num_failovers", node.bus().num_failovers()},
            {"epoch", node.directory().version().epoch},
            {"sequence", node.directory().version().sequence},
            {"keys", pending.num_keys},
            {"pending_changes", pending.num_inserted + pending.num_removed}};
  for (const NamedTotal& total : named_totals) json[total.name] = totals.*total.number;
  json["bytes_sent"] = totals.sent.total();
  json["bytes_received"] = totals.num_bytes_received;
  json["messages_refused"] = totals.num_refused();
  for (std::size_t reason = 0; reason < refusal_names.size(); ++reason)
    json["messages_" + std::string(refusal_names[reason])] = totals.refused[reason];
  json["copies_num_bytes"] = node.peers().copies().num_bytes();
  json["changes_refused"] = node.directory().num_refused();
  return json;
}

}  // namespace tally::cli
