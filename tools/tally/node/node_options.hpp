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
