#include "node/redis_address.hpp"

#include <fmt/core.h>

#include <charconv>
#include <stdexcept>

namespace tally::cli {
namespace {

constexpr std::size_t longest_socket_path = 107;  // sockaddr_un has room for one byte more, a NUL

[[noreturn]] void refuse(std::string_view why) {
  throw std::invalid_argument(
      fmt::format("{}; give redis://[[user]:password@]host[:port], or unix:///path of a socket", why));
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned value = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2) {
      refuse("the user or password has a '%' without two hexadecimal digits (write %25 for it)");
    }
    decoded += static_cast<char>(value);
    i += 2;
  }
  return decoded;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// "user:password@" at the start.
void take_credentials(std::string_view& text, RedisAddress& address) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return;
  const std::string_view credentials = text.substr(0, at);
  text.remove_prefix(at + 1);
  const std::size_t colon = credentials.find(':');
  if (colon == std::string_view::npos)
    refuse("there is no ':' between the user and the password, before the '@'");
  address.user = percent_decoded(credentials.substr(0, colon));
  address.password = percent_decoded(credentials.substr(colon + 1));
  if (address.password.empty()) refuse("the password before the '@' is empty");
}

// "host", "host:port", "[::1]:port".
void take_host_and_port(std::string_view text, RedisAddress& address) {
  std::size_t host_end = text.find(':');
  if (text.starts_with('[')) {
    const std::size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) refuse(fmt::format("'{}' has no ']'", text));
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
    refuse(fmt::format("'{}' is not a port (1 to 65535)", port));
  }
}

}  // namespace

std::string RedisAddress::shown() const {
  if (host.empty()) return socket_path;
  if (host.find(':') != std::string::npos) return fmt::format("[{}]:{}", host, port);
  return fmt::format("{}:{}", host, port);
}

RedisAddress parse_redis_address(std::string_view text) {
  RedisAddress address;
  if (text.find('\0') != std::string_view::npos) refuse("the address has a NUL");
  if (text.starts_with("rediss://")) {
    refuse("rediss:// is not supported; use stunnel or a TLS proxy on this machine");
  }
  const bool is_socket = take_prefix(text, "unix://");
  if (is_socket || text.starts_with('/')) {
    take_credentials(text, address);
    address.socket_path = text;
    if (!text.starts_with('/')) refuse("the path of a socket must begin with '/'");
    if (text.size() > longest_socket_path) {
      refuse(fmt::format("the path of the socket has {} bytes; the maximum is {}", text.size(),
                         longest_socket_path));
    }
    return address;
  }
  if (!take_prefix(text, "redis://") && text.find("://") != std::string_view::npos) {
    refuse(fmt::format("unknown scheme '{}'", text.substr(0, text.find("://") + 3)));
  }
  take_credentials(text, address);
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view database = text.substr(slash + 1);
    if (!database.empty() && database != "0") {
      refuse(
          fmt::format("'/{}': messages belong to no Redis database, so you cannot choose one (--group "
                      "separates groups of nodes)",
                      database));
    }
    text = text.substr(0, slash);
  }
  take_host_and_port(text, address);
  return address;
}

}  // namespace tally::cli
