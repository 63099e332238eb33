#pragma once

#include <poll.h>

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "node/redis_address.hpp"
#include "text/duration.hpp"

struct redisContext;
struct redisReply;

namespace tally::cli {

/// The connection is no longer usable; the message says why.
struct RedisError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct FreeRedisReply {
  void operator()(redisReply* reply) const noexcept;
};
using RedisReply = std::unique_ptr<redisReply, FreeRedisReply>;

/// One connection to a Redis server, over hiredis. Nothing blocks, except looking up a host's name.
///
/// A server that accepts a connection and then stays silent is detected: PING is sent after a period of
/// silence. All functions except the simple ones throw RedisError; the connection must then be destroyed.
class RedisConnection {
 public:
  /// Starts to connect, and sends AUTH if the address has a password. A reply longer than `max_reply_bytes`
  /// is an error.
  RedisConnection(const RedisAddress& address, std::size_t max_reply_bytes, Nanoseconds now);
  ~RedisConnection();
  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;

  bool is_connected() const noexcept { return connected_; }

  /// Appends a command to those that are not sent yet.
  void send(std::span<const std::string_view> arguments);
  /// The number of bytes of commands that the server's machine has not accepted yet.
  std::size_t num_unsent_bytes() const noexcept;

  /// The descriptor and events for poll.
  pollfd polled() const noexcept;
  /// Writes and reads as far as possible, according to poll.
  void step(short events, Nanoseconds now);
  /// The next reply, including those to PING and AUTH; empty if none is complete.
  RedisReply next_reply();
  /// The latest time for the next call of step, whatever poll reports.
  Nanoseconds deadline() const noexcept;

  static constexpr Nanoseconds connect_patience = 5 * nanoseconds_per_second;
  static constexpr Nanoseconds silence_before_ping = 5 * nanoseconds_per_second;
  static constexpr Nanoseconds ping_patience = 10 * nanoseconds_per_second;

 private:
  struct FreeContext {
    void operator()(redisContext* context) const noexcept;
  };
  void check(int status) const;
  void finish_connecting();
  void write_out(Nanoseconds now);
  void read_in(Nanoseconds now);

  std::unique_ptr<redisContext, FreeContext> context_;
  std::size_t max_reply_bytes_;
  bool connected_ = false;
  bool pinged_ = false;
  Nanoseconds heard_at_;  // or the time of the connection attempt, a ping, or a large write
};

}  // namespace tally::cli
