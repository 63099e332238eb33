#include "node/redis_bus.hpp"

#include <fmt/core.h>
#include <hiredis/hiredis.h>

#include <algorithm>
#include <array>

#include "node/polled_events.hpp"
#include "tally/redis_client/reply_text.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

using redis_client::text_of;
using redis_client::word_of;

constexpr Nanoseconds least_pause = nanoseconds_per_second / 20;
constexpr Nanoseconds most_pause = 5 * nanoseconds_per_second;
// If another server may take over at any time, the nodes must find it soon, and all about then.
constexpr Nanoseconds most_pause_with_choice = nanoseconds_per_second;
// A connection that breaks sooner was not a success: the pause before the next one continues to double.
constexpr Nanoseconds success = 10 * nanoseconds_per_second;

// Besides the message itself, a reply has the channel, the pattern and some lengths.
constexpr std::size_t reply_overhead = 4096;

}  // namespace

RedisBus::RedisBus(Options options, HostNames& names, Nanoseconds now)
    : options_(std::move(options)),
      servers_(options_.servers, options_.publish_servers, names),
      names_(names),
      pause_(least_pause),
      next_try_(now),
      random_(std::random_device{}()) {
  choose(now);
}

bool RedisBus::is_ready() const noexcept { return is_up() && publisher_->num_unsent_bytes() == 0; }

void RedisBus::choose(Nanoseconds now) {
  servers_.begin(now);
  take_choice(now);
}

void RedisBus::take_choice(Nanoseconds now) {
  is_choosing_ = servers_.is_searching();
  if (is_choosing_) return;
  if (!servers_.has_found()) return lose(servers_.faults(), now);
  servers_.use_found();
  connect(now);
}

// Whether another server is to be used: an earlier one of the list that is back, or the new master of the sentinels.
void RedisBus::look(Nanoseconds now) {
  if (!is_looking_ && now >= next_look_) {
    servers_.begin(now);
    is_looking_ = true;
  }
  if (!is_looking_ || servers_.is_searching()) return;
  is_looking_ = false;
  plan_look(now);
  if (servers_.has_found_others()) move(now);
}

void RedisBus::plan_look(Nanoseconds now) {
  if (!servers_.has_choice()) return;
  const Nanoseconds longest = servers_.between_searches();
  next_look_ = now + std::uniform_int_distribution<Nanoseconds>(longest / 2, longest)(random_);
}

void RedisBus::move(Nanoseconds now) {
  leave();
  const std::string before = servers_.shown_used();
  servers_.use_found();
  remark(false, fmt::format("Redis at {}: moving to {}", before, servers_.shown_used()));
  says_return_ = true;
  connect(now);
}

// As soon as the servers' names have been looked up.
void RedisBus::connect(Nanoseconds now) {
  const HostNames::Found to_subscribe = names_.find(servers_.to_subscribe(), now);
  const HostNames::Found to_publish = names_.find(servers_.to_publish(), now);
  awaits_names_ = to_subscribe.is_pending() || to_publish.is_pending();
  if (awaits_names_) return;
  for (const HostNames::Found* found : {&to_subscribe, &to_publish}) {
    if (!found->address) return lose(found->fault, now);
  }
  try {
    const std::size_t longest = options_.max_message_bytes + reply_overhead;
    // The answers have at most three elements, and four for a message of a pattern.
    constexpr std::size_t most_elements = 16;
    subscriber_.emplace(*to_subscribe.address, redis_client::ReplyLimits{longest, most_elements}, now);
    publisher_.emplace(*to_publish.address, redis_client::ReplyLimits{reply_overhead, most_elements}, now);
    for (const std::string& channel : options_.channels) {
      const std::array<std::string_view, 2> subscribe{"SUBSCRIBE", channel};
      subscriber_->send(subscribe);
    }
    const std::array<std::string_view, 2> subscribe_pattern{"PSUBSCRIBE", options_.pattern};
    subscriber_->send(subscribe_pattern);
    const std::array<std::string_view, 1> ping{"PING"};
    publisher_->send(ping);  // its answer shows that we may publish
    num_unconfirmed_ = 1;
  } catch (const redis_client::ConnectionError& error) {
    lose(error.what(), now);
  }
}

void RedisBus::leave() {
  subscriber_.reset();
  publisher_.reset();
  num_subscriptions_ = 0;
  num_unconfirmed_ = 0;
  up_since_.reset();
  is_choosing_ = is_looking_ = awaits_names_ = false;
}

void RedisBus::lose(std::string_view why, Nanoseconds now) {
  if (up_since_ && now - *up_since_ >= success) pause_ = least_pause;
  if (up_since_) {
    ++num_losses_;
    loss_said_ = false;
  }
  const std::string where = subscriber_ ? servers_.shown_used() : servers_.shown();
  leave();
  next_try_ = now + std::uniform_int_distribution<Nanoseconds>(pause_ / 2, pause_)(random_);
  pause_ = std::min(2 * pause_, servers_.has_choice() ? most_pause_with_choice : most_pause);
  if (!loss_said_) {
    warn(fmt::format("Redis at {}: {}; trying again", where, why));
    says_return_ = true;
  }
  loss_said_ = true;
}

void RedisBus::reconnect(std::string_view why, Nanoseconds now) {
  if (is_up()) lose(why, now);
}

void RedisBus::publish(std::string_view channel, std::string_view bytes) {
  if (!is_up()) return;
  const std::array<std::string_view, 3> command{"PUBLISH", channel, bytes};
  publisher_->send(command);
  ++num_unconfirmed_;
}

void RedisBus::add_polled(std::vector<pollfd>& polled) const {
  servers_.add_polled(polled);
  if (!subscriber_) return;
  polled.push_back(subscriber_->polled());
  polled.push_back(publisher_->polled());
}

Nanoseconds RedisBus::deadline() const noexcept {
  Nanoseconds earliest = servers_.deadline();
  if (subscriber_) earliest = std::min({earliest, subscriber_->deadline(), publisher_->deadline()});
  if (!subscriber_ && !is_choosing_ && !awaits_names_) earliest = std::min(earliest, next_try_);
  if (may_look() && !is_looking_) earliest = std::min(earliest, next_look_);
  return earliest;
}

void RedisBus::step(const std::vector<pollfd>& polled, Nanoseconds now, const Receive& receive) {
  servers_.step(polled, now);
  if (is_choosing_) return take_choice(now);
  if (awaits_names_) return connect(now);
  if (!subscriber_) {
    if (now >= next_try_) choose(now);
    return;
  }
  try {
    subscriber_->step(events_of(*subscriber_, polled), now);
    publisher_->step(events_of(*publisher_, polled), now);
    take_replies(now, receive);
  } catch (const redis_client::ConnectionError& error) {
    return lose(error.what(), now);
  }
  if (may_look()) look(now);
}

void RedisBus::take_replies(Nanoseconds now, const Receive& receive) {
  while (const redis_client::Reply reply = publisher_->next_reply()) take_publisher_reply(*reply);
  while (const redis_client::Reply reply = subscriber_->next_reply()) take_subscriber_reply(*reply, receive);
  if (is_up() || num_subscriptions_ <= options_.channels.size() || num_unconfirmed_ > 0) return;
  up_since_ = now;
  ++num_connections_;
  plan_look(now);
  std::string used = servers_.shown_used();
  if (!last_used_.empty() && used != last_used_) ++num_failovers_;
  if (says_return_) remark(false, fmt::format("Redis at {}: connected", used));
  last_used_ = std::move(used);
  loss_said_ = says_return_ = false;
}

// Three kinds of arrays: confirmations, messages, and the answer to PING. The answer to AUTH is a status.
void RedisBus::take_subscriber_reply(const redisReply& reply, const Receive& receive) {
  if (reply.type == REDIS_REPLY_ERROR) throw redis_client::ConnectionError(std::string(text_of(reply)));
  const std::string_view kind = word_of(reply, 0);
  if (kind == "subscribe" || kind == "psubscribe") {
    ++num_subscriptions_;
  } else if (kind == "message" && reply.elements == 3) {
    receive(word_of(reply, 1), word_of(reply, 2));
  } else if (kind == "pmessage" && reply.elements == 4) {
    receive(word_of(reply, 2), word_of(reply, 3));
  }
}

void RedisBus::take_publisher_reply(const redisReply& reply) {
  // Before the bus is up, only AUTH or PING can be refused, and then there is no point in continuing.
  if (reply.type == REDIS_REPLY_ERROR && !is_up())
    throw redis_client::ConnectionError(std::string(text_of(reply)));
  if (reply.type == REDIS_REPLY_ERROR) say_refusal(text_of(reply));
  const bool is_of_auth = reply.type == REDIS_REPLY_STATUS && text_of(reply) == "OK";
  const bool is_of_idle_ping = reply.type == REDIS_REPLY_STATUS && is_up();
  if (!is_of_auth && !is_of_idle_ping && num_unconfirmed_ > 0) --num_unconfirmed_;
}

// A message that Redis refused (no permission): each reason is printed once.
void RedisBus::say_refusal(std::string_view text) {
  if (text == last_refusal_) return;
  last_refusal_ = text;
  warn(fmt::format("Redis at {} did not publish: {}", servers_.shown_used(), text));
}

}  // namespace tally::cli
