#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tally::cli {

/// Where a Redis server listens, and as which user to log in.
struct RedisAddress {
  std::string host;  ///< empty: the socket at `socket_path`
  std::uint16_t port = 6379;
  std::string socket_path;
  std::string user;      ///< empty: the default user
  std::string password;  ///< empty: none is sent

  /// "host:port" or the socket's path: for messages, without the password.
  std::string shown() const;
};

/// "redis://[[user]:password@]host[:port]", "host[:port]", "unix://[[user]:password@]/path" or "/path". User
/// and password may contain %XX. Throws std::invalid_argument that says what is allowed, and never repeats a
/// password.
RedisAddress parse_redis_address(std::string_view text);

}  // namespace tally::cli
