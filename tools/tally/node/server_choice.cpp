#include "node/server_choice.hpp"

#include <fmt/core.h>
#include <hiredis/hiredis.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "node/ip_address.hpp"
#include "node/polled_events.hpp"
#include "tally/redis_client/reply_text.hpp"

namespace tally::cli {
namespace {

using redis_client::Address;
using redis_client::ConnectionError;

constexpr Nanoseconds patience_with_sentinel = 2 * nanoseconds_per_second;
constexpr Nanoseconds patience_with_server = 5 * nanoseconds_per_second;
// Shorter, because the next answer of a sentinel may be another one.
constexpr Nanoseconds patience_with_master = 2 * nanoseconds_per_second;
constexpr Nanoseconds between_searches_for_better = 2 * nanoseconds_per_second;
constexpr Nanoseconds between_searches_of_best = 5 * nanoseconds_per_second;
// The longest answer is that to ROLE of a master, with all its replicas.
constexpr std::size_t longest_fault = 200;
constexpr redis_client::ReplyLimits limits_of_answers{.max_bytes = std::size_t{64} << 10,
                                                      .max_elements = 1024};

}  // namespace

ServerChoice::ServerChoice(redis_client::Servers servers, Role role, HostNames& names)
    : servers_(std::move(servers)), role_(role), names_(names) {}

void ServerChoice::begin(Nanoseconds now) {
  question_.reset();
  found_.reset();
  faults_.clear();
  num_asked_ = 0;
  first_ = last_answered_;
  masters_.clear();
  if (servers_.is_one()) {
    found_ = servers_.list.front();
  } else {
    ask_next(now);
  }
}

Nanoseconds ServerChoice::between_searches(const Address& used) const noexcept {
  const bool is_best = servers_.has_sentinels() || used == servers_.list.front();
  return is_best ? between_searches_of_best : between_searches_for_better;
}

const Address& ServerChoice::nth(std::size_t i) const noexcept {
  return servers_.list[(first_ + i) % servers_.list.size()];
}

void ServerChoice::ask_next(Nanoseconds now) {
  question_.reset();
  if (num_asked_ == servers_.list.size()) return;
  const Address& address = nth(num_asked_++);
  servers_.has_sentinels() ? ask_sentinel(address, now) : ask_server(address, now);
}

void ServerChoice::ask_server(const Address& address, Nanoseconds now) {
  const Nanoseconds patience = servers_.has_sentinels() ? patience_with_master : patience_with_server;
  question_ = std::make_unique<Question>();
  question_->address = address;
  question_->end_by = now + patience;
  connect(now);
}

void ServerChoice::ask_sentinel(const Address& address, Nanoseconds now) {
  question_ = std::make_unique<Question>();
  question_->address = address;
  question_->is_of_sentinel = true;
  question_->end_by = now + patience_with_sentinel;
  connect(now);
}

// Connects and asks, as soon as the name has been looked up. May go on to the next question.
void ServerChoice::connect(Nanoseconds now) {
  Question& question = *question_;
  const HostNames::Found found = names_.find(question.address, now);
  if (found.is_pending()) return;
  if (!found.address) return pass_over(found.fault, now);
  try {
    question.expects_login = !question.address.password.empty();
    redis_client::Connection& connection =
        question.connection.emplace(*found.address, limits_of_answers, now);
    const std::array<std::string_view, 1> ping{"PING"};
    const std::array<std::string_view, 1> role{"ROLE"};
    const std::array<std::string_view, 3> master{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", servers_.master};
    if (question.is_of_sentinel) return connection.send(master);
    connection.send(ping);
    if (role_ == Role::primary) connection.send(role);
  } catch (const ConnectionError& error) {
    pass_over(error.what(), now);
  }
}

void ServerChoice::add_polled(std::vector<pollfd>& polled) const {
  if (question_ && question_->connection) polled.push_back(question_->connection->polled());
}

Nanoseconds ServerChoice::deadline() const noexcept {
  if (!question_) return std::numeric_limits<Nanoseconds>::max();
  const Nanoseconds end_by = question_->end_by;
  return question_->connection ? std::min(end_by, question_->connection->deadline()) : end_by;
}

void ServerChoice::step(const std::vector<pollfd>& polled, Nanoseconds now) {
  if (!question_) return;
  question_->connection ? take_replies(polled, now) : connect(now);
  if (question_ && now >= question_->end_by) pass_over("does not answer", now);
}

void ServerChoice::take_replies(const std::vector<pollfd>& polled, Nanoseconds now) {
  try {
    question_->connection->step(events_of(*question_->connection, polled), now);
    while (question_ && question_->connection) {
      const redis_client::Reply reply = question_->connection->next_reply();
      if (!reply) break;
      take_reply(*reply, now);
    }
  } catch (const ConnectionError& error) {
    pass_over(error.what(), now);
  }
}

// To AUTH, if there is a password, and then to the question of the sentinel, or to PING and ROLE.
void ServerChoice::take_reply(const redisReply& reply, Nanoseconds now) {
  Question& question = *question_;
  const std::string_view text = redis_client::text_of(reply);
  if (question.expects_login) {
    question.expects_login = false;
    if (redis_client::is_error(reply)) pass_over(text, now);
    return;
  }
  if (question.is_of_sentinel) return take_master(reply, now);
  if (!question.has_answered_ping) {
    question.has_answered_ping = true;
    if (redis_client::is_error(reply)) return pass_over(text, now);
    if (text != "PONG") return pass_over("is no Redis server", now);
    if (role_ == Role::primary) return;
  } else if (redis_client::word_of(reply, 0) ==
             "slave") {  // an error: who may not ask for the role, takes what there is
    return pass_over("is a replica", now);
  }
  found_ = question.address;
  question_.reset();
}

void ServerChoice::take_master(const redisReply& reply, Nanoseconds now) {
  if (redis_client::is_error(reply)) return pass_over(redis_client::text_of(reply), now);
  if (reply.type != REDIS_REPLY_ARRAY) {
    return pass_over(fmt::format("this sentinel knows no master '{}'", servers_.master), now);
  }
  Address master = servers_.login;
  master.host = redis_client::word_of(reply, 0);
  const std::string_view port = redis_client::word_of(reply, 1);
  const auto [end, fault] = std::from_chars(port.data(), port.data() + port.size(), master.port);
  if (fault != std::errc() || end != port.data() + port.size() || master.port == 0) {
    return pass_over("this sentinel named a master without a port", now);
  }
  if (!is_ip_address(master.host)) {
    return pass_over(
        "this sentinel named a master without an IP address; set 'sentinel announce-hostnames no'", now);
  }
  // What one sentinel has named in vain, another may name too.
  if (std::ranges::find(masters_, master) != masters_.end()) return ask_next(now);
  masters_.push_back(master);
  last_answered_ = (first_ + num_asked_ - 1) % servers_.list.size();
  ask_server(master, now);
}

void ServerChoice::pass_over(std::string_view why, Nanoseconds now) {
  note_fault(question_->address, why);
  ask_next(now);
}

void ServerChoice::note_fault(const Address& address, std::string_view why) {
  faults_ +=
      fmt::format("{}{}: {}", faults_.empty() ? "" : "; ", address.shown(), why.substr(0, longest_fault));
}

}  // namespace tally::cli
