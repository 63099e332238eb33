#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/host_names.hpp"
#include "tally/redis_client/connection.hpp"
#include "text/duration.hpp"

namespace tally::cli {

/// Full copies under keys of a Redis server, for one event loop and no threads: one node writes its copy once, and every node
/// that needs it reads it when it can.
///
/// The server is the one that the bus of the node uses: see `use`. Of a Redis Cluster, it follows MOVED to the server that has a key. A connection is made for the first command. If it breaks,
/// the commands that are not answered have failed: nothing is repeated here.
class CopyStore {
 public:
  struct Options {
    std::size_t max_copy_bytes = std::size_t{32} << 20;
  };

  enum class Outcome {
    done,
    missing,  ///< there is no such key
    failed    ///< no server, or it refused
  };
  /// `bytes`: what was read, at most one byte more than max_copy_bytes.
  using Answer = std::function<void(Outcome outcome, std::string_view bytes, Nanoseconds now)>;

  CopyStore(Options options, HostNames& names) : options_(options), names_(names) {}

  /// From now on, copies are at this server. Commands that another one has not answered have failed. Before the first call, all
  /// commands fail.
  void use(const redis_client::Address& address, Nanoseconds now);
  /// Whether the server has refused a copy since the last call because it is a replica.
  bool take_demotion() noexcept { return std::exchange(was_demoted_, false); }

  /// Writes the copy, which is forgotten after `lifetime_seconds`.
  void put(std::string key, std::span<const std::byte> bytes, std::uint32_t lifetime_seconds, Answer answer);
  /// Makes the copy live that long from now.
  void keep(std::string key, std::uint32_t lifetime_seconds, Answer answer);
  void get(std::string key, Answer answer);

  /// Appends the descriptors for poll.
  void add_polled(std::vector<pollfd>& polled) const;
  /// Connects, writes, reads. `polled` is what add_polled appended, after poll.
  void step(const std::vector<pollfd>& polled, Nanoseconds now);
  /// The latest time for the next call of step.
  Nanoseconds deadline() const noexcept;

 private:
  struct Command {
    std::vector<std::string> words;
    Answer answer;
    int num_moves = 0;
  };
  struct Server {
    redis_client::Address address;
    std::optional<redis_client::Connection> connection;
    bool expects_login = false;   // the answer to AUTH comes first
    std::deque<Command> waiting;  // for their answers, or to be sent
    std::size_t num_sent = 0;     // of them
    bool awaits_name = false;     // before the connection
  };

  Server& server_of(const redis_client::Address& address);
  void send(Command command, Server& server);
  void step(Server& server, const std::vector<pollfd>& polled, Nanoseconds now);
  void take_reply(Server& server, const redisReply& reply, Nanoseconds now);
  void fail(Server& server, std::string_view why, Nanoseconds now);
  void give_up(Server& server, Nanoseconds now);
  void say_refusal(const Server& server, std::string_view text);

  Options options_;
  HostNames& names_;
  redis_client::Address address_;
  std::list<Server> servers_;  // that one, and those of its cluster
  bool was_demoted_ = false;
  std::set<std::string> said_;
};

}  // namespace tally::cli
