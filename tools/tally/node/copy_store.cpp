#include "node/copy_store.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "node/polled_events.hpp"
#include "tally/redis_client/reply_text.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

// Besides the copy, a reply has a length.
constexpr std::size_t copy_reply_overhead = 4096;
// A cluster that sends a command on more often is being rebuilt: the command fails, and its sender comes again.
constexpr int most_moves = 5;
constexpr std::size_t most_refusals_said = 10;

}  // namespace

void CopyStore::use(const redis_client::Address& address, Nanoseconds now) {
  if (address == address_) return;
  address_ = address;
  std::list<Server> old;
  old.swap(servers_);
  for (Server& server : old) give_up(server, now);  // an answer may send the next command
}

void CopyStore::put(std::string key, std::span<const std::byte> bytes, std::uint32_t lifetime_seconds,
                    Answer answer) {
  std::string copy(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  send({{"SET", std::move(key), std::move(copy), "EX", std::to_string(lifetime_seconds)}, std::move(answer)},
       server_of(address_));
}

void CopyStore::keep(std::string key, std::uint32_t lifetime_seconds, Answer answer) {
  send({{"EXPIRE", std::move(key), std::to_string(lifetime_seconds)}, std::move(answer)},
       server_of(address_));
}

// GETRANGE, because the server would send a value of any length whole, whoever has written it.
void CopyStore::get(std::string key, Answer answer) {
  send({{"GETRANGE", std::move(key), "0", std::to_string(options_.max_copy_bytes)}, std::move(answer)},
       server_of(address_));
}

CopyStore::Server& CopyStore::server_of(const redis_client::Address& address) {
  const auto known = std::ranges::find(servers_, address, &Server::address);
  if (known != servers_.end()) return *known;
  Server& server = servers_.emplace_back();
  server.address = address;
  return server;
}

void CopyStore::send(Command command, Server& server) { server.waiting.push_back(std::move(command)); }

void CopyStore::add_polled(std::vector<pollfd>& polled) const {
  for (const Server& server : servers_) {
    if (server.connection) polled.push_back(server.connection->polled());
  }
}

Nanoseconds CopyStore::deadline() const noexcept {
  Nanoseconds earliest = std::numeric_limits<Nanoseconds>::max();
  for (const Server& server : servers_) {
    if (server.connection) earliest = std::min(earliest, server.connection->deadline());
    if (server.waiting.size() > server.num_sent && !server.awaits_name) return 0;
  }
  return earliest;
}

void CopyStore::step(const std::vector<pollfd>& polled, Nanoseconds now) {
  // An answer may send a command to a server that is not in the list yet.
  for (auto server = servers_.begin(); server != servers_.end(); ++server) {
    try {
      step(*server, polled, now);
    } catch (const redis_client::ConnectionError& error) {
      fail(*server, error.what(), now);
    }
  }
}

void CopyStore::step(Server& server, const std::vector<pollfd>& polled, Nanoseconds now) {
  if (server.waiting.size() > server.num_sent && !server.connection) {
    const HostNames::Found found = names_.find(server.address, now);
    server.awaits_name = found.is_pending();
    if (server.awaits_name) return;
    if (!found.address) throw redis_client::ConnectionError(found.fault);
    server.connection.emplace(
        *found.address, redis_client::ReplyLimits{options_.max_copy_bytes + copy_reply_overhead, 16}, now);
    server.expects_login = !server.address.password.empty();
  }
  for (; server.num_sent < server.waiting.size(); ++server.num_sent) {
    Command& command = server.waiting[server.num_sent];
    const std::vector<std::string_view> words(command.words.begin(), command.words.end());
    server.connection->send(words);
  }
  if (!server.connection) return;
  server.connection->step(events_of(*server.connection, polled), now);
  while (const redis_client::Reply reply = server.connection->next_reply()) take_reply(server, *reply, now);
}

void CopyStore::take_reply(Server& server, const redisReply& reply, Nanoseconds now) {
  const std::string_view text = redis_client::text_of(reply);
  if (std::exchange(server.expects_login, false)) {
    if (redis_client::is_error(reply)) throw redis_client::ConnectionError(std::string(text));
    return;
  }
  if (reply.type == REDIS_REPLY_STATUS && text == "PONG") return;  // of a ping against silence
  if (server.num_sent == 0) throw redis_client::ConnectionError("sent an answer without a question");
  Command command = std::move(server.waiting.front());
  server.waiting.pop_front();
  --server.num_sent;
  if (!redis_client::is_error(reply)) {
    const bool is_missing = reply.type == REDIS_REPLY_INTEGER ? reply.integer == 0 : text.empty();
    return command.answer(is_missing ? Outcome::missing : Outcome::done, text, now);
  }
  // ASK, during the migration of a slot, is for one command only: it passes.
  const auto address =
      text.starts_with("MOVED ") ? redis_client::redirected(server.address, text) : std::nullopt;
  if (address && ++command.num_moves <= most_moves) return send(std::move(command), server_of(*address));
  if (server.address == address_ && text.starts_with("READONLY")) {
    was_demoted_ = true;  // the bus prints it
  } else {
    say_refusal(server, text);
  }
  command.answer(Outcome::failed, {}, now);
}

void CopyStore::fail(Server& server, std::string_view why, Nanoseconds now) {
  // The bus prints what is wrong with that one.
  if (server.address != address_ && !server.waiting.empty()) say_refusal(server, why);
  give_up(server, now);
}

void CopyStore::give_up(Server& server, Nanoseconds now) {
  server.connection.reset();
  server.num_sent = 0;
  std::deque<Command> lost;
  lost.swap(server.waiting);
  for (Command& command : lost) command.answer(Outcome::failed, {}, now);
}

// Each reason is printed once.
void CopyStore::say_refusal(const Server& server, std::string_view text) {
  if (said_.size() >= most_refusals_said) return;
  std::string all = fmt::format("Redis at {}, where full copies are kept: {}", server.address.shown(), text);
  if (text.starts_with("NOPERM")) all += "; the user needs SET, GETRANGE and EXPIRE for the keys tally:*";
  const auto [said, is_new] = said_.insert(std::move(all));
  if (is_new) warn(*said);
}

}  // namespace tally::cli
