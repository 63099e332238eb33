#include "node/summary_node.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "tally/summaries/message.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t longest_name = 64;
// Besides the units, a full copy has a header and the name.
constexpr std::uint64_t message_overhead = 512;
// A request without an answer is repeated after twice the time, up to this.
constexpr Nanoseconds longest_between_requests = 30 * nanoseconds_per_second;
// A peer that stays at an earlier epoch after this many requests cannot learn the later one: its copy is
// restarted.
constexpr int most_requests = 5;
// The number of different faults that are printed; more are only counted, so that a noisy stranger does not
// fill the disk.
constexpr std::size_t most_faults_said = 100;
constexpr std::string_view summary_word = "summary:";

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

SummaryTerms terms_of(const SummaryNode::Options& options) {
  SummaryTerms terms = options.terms;
  terms.max_bytes_per_peer = std::min<std::uint64_t>(terms.max_bytes_per_peer, options.max_message_bytes);
  return terms;
}

}  // namespace

bool is_node_name(std::string_view name) noexcept {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= longest_name && std::ranges::all_of(name, is_allowed);
}

void SummaryNode::check(const Options& options, const SummaryLayout& layout) {
  for (const auto& [what, name] : {std::pair{"NAME", &options.name}, std::pair{"--group", &options.group}}) {
    if (is_node_name(*name)) continue;
    throw std::invalid_argument(
        fmt::format("{}: '{}' is not a valid name; give 1 to {} letters, digits, '.', '_' and '-'", what,
                    *name, longest_name));
  }
  const std::uint64_t num_bytes = layout.num_bytes() + message_overhead;
  if (num_bytes > options.max_message_bytes) {
    throw std::invalid_argument(fmt::format(
        "--max-message: a full copy of this summary has {} bytes; the maximum is {}; raise it (and Redis's "
        "client-output-buffer-limit pubsub), or give fewer --keys or a higher --false-positive-rate",
        num_bytes, options.max_message_bytes));
  }
  if (options.forget < 3 * options.heartbeat) {
    throw std::invalid_argument("--forget is too short; must be at least three times --heartbeat");
  }
}

SummaryNode::SummaryNode(const Options& options, NodeDirectory directory,
                         const redis_client::Address& address, Nanoseconds now)
    : options_(options),
      directory_(std::move(directory)),
      peers_(terms_of(options)),
      prefix_(fmt::format("tally:{}:", options.group)),
      summary_channel_(fmt::format("{}{}{}", prefix_, summary_word, options.name)),
      request_channel_(fmt::format("{}request:{}", prefix_, options.name)),
      hello_channel_(fmt::format("{}hello", prefix_)),
      bus_({.address = address,
            .pattern = fmt::format("{}{}*", prefix_, summary_word),
            .channels = {request_channel_, hello_channel_},
            .max_message_bytes = options.max_message_bytes},
           now),
      published_at_(now),
      next_answer_(now),
      next_heartbeat_(now),
      next_greeting_(now),
      next_forgetting_(now + options.heartbeat),
      random_(std::random_device{}()) {
  check(options_, directory_.layout());
}

// Incoming messages.

void SummaryNode::receive(const std::vector<pollfd>& polled, Nanoseconds now) {
  bus_.step(polled, now,
            [&](std::string_view channel, std::string_view bytes) { take(channel, bytes, now); });
  if (bus_.num_connections() > num_connections_seen_) {  // we may have missed something, and others too
    num_connections_seen_ = bus_.num_connections();
    bus_.publish(hello_channel_, options_.name);
    next_heartbeat_ = now;
  }
  forget_silent(now);
}

void SummaryNode::take(std::string_view channel, std::string_view bytes, Nanoseconds now) {
  ++totals_.num_received;
  totals_.num_bytes_received += bytes.size();
  if (channel == hello_channel_) {
    next_greeting_ = std::max(next_greeting_, now + drawn(options_.interval));
    next_heartbeat_ = std::min(next_heartbeat_, next_greeting_);
    return;
  }
  const bool is_request = channel == request_channel_;
  const std::string_view peer =
      is_request ? "a request"
                 : channel.substr(std::min(channel.size(), prefix_.size() + summary_word.size()));
  try {
    if (is_request) {
      take_request(bytes_of(bytes));
    } else if (is_node_name(peer)) {
      take_summary(peer, bytes_of(bytes), now);
    } else {
      refuse("?", "a channel that does not end in a node name");
    }
  } catch (const FormatError& error) {
    refuse(peer, error.what());
  } catch (const std::invalid_argument& error) {
    refuse(peer, error.what());
  }
}

void SummaryNode::take_summary(std::string_view peer, std::span<const std::byte> bytes, Nanoseconds now) {
  const SummaryMessage message = read_summary_message(bytes);
  if (message.publisher != peer) return refuse(peer, "the publisher differs from the channel's node");
  if (message.kind == SummaryMessageKind::request) return refuse(peer, "a request on a channel of summaries");
  if (peer == options_.name) return take_own(message);
  const SummaryStatus& status = peers_.status(peers_.apply(message).peer);
  auto heard = heard_.find(peer);
  if (heard == heard_.end()) heard = heard_.emplace(peer, Heard{}).first;
  heard->second.at = now;
  std::optional<Request>& request = heard->second.request;
  if (!status.needs_full()) {
    request.reset();
  } else if (!request) {
    request = Request{.due = now + drawn(options_.interval)};
  } else if (status.is_contradicted && request->num_sent > most_requests) {
    peers_.remove(peer);
    heard_.erase(heard);
  }
}

// We also receive our own messages. A sender with a later version than ours is another node with our name.
void SummaryNode::take_own(const SummaryMessage& message) const {
  if (message.version <= directory_.version()) return;
  throw std::runtime_error(fmt::format(
      "another node is named '{}' and was started later (epoch {}; ours is {}); give each node its own name",
      options_.name, message.version.epoch, directory_.version().epoch));
}

// One request is stored for all, because all receive the answer: the one with the latest epoch, which ours
// must exceed.
void SummaryNode::take_request(std::span<const std::byte> bytes) {
  const SummaryMessage message = read_summary_message(bytes);
  if (message.kind != SummaryMessageKind::request || message.publisher != options_.name) {
    return refuse("a request", "it is not for this node");
  }
  if (!request_.empty() && message.version.epoch <= request_epoch_) return;
  request_.assign(bytes.begin(), bytes.end());
  request_epoch_ = message.version.epoch;
}

void SummaryNode::refuse(std::string_view peer, std::string_view why) {
  ++totals_.num_refused;
  if (said_.size() >= most_faults_said) return;
  std::string text = fmt::format("refused a message from {}: {}", peer, why);
  const auto [position, is_new] = said_.insert(std::move(text));
  if (!is_new) return;
  remark(false, *position);
  if (said_.size() == most_faults_said) remark(false, "further message errors are only counted");
}

void SummaryNode::forget_silent(Nanoseconds now) {
  if (now < next_forgetting_ || !bus_.is_up()) return;
  const bool was_stopped = now > next_forgetting_ + options_.heartbeat;  // and may have messages to read
  next_forgetting_ = now + options_.heartbeat;
  if (was_stopped) return;
  for (auto peer = heard_.begin(); peer != heard_.end();) {
    if (now - std::max(peer->second.at, *bus_.up_since()) <= options_.forget) {
      ++peer;
      continue;
    }
    remark(false,
           fmt::format("forgot '{}', which was silent for {}", peer->first, duration_text(options_.forget)));
    peers_.remove(peer->first);
    peer = heard_.erase(peer);
  }
}

// Outgoing messages.

bool SummaryNode::is_version_due(Nanoseconds now) const {
  const PendingChanges pending = directory_.pending();
  const bool is_first = directory_.version().sequence == 0;
  if (hurry_ && (is_first || pending.any())) return true;
  const Nanoseconds since = now - published_at_;
  if (is_first) return since >= options_.interval;
  const SendPolicy policy{
      .share_of_new_keys = options_.share_of_new_keys,
      .interval = std::chrono::microseconds(std::max<Nanoseconds>(1, options_.interval / 1000))};
  return since >= options_.interval / 10 && policy.is_due(pending, std::chrono::microseconds(since / 1000));
}

void SummaryNode::send(Nanoseconds now) {
  if (!bus_.is_ready()) return;
  if (is_version_due(now)) {
    send_summary(directory_.publish(), now);
    published_at_ = now;
    ++totals_.num_versions_sent;
  }
  hurry_ = false;
  if (!request_.empty() && now >= next_answer_ && directory_.version().sequence > 0) {
    send_summary(directory_.answer(read_summary_message(request_)), now);
    request_.clear();
    next_answer_ = now + options_.interval;
    ++totals_.num_answers_sent;
  }
  if (now >= next_heartbeat_ && directory_.version().sequence > 0) {
    send_summary(directory_.heartbeat(), now);
    next_greeting_ = now + options_.interval;
    ++totals_.num_heartbeats_sent;
  }
  send_requests(now);
}

void SummaryNode::send_summary(std::span<const std::byte> message, Nanoseconds now) {
  bus_.publish(summary_channel_, text_of(message));
  totals_.num_bytes_sent += message.size();
  next_heartbeat_ = now + options_.heartbeat - drawn(options_.heartbeat / 10);
}

void SummaryNode::send_requests(Nanoseconds now) {
  for (auto& [name, heard] : heard_) {
    if (!heard.request || now < heard.request->due) continue;
    const std::vector<std::byte> message = peers_.request(*peers_.find(name));
    bus_.publish(fmt::format("{}request:{}", prefix_, name), text_of(message));
    totals_.num_bytes_sent += message.size();
    ++totals_.num_requests_sent;
    const int num_doublings = std::min(++heard.request->num_sent, 20);
    const Nanoseconds pause = std::min(options_.interval, longest_between_requests >> num_doublings)
                              << num_doublings;
    heard.request->due = now + pause + drawn(options_.interval);
  }
}

Nanoseconds SummaryNode::drawn(Nanoseconds most) {
  return std::uniform_int_distribution<Nanoseconds>(0, most)(random_);
}

Nanoseconds SummaryNode::deadline() const {
  Nanoseconds earliest = std::min(bus_.deadline(), next_forgetting_);
  if (!bus_.is_ready()) return bus_.deadline();
  const bool is_first = directory_.version().sequence == 0;
  if (!is_first) earliest = std::min(earliest, next_heartbeat_);
  if (is_first || directory_.pending().any()) {
    const Nanoseconds soonest = published_at_ + options_.interval / 10;
    const bool waits_for_spacing = !is_first && is_version_due(soonest);
    earliest = std::min(earliest, waits_for_spacing ? soonest : published_at_ + options_.interval);
  }
  if (!request_.empty() && !is_first) earliest = std::min(earliest, next_answer_);
  for (const auto& [name, heard] : heard_) {
    if (heard.request) earliest = std::min(earliest, heard.request->due);
  }
  return earliest;
}

bool SummaryNode::is_published() const {
  const PendingChanges pending = directory_.pending();
  // A node that never had a key need not wait for a server to publish that.
  if (directory_.version().sequence == 0) return pending.num_keys == 0 && !bus_.is_up();
  return bus_.is_up() && bus_.is_idle() && !pending.any();
}

// Queries.

std::vector<SummaryNode::Peer> SummaryNode::all_peers(Nanoseconds now) const {
  std::vector<Peer> all;
  for (const auto& [name, heard] : heard_) {
    const SummarySet::Peer peer = *peers_.find(name);
    const SummaryLayout* const layout = peers_.layout(peer);
    all.push_back({.name = name,
                   .status = peers_.status(peer),
                   .silent = now - heard.at,
                   .false_positive_rate = peers_.estimated_false_positive_rate(peer),
                   .num_bytes = layout == nullptr ? 0 : layout->num_bytes()});
  }
  return all;
}

std::vector<std::string_view> SummaryNode::who_may_have(Hash128 digest) const {
  std::vector<std::string_view> names;
  for (const SummarySet::Peer peer : peers_.who_may_have(digest)) names.push_back(peers_.name(peer));
  std::ranges::sort(names);
  return names;
}

std::uint64_t SummaryNode::num_caught_up() const {
  std::uint64_t number = 0;
  peers_.for_each_peer([&](SummarySet::Peer peer) { number += peers_.status(peer).is_current(); });
  return number;
}

}  // namespace tally::cli
