#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tally/summaries/terms.hpp"
#include "text/duration.hpp"

namespace tally::cli {

struct NodeOptions {
  std::string name;
  std::string group = "default";
  double share_of_new_keys = 0.01;                     ///< publish at this share; not before interval / 10
  Nanoseconds interval = nanoseconds_per_second;       ///< publish changes after this time
  Nanoseconds heartbeat = 5 * nanoseconds_per_second;  ///< the longest time without a message
  Nanoseconds forget = 600 * nanoseconds_per_second;   ///< a peer that is silent for longer is removed
  std::size_t max_message_bytes = std::size_t{32} << 20;
  std::uint32_t max_new_peers_per_second = 100;
  /// Until SummaryNode::announce, it answers and follows, but publishes nothing.
  bool announces_later = false;
  /// Sends every message in format version 1 too, for nodes that read no other.
  bool with_version_1 = false;
  SummaryTerms terms;
};

/// What a node has done so far.
struct NodeTotals {
  std::uint64_t num_versions_sent = 0;  ///< deltas, and full copies if those were shorter
  std::uint64_t num_copies_stored = 0;  ///< full copies, for a version or on request
  std::uint64_t num_copies_fetched = 0;
  std::uint64_t num_heartbeats_sent = 0;
  std::uint64_t num_requests_sent = 0;
  std::uint64_t num_bytes_sent = 0;  ///< of messages and copies
  std::uint64_t num_received = 0;
  std::uint64_t num_bytes_received = 0;     ///< of messages and copies
  std::uint64_t num_refused = 0;            ///< messages that were invalid, or not on our terms
  std::uint64_t num_not_authentic = 0;      ///< of them, those without the MAC of the group's key
  std::uint64_t num_name_conflicts = 0;     ///< messages of another node with our name
  std::uint64_t num_strangers_removed = 0;  ///< peers that made room for new ones
};

/// The names under which a node and its group meet.
struct NodeChannels {
  explicit NodeChannels(const NodeOptions& options)
      : prefix("tally:" + options.group + ":"),
        own_summary(prefix + "summary:" + options.name),
        own_request(request_of(options.name)),
        own_copy(copy_of(options.name)),
        hello(prefix + "hello"),
        all_summaries(prefix + "summary:*") {}

  std::string request_of(std::string_view name) const { return prefix + "request:" + std::string(name); }
  /// Not a channel, but the key of the node's full copy.
  std::string copy_of(std::string_view name) const { return prefix + "copy:" + std::string(name); }

  std::string prefix;
  std::string own_summary;
  std::string own_request;
  std::string own_copy;
  std::string hello;
  std::string all_summaries;
};

}  // namespace tally::cli
