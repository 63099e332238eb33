#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally::redis_client {

/// Where a server listens, and as which user to log in.
struct Address {
  std::string host;  ///< empty: the socket at `socket_path`
  std::uint16_t port = 6379;
  std::string socket_path = {};
  std::string user = {};      ///< empty: the default user
  std::string password = {};  ///< empty: none is sent

  /// "host:port" or the socket's path: for messages, without the password.
  std::string shown() const;

  friend bool operator==(const Address&, const Address&) = default;
};

/// Where an answer "MOVED 3999 127.0.0.1:6381" (ASK alike) of the server at `from` leads, with the same user and password.
/// Without a host, it is that of the server that answers. Empty for other answers.
std::optional<Address> redirected(const Address& from, std::string_view error);

/// Whether a user may come without a password ("user:@"), which the caller then fills in.
enum class Password { required, comes_later };

/// "redis://[[user]:password@]host[:port]", "host[:port]", "unix://[[user]:password@]/path" or "/path". User and password
/// may contain %XX. Throws std::invalid_argument that says what is allowed, and never repeats a password.
Address parse_address(std::string_view text, Password password = Password::required);

/// A key of a server, or the name of one structure that many servers share.
struct StoreAddress {
  std::vector<Address> servers;  ///< any of them tells about all others; tried in this order
  std::string name;              ///< 1 to 200 bytes without braces

  /// "name at host:port", without the password.
  std::string shown() const;
};

/// "redis://[[user]:password@]host[:port][,host[:port]...]/name" or "unix://[[user]:password@]/path/name": the name is what
/// follows the last '/', and may contain %XX. The user and the password are those of all servers; a user may come without a password ("user:@"), which
/// is then to be filled in. Throws
/// std::invalid_argument as parse_address does.
StoreAddress parse_store_address(std::string_view text);

}  // namespace tally::redis_client
