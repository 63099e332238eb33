#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "node/bus_servers.hpp"
#include "node/host_names.hpp"
#include "tally/redis_client/connection.hpp"
#include "text/duration.hpp"

namespace tally::cli {

/// Publish and subscribe over a Redis server, for one event loop and no threads.
///
/// It uses two connections, because a connection that subscribes may not publish. If either breaks, both are
/// made again, forever, after a pause that doubles from 50 ms to 5 s (1 s if there are several servers) and is
/// drawn from its upper half, so that nodes do not all come back at once. What others published meanwhile is lost, and what we published
/// last may be lost too: the user of the bus must detect gaps and request the missing messages. Standard
/// error reports the loss once, and its end.
///
/// Before each connection it looks for the server to use (BusServers), and while it is connected it looks again from time to time:
/// if another server is to be used, it moves there at once.
class RedisBus {
 public:
  struct Options {
    redis_client::Servers servers;
    std::optional<redis_client::Servers> publish_servers;  ///< if messages are published elsewhere
    std::string pattern;                                   ///< of channels to subscribe to (PSUBSCRIBE)
    std::vector<std::string> channels;                     ///< more channels (SUBSCRIBE)
    /// A longer message costs the connection, because it would have to be stored until it is complete.
    std::size_t max_message_bytes = std::size_t{32} << 20;
  };
  using Receive = std::function<void(std::string_view channel, std::string_view bytes)>;

  RedisBus(Options options, HostNames& names, Nanoseconds now);

  /// Connected, and all subscriptions are confirmed: from now on nothing is missed until the connection
  /// breaks.
  bool is_up() const noexcept { return up_since_.has_value(); }
  std::optional<Nanoseconds> up_since() const noexcept { return up_since_; }
  /// How often it came up.
  std::uint64_t num_connections() const noexcept { return num_connections_; }
  /// How often a connection broke after that, or was given up (`reconnect`); not when it moved to another server.
  std::uint64_t num_losses() const noexcept { return num_losses_; }
  /// How often it came up at another server than the time before.
  std::uint64_t num_failovers() const noexcept { return num_failovers_; }
  /// The servers that were given, and those that are used now.
  const BusServers& servers() const noexcept { return servers_; }
  /// Whether the server has confirmed everything that was published.
  bool is_idle() const noexcept { return num_unconfirmed_ == 0; }
  /// Whether to publish now: the bus is up, and everything published has left this machine.
  bool is_ready() const noexcept;

  /// Does nothing unless it is up.
  void publish(std::string_view channel, std::string_view bytes);
  /// If it is up, gives its connections up, and looks for the server anew.
  void reconnect(std::string_view why, Nanoseconds now);

  /// Appends the descriptors for poll.
  void add_polled(std::vector<pollfd>& polled) const;
  /// Writes, reads, reconnects. `polled` is what add_polled appended, after poll. `receive` gets the
  /// messages.
  void step(const std::vector<pollfd>& polled, Nanoseconds now, const Receive& receive);
  /// The latest time for the next call of step.
  Nanoseconds deadline() const noexcept;

 private:
  void choose(Nanoseconds now);
  void take_choice(Nanoseconds now);
  bool may_look() const noexcept { return is_up() && servers_.has_choice(); }
  void look(Nanoseconds now);
  void plan_look(Nanoseconds now);
  void move(Nanoseconds now);
  void connect(Nanoseconds now);
  void leave();
  void lose(std::string_view why, Nanoseconds now);
  void take_replies(Nanoseconds now, const Receive& receive);
  void take_subscriber_reply(const redisReply& reply, const Receive& receive);
  void take_publisher_reply(const redisReply& reply);
  void say_refusal(std::string_view text);

  Options options_;
  BusServers servers_;
  HostNames& names_;
  bool is_choosing_ = false;   // not connected, and a search is under way
  bool awaits_names_ = false;  // not connected, and the servers' names are looked up
  bool is_looking_ = false;    // connected, and a search is under way
  Nanoseconds next_look_ = 0;
  std::string last_used_;  // when it was up last
  std::uint64_t num_failovers_ = 0;
  std::optional<redis_client::Connection> subscriber_;
  std::optional<redis_client::Connection> publisher_;
  std::size_t num_subscriptions_ = 0;
  std::uint64_t num_unconfirmed_ = 0;
  std::optional<Nanoseconds> up_since_;
  std::uint64_t num_connections_ = 0;
  std::uint64_t num_losses_ = 0;
  Nanoseconds pause_;
  Nanoseconds next_try_;
  bool loss_said_ = false;
  bool says_return_ = false;
  std::string last_refusal_;
  std::mt19937_64 random_;
};

}  // namespace tally::cli
