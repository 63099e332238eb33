#pragma once

#include <optional>

#include "node/summary_node.hpp"
#include "text/json.hpp"

namespace tally::cli {

/// What !status and GET /peers say of a node, and of one of its peers.
Json node_json(const SummaryNode& node);
Json peer_json(const FollowedPeers::Peer& peer);

/// Time since the copy was known to equal the peer's own; none if it never was.
std::optional<double> age_seconds(const FollowedPeers::Peer& peer);

}  // namespace tally::cli
