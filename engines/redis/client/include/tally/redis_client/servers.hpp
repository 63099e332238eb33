#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/redis_client/address.hpp"

namespace tally::redis_client {

/// Servers of which one at a time is used: several in order of preference, or the master that Redis Sentinel names.
struct Servers {
  std::vector<Address> list;  ///< servers, or sentinels; at least one
  std::string master = {};    ///< of the sentinels; empty: `list` has the servers themselves
  Address login = {};         ///< the user and the password of that master; nothing else in it is set

  bool has_sentinels() const noexcept { return !master.empty(); }
  /// Whether there is nothing to choose.
  bool is_one() const noexcept { return !has_sentinels() && list.size() == 1; }
  /// Without the password: "host:port,host:port", or "NAME of the sentinels host:port,host:port".
  std::string shown() const;
  /// Those that the password of the Redis servers is for: `list`, or `login`.
  std::vector<Address*> logins();
};

/// "redis://[[user]:password@]host[:port][,host[:port]...]", whose user and password are those of all servers; the same without
/// "redis://"; "sentinel://[[user]:password@]host[:port][,host[:port]...]/MASTER", whose user and password are those of the
/// master; or a socket, as parse_address. User, password and MASTER may contain %XX. Throws std::invalid_argument as
/// parse_address does.
Servers parse_servers(std::string_view text, Password password = Password::required);

}  // namespace tally::redis_client
