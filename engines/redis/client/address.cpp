#include "tally/redis_client/address.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "tally/redis_client/servers.hpp"

namespace tally::redis_client {
namespace {

constexpr std::size_t longest_socket_path = 107;  // sockaddr_un has room for one byte more, a NUL
constexpr std::size_t longest_name = 200;
constexpr std::string_view server_forms =
    "redis://[[user]:password@]host[:port], or unix:///path of a socket";
constexpr std::string_view servers_forms =
    "redis://[[user]:password@]host[:port][,host[:port]...], "
    "sentinel://[[user]:password@]host[:port][,host[:port]...]/MASTER, or unix:///path of a socket";
constexpr std::uint16_t sentinel_port = 26379;
constexpr std::string_view store_forms =
    "redis://[[user]:password@]host[:port][,host[:port]...]/name, or unix:///path/name with the path of a "
    "socket";

/// Reads the parts of an address. An error says what is allowed.
class Reader {
 public:
  Reader(std::string_view text, std::string_view forms) : left_(text), forms_(forms) {
    if (text.find('\0') != std::string_view::npos) refuse("the address has a NUL");
    if (text.starts_with("rediss://")) {
      refuse(
          "rediss:// is not supported, because Debian's hiredis has no TLS; use stunnel or a TLS proxy on "
          "this machine, or its socket");
    }
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw std::invalid_argument(why + "; give " + std::string(forms_));
  }

  std::string_view left() const noexcept { return left_; }
  bool is_empty() const noexcept { return left_.empty(); }

  /// What follows the last '/', without %XX.
  std::string take_name() {
    const std::size_t slash = left_.rfind('/');
    const std::string_view written = slash == std::string_view::npos ? "" : left_.substr(slash + 1);
    if (slash == std::string_view::npos || left_.substr(0, slash).ends_with('/') || written.empty()) {
      refuse("there is no name after the server");
    }
    std::string name = decoded(written, "the name");
    if (name.size() > longest_name) {
      refuse("the name has " + std::to_string(name.size()) + " bytes; must have at most " +
             std::to_string(longest_name));
    }
    if (name.find_first_of("{}") != std::string::npos) {
      refuse("the name '" + name + "' has a brace, which Redis Cluster gives a meaning of its own");
    }
    left_ = left_.substr(0, slash);
    return name;
  }

  /// Whether it names a socket; then its path is left.
  bool take_scheme() {
    if (take_prefix("unix://") || left_.starts_with('/')) return true;
    if (!take_prefix("redis://") && left_.find("://") != std::string_view::npos) {
      refuse("unknown scheme '" + std::string(left_.substr(0, left_.find("://") + 3)) + "'");
    }
    return false;
  }

  bool take_sentinel_scheme() { return take_prefix("sentinel://"); }

  /// "/MASTER" at the end.
  std::string take_master() {
    const std::size_t slash = left_.find('/');
    if (slash == std::string_view::npos || slash + 1 == left_.size()) {
      refuse("there is no name of a master after the sentinels");
    }
    std::string name = decoded(left_.substr(slash + 1), "the name of the master");
    if (name.size() > longest_name) {
      refuse("the name of the master has " + std::to_string(name.size()) + " bytes; must have at most " +
             std::to_string(longest_name));
    }
    left_ = left_.substr(0, slash);
    return name;
  }

  /// "user:password@" at the start. The password may come from elsewhere.
  void take_credentials(Address& address, bool may_be_empty) {
    const std::size_t at = left_.rfind('@');
    if (at == std::string_view::npos) return;
    const std::string_view credentials = left_.substr(0, at);
    left_.remove_prefix(at + 1);
    const std::size_t colon = credentials.find(':');
    if (colon == std::string_view::npos) {
      refuse("there is no ':' between the user and the password, before the '@'");
    }
    address.user = decoded(credentials.substr(0, colon), "the user or password");
    address.password = decoded(credentials.substr(colon + 1), "the user or password");
    if (address.password.empty() && !(may_be_empty && !address.user.empty()))
      refuse("the password before the '@' is empty");
  }

  void take_socket(Address& address) {
    address.socket_path = left_;
    if (!left_.starts_with('/')) refuse("the path of a socket must begin with '/'");
    if (left_.size() > longest_socket_path) {
      refuse("the path of the socket has " + std::to_string(left_.size()) + " bytes; the maximum is " +
             std::to_string(longest_socket_path));
    }
    left_ = {};
  }

  /// "host", "host:port", "[::1]:port", up to a comma.
  void take_host_and_port(Address& address) {
    const std::string_view text = left_.substr(0, left_.find(','));
    left_.remove_prefix(std::min(text.size() + 1, left_.size()));
    std::size_t host_end = text.find(':');
    if (text.starts_with('[')) {
      const std::size_t bracket = text.find(']');
      if (bracket == std::string_view::npos) refuse("'" + std::string(text) + "' has no ']'");
      address.host = text.substr(1, bracket - 1);
      host_end = bracket + 1;
    } else {
      address.host = text.substr(0, host_end);
    }
    if (address.host.empty()) refuse("there is no host");
    if (host_end >= text.size()) return;
    const std::string_view port = text.substr(host_end + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    if (text[host_end] != ':' || error != std::errc() || end != port.data() + port.size() ||
        address.port == 0) {
      refuse("'" + std::string(port) + "' is not a port (1 to 65535)");
    }
  }

  /// "host:port,host:port", up to the end; each with the user and the password of `address`, and its port where none is given.
  std::vector<Address> take_hosts(const Address& address) {
    std::vector<Address> hosts;
    do {
      hosts.push_back(address);
      take_host_and_port(hosts.back());
    } while (!is_empty());
    return hosts;
  }

  /// A database at the end, which must be 0.
  void take_database() {
    const std::size_t slash = left_.find('/');
    if (slash == std::string_view::npos) return;
    const std::string_view database = left_.substr(slash + 1);
    if (!database.empty() && database != "0") {
      refuse("'/" + std::string(database) +
             "': messages belong to no Redis database, so you cannot choose one (--group separates groups of "
             "nodes)");
    }
    left_ = left_.substr(0, slash);
  }

 private:
  bool take_prefix(std::string_view prefix) {
    if (!left_.starts_with(prefix)) return false;
    left_.remove_prefix(prefix.size());
    return true;
  }

  std::string decoded(std::string_view text, const char* what) const {
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '%') {
        bytes += text[i];
        continue;
      }
      unsigned value = 0;
      const std::string_view digits = text.substr(i + 1, 2);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
      if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2) {
        refuse(std::string(what) + " has a '%' without two hexadecimal digits (write %25 for it)");
      }
      bytes += static_cast<char>(value);
      i += 2;
    }
    return bytes;
  }

  std::string_view left_;
  std::string_view forms_;
};

}  // namespace

std::string Address::shown() const {
  if (host.empty()) return socket_path;
  const std::string end = ":" + std::to_string(port);
  return host.find(':') != std::string::npos ? "[" + host + "]" + end : host + end;
}

Address parse_address(std::string_view text, Password password) {
  Reader reader(text, server_forms);
  Address address;
  const bool is_socket = reader.take_scheme();
  reader.take_credentials(address, password == Password::comes_later);
  if (is_socket) {
    reader.take_socket(address);
    return address;
  }
  reader.take_database();
  reader.take_host_and_port(address);
  if (!reader.is_empty()) reader.refuse("there is more than one host");
  return address;
}

std::string Servers::shown() const {
  std::string text = has_sentinels() ? master + " of the sentinels " : "";
  for (std::size_t i = 0; i < list.size(); ++i) text += (i == 0 ? "" : ",") + list[i].shown();
  return text;
}

std::vector<Address*> Servers::logins() {
  if (has_sentinels()) return {&login};
  std::vector<Address*> all;
  for (Address& server : list) all.push_back(&server);
  return all;
}

Servers parse_servers(std::string_view text, Password password) {
  Reader reader(text, servers_forms);
  Servers servers;
  const bool has_sentinels = reader.take_sentinel_scheme();
  const bool is_socket = !has_sentinels && reader.take_scheme();
  Address login;
  reader.take_credentials(login, password == Password::comes_later);
  if (has_sentinels) {
    servers.master = reader.take_master();
    servers.list = reader.take_hosts({.host = {}, .port = sentinel_port});
    servers.login = login;
  } else if (is_socket) {
    reader.take_socket(login);
    servers.list = {login};
  } else {
    reader.take_database();
    servers.list = reader.take_hosts(login);
  }
  return servers;
}

std::string StoreAddress::shown() const { return name + " at " + servers.front().shown(); }

StoreAddress parse_store_address(std::string_view text) {
  Reader reader(text, store_forms);
  StoreAddress store;
  Address address;
  const bool is_socket = reader.take_scheme();
  store.name = reader.take_name();
  reader.take_credentials(address, true);
  if (is_socket) {
    reader.take_socket(address);
    store.servers.push_back(address);
    return store;
  }
  store.servers = reader.take_hosts(address);
  return store;
}

std::optional<Address> redirected(const Address& from, std::string_view error) {
  const std::size_t slot = error.find(' ');
  const std::string_view kind = error.substr(0, slot);
  if ((kind != "MOVED" && kind != "ASK") || slot == std::string_view::npos) return std::nullopt;
  const std::size_t blank = error.find(' ', slot + 1);
  if (blank == std::string_view::npos) return std::nullopt;
  const std::string_view where = error.substr(blank + 1);
  const std::size_t colon = where.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view port = where.substr(colon + 1);
  Address server = from;
  server.socket_path.clear();
  if (server.host.empty()) server.host = "127.0.0.1";
  if (colon > 0) server.host = where.substr(0, colon);
  const auto [rest, fault] = std::from_chars(port.data(), port.data() + port.size(), server.port);
  if (fault != std::errc() || server.port == 0) return std::nullopt;
  return server;
}

}  // namespace tally::redis_client
