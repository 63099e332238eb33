#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "node/copy_store.hpp"
#include "node/directory.hpp"
#include "node/followed_peers.hpp"
#include "node/host_names.hpp"
#include "node/node_options.hpp"
#include "node/node_totals.hpp"
#include "node/own_summary.hpp"
#include "node/redis_bus.hpp"
#include "text/duration.hpp"

namespace tally::cli {

/// Letters, digits, '.', '_' and '-', 1 to 64 of them: usable in a channel's name and between blanks.
bool is_node_name(std::string_view name) noexcept;

/// One node of a group: keeps its summary published (OwnSummary), and follows those of the others (FollowedPeers), over a
/// RedisBus and a CopyStore.
///
/// Messages of a node go to the channel tally:GROUP:summary:NODE, its full copy to the key tally:GROUP:copy:NODE, and requests
/// for it to the channel tally:GROUP:request:NODE. A node that connects, or reconnects, announces itself on tally:GROUP:hello,
/// and all others send a heartbeat soon. A lost message is detected by the version in the next message or heartbeat. A node
/// stores at most one full copy per interval, however many nodes ask for it.
class SummaryNode {
 public:
  /// Throws std::invalid_argument for invalid names, and if a full copy of that layout does not fit into a
  /// message. Call it before the filter is made.
  static void check(const NodeOptions& options, const SummaryLayout& layout);

  /// `publish_servers` if messages are published, and copies kept, elsewhere than at `servers`. Throws what check throws.
  SummaryNode(const NodeOptions& options, NodeDirectory directory, redis_client::Servers servers,
              std::optional<redis_client::Servers> publish_servers, Nanoseconds now);
  SummaryNode(const SummaryNode&) = delete;  // its halves point to each other
  SummaryNode& operator=(const SummaryNode&) = delete;

  const std::string& name() const noexcept { return options_.name; }
  const KeyHasher& hasher() const noexcept { return options_.terms.hasher; }
  NodeDirectory& directory() noexcept { return directory_; }
  const NodeDirectory& directory() const noexcept { return directory_; }
  const RedisBus& bus() const noexcept { return bus_; }
  const NodeTotals& totals() const noexcept { return totals_; }
  OwnSummary& own() noexcept { return own_; }
  const OwnSummary& own() const noexcept { return own_; }
  FollowedPeers& peers() noexcept { return peers_; }
  const FollowedPeers& peers() const noexcept { return peers_; }

  void add_polled(std::vector<pollfd>& polled) const;
  /// Processes incoming messages and copies.
  void receive(const std::vector<pollfd>& polled, Nanoseconds now);
  /// Sends what is due.
  void send(Nanoseconds now);
  /// The latest time for the next call of both.
  Nanoseconds deadline() const;

 private:
  void take(std::string_view channel, std::string_view bytes, Nanoseconds now);
  void take_message(std::string_view channel, std::span<const std::byte> bytes, Nanoseconds now);

  NodeOptions options_;
  NodeChannels channels_;
  NodeTotals totals_;
  NodeDirectory directory_;
  HostNames names_;
  RedisBus bus_;
  CopyStore store_;
  FollowedPeers peers_;
  OwnSummary own_;
  std::uint64_t num_connections_seen_ = 0;
};

}  // namespace tally::cli
