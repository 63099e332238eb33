#pragma once

#include <cstdint>
#include <string>

namespace tally::cli {

/// "host:80", and "[::1]:80" for an IPv6 address.
inline std::string host_and_port(const std::string& host, std::uint16_t port) {
  const std::string shown = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return shown + ":" + std::to_string(port);
}

}  // namespace tally::cli
