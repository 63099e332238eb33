#include "node/ip_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>

namespace tally::cli {

bool is_ip_address(const std::string& host) noexcept {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  if (host.find('\0') != std::string::npos) return false;
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

}  // namespace tally::cli
