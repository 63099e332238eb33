#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

#include "http.hpp"

namespace tally::test {

/// A port of 127.0.0.1 for a server that cannot choose one. The system gives it to no outgoing connection, and no other test
/// has it, also while the server is down: a unix socket with its name is the lock.
class ServerPort {
 public:
  ServerPort() {
    std::uint32_t first = 32'768, last = 60'999;  // where it cannot be read
    std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first >> last;
    constexpr std::uint32_t lowest = 20'000, num_ports = 65'536 - lowest;
    for (std::uint32_t i = 0; i < num_ports; ++i) {
      const std::uint32_t port = lowest + (static_cast<std::uint32_t>(getpid()) * 64 + i) % num_ports;
      if (port >= first && port <= last) continue;
      number_ = static_cast<std::uint16_t>(port);
      if (take_lock() && is_free()) return;
    }
    throw std::runtime_error("no port outside of ip_local_port_range is free");
  }

  std::uint16_t number() const { return number_; }
  std::string host_and_port() const { return "127.0.0.1:" + std::to_string(number_); }

 private:
  bool take_lock() {
    const std::string name = "tally-test-port-" + std::to_string(number_);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());  // abstract: it ends with the process
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    lock_.emplace(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return ::bind(lock_->file(), reinterpret_cast<const sockaddr*>(&address), size) == 0;
  }
  bool is_free() const {
    const LoopbackSocket tried(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(number_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::bind(tried.file(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  std::uint16_t number_ = 0;
  std::optional<LoopbackSocket> lock_;
};

}  // namespace tally::test
