#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tally/redis_client/address.hpp"
#include "tally/streams/nanoseconds.hpp"

struct redisContext;
struct redisReply;

namespace tally::redis_client {

/// The connection is no longer usable; the message says why.
struct ConnectionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct FreeReply {
  void operator()(redisReply* reply) const noexcept;
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

/// What a server may send.
struct ReplyLimits {
  std::size_t max_bytes = 4096;     ///< of all texts of a reply
  std::size_t max_elements = 1024;  ///< of each array; memory for them is taken before they arrive
};

/// One connection to a Redis server, over hiredis. Nothing blocks, except looking up a host's name.
///
/// A server that accepts a connection and then stays silent is detected: PING is sent after a period of
/// silence. All functions except the simple ones throw ConnectionError; the connection must then be destroyed.
class Connection {
 public:
  /// Starts to connect, and sends AUTH if the address has a password. A reply that breaks the limits is an error.
  Connection(const Address& address, ReplyLimits limits, Nanoseconds now);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool is_connected() const noexcept { return connected_; }
  /// How often this object has sent PING by itself, which it does in `step`.
  std::uint64_t num_pings() const noexcept { return num_pings_; }

  /// Appends a command to those that are not sent yet.
  void send(std::span<const std::string_view> arguments);
  /// The number of bytes of commands that the server's machine has not accepted yet.
  std::size_t num_unsent_bytes() const noexcept;

  /// The descriptor and events for poll.
  pollfd polled() const noexcept;
  /// Writes and reads as far as possible, according to poll.
  void step(short events, Nanoseconds now);
  /// The next reply, including those to PING and AUTH; empty if none is complete.
  Reply next_reply();
  /// The latest time for the next call of step, whatever poll reports.
  Nanoseconds deadline() const noexcept;

  static constexpr Nanoseconds second = 1'000'000'000;
  static constexpr Nanoseconds connect_patience = 5 * second;
  static constexpr Nanoseconds silence_before_ping = 5 * second;
  static constexpr Nanoseconds ping_patience = 10 * second;

 private:
  struct FreeContext {
    void operator()(redisContext* context) const noexcept;
  };
  void check(int status) const;
  void finish_connecting();
  void write_out(Nanoseconds now);
  void read_in(Nanoseconds now);

  std::unique_ptr<redisContext, FreeContext> context_;
  std::unique_ptr<ReplyLimits> limits_;  // hiredis points to it
  bool connected_ = false;
  bool pinged_ = false;
  std::uint64_t num_pings_ = 0;
  Nanoseconds heard_at_;  // or the time of the connection attempt, a ping, or a large write
};

}  // namespace tally::redis_client
