#include "node/summary_node.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "tally/summaries/message.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t longest_name = 64;
// Besides the units, a full copy has a header, the name and a MAC.
constexpr std::uint64_t message_overhead = 512;

}  // namespace

bool is_node_name(std::string_view name) noexcept {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= longest_name && std::ranges::all_of(name, is_allowed);
}

void SummaryNode::check(const NodeOptions& options, const SummaryLayout& layout) {
  for (const auto& [what, name] : {std::pair{"NAME", &options.name}, std::pair{"--group", &options.group}}) {
    if (is_node_name(*name)) continue;
    throw std::invalid_argument(
        fmt::format("{}: '{}' is not a valid name; give 1 to {} letters, digits, '.', '_' and '-'", what,
                    *name, longest_name));
  }
  const std::uint64_t num_bytes = layout.num_bytes() + message_overhead;
  if (num_bytes > options.max_message_bytes) {
    throw std::invalid_argument(fmt::format(
        "--max-message: a full copy of this summary has {} bytes; the maximum is {}; raise it, or give fewer "
        "--keys or a higher --false-positive-rate",
        num_bytes, options.max_message_bytes));
  }
  if (options.forget < 3 * options.heartbeat) {
    throw std::invalid_argument("--forget is too short; must be at least three times --heartbeat");
  }
}

SummaryNode::SummaryNode(const NodeOptions& options, NodeDirectory directory, redis_client::Servers servers,
                         std::optional<redis_client::Servers> publish_servers, Nanoseconds now)
    : options_(options),
      channels_(options_),
      directory_(std::move(directory)),
      bus_({.servers = std::move(servers),
            .publish_servers = std::move(publish_servers),
            .pattern = channels_.all_summaries,
            .channels = {channels_.own_request, channels_.hello},
            .max_message_bytes = options.max_message_bytes},
           names_, now),
      store_({.max_copy_bytes = options.max_message_bytes}, names_),
      peers_(options_, channels_, totals_, bus_, store_, now),
      own_(options_, channels_, totals_, directory_, bus_, store_, now) {
  check(options_, directory_.layout());
}

void SummaryNode::add_polled(std::vector<pollfd>& polled) const {
  names_.add_polled(polled);
  bus_.add_polled(polled);
  store_.add_polled(polled);
}

void SummaryNode::receive(const std::vector<pollfd>& polled, Nanoseconds now) {
  names_.step(now);
  store_.step(polled, now);
  bus_.step(polled, now,
            [&](std::string_view channel, std::string_view bytes) { take(channel, bytes, now); });
  if (store_.take_demotion()) bus_.reconnect("it has become a replica and takes no copies", now);
  store_.use(bus_.servers().to_publish(), now);
  if (bus_.num_connections() > num_connections_seen_) {  // we may have missed something, and others too
    num_connections_seen_ = bus_.num_connections();
    bus_.publish(channels_.hello, options_.name);
    own_.take_reconnection(now);
  }
  peers_.forget_silent(now);
}

void SummaryNode::take(std::string_view channel, std::string_view bytes, Nanoseconds now) {
  const auto count = [&] {
    ++totals_.num_received;
    totals_.num_bytes_received += bytes.size();
  };
  if (channel == channels_.hello) {
    if (bytes != options_.name) count();
    return own_.take_hello(now);
  }
  const std::size_t name_at = channels_.all_summaries.size() - 1;
  const std::string_view sender =
      channel == channels_.own_request ? "a request" : channel.substr(std::min(channel.size(), name_at));
  if (sender != options_.name) count();  // the server sends us our own, too
  try {
    take_message(channel, std::as_bytes(std::span(bytes)), now);
  } catch (const std::exception&) {
    peers_.refuse_for_exception(is_node_name(sender) || channel == channels_.own_request ? sender : "?");
  }
}

void SummaryNode::take_message(std::string_view channel, std::span<const std::byte> bytes, Nanoseconds now) {
  const bool is_request = channel == channels_.own_request;
  const std::size_t name_at = channels_.all_summaries.size() - 1;
  const std::string_view sender = channel.substr(std::min(channel.size(), name_at));
  if (!is_request && !is_node_name(sender)) {
    throw std::invalid_argument("a channel that does not end in a node name");
  }
  const SummaryMessage message = read_summary_message(bytes);
  // The name first: errors repeat it, and this one is known to be a name.
  if (message.publisher != (is_request ? options_.name : sender)) {
    throw std::invalid_argument(is_request ? "it is not for this node"
                                           : "the publisher differs from the channel's node");
  }
  if ((message.kind == SummaryMessageKind::request) != is_request) {
    throw std::invalid_argument(is_request ? "it is no request" : "a request on a channel of summaries");
  }
  require_authentic(options_.terms, message);
  if (is_request) return own_.take_request(message, bytes);
  sender == options_.name ? own_.take_own(message, now) : peers_.take(message, now);
}

void SummaryNode::send(Nanoseconds now) {
  own_.send_due(now);
  peers_.send_due(now);
}

Nanoseconds SummaryNode::deadline() const {
  return std::min(
      {names_.deadline(), bus_.deadline(), store_.deadline(), peers_.deadline(), own_.deadline()});
}

}  // namespace tally::cli
