#include "node/status_json.hpp"

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
  return Json{{"name", node.name()},
              {"is_connected", node.bus().is_up()},
              {"redis", used ? Json(node.bus().servers().to_subscribe().shown()) : Json()},
              {"publish_redis", used ? Json(node.bus().servers().to_publish().shown()) : Json()},
              {"is_publishing", node.own().is_publishing()},
              {"num_connections_lost", node.bus().num_losses()},
              {"num_failovers", node.bus().num_failovers()},
              {"epoch", node.directory().version().epoch},
              {"sequence", node.directory().version().sequence},
              {"keys", pending.num_keys},
              {"pending_changes", pending.num_inserted + pending.num_removed},
              {"versions_sent", totals.num_versions_sent},
              {"copies_stored", totals.num_copies_stored},
              {"copies_fetched", totals.num_copies_fetched},
              {"heartbeats_sent", totals.num_heartbeats_sent},
              {"requests_sent", totals.num_requests_sent},
              {"bytes_sent", totals.sent.total()},
              {"messages_received", totals.num_received},
              {"bytes_received", totals.num_bytes_received},
              {"messages_refused", totals.num_refused()},
              {"messages_not_authentic", totals.num_refused(MessageRefusal::not_authentic)},
              {"versions_lost", totals.num_gaps},
              {"versions_repaired", totals.num_gaps_closed},
              {"lookups", totals.num_lookups},
              {"lookups_maybe", totals.num_lookups_maybe},
              {"name_conflicts", totals.num_name_conflicts},
              {"strangers_removed", totals.num_strangers_removed},
              {"copies_num_bytes", node.peers().copies().num_bytes()},
              {"changes_refused", node.directory().num_refused()}};
}

}  // namespace tally::cli
