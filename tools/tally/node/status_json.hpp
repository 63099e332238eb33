#pragma once

#include "node/summary_node.hpp"
#include "text/json.hpp"

namespace tally::cli {

/// What !status and GET /peers say of a node, and of one of its peers.
Json node_json(const SummaryNode& node);
Json peer_json(const FollowedPeers::Peer& peer);

}  // namespace tally::cli
