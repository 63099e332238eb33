#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

#include "http.hpp"

namespace tally::test {

/// A port of 127.0.0.1 that refuses connections: a socket has it and does not listen, so that nobody else can get it.
class UnservedPort {
 public:
  UnservedPort() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(socket_.file(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::system_error(errno, std::generic_category(), "bind");
  }

  std::string host_and_port() const { return "127.0.0.1:" + std::to_string(socket_.port()); }

 private:
  LoopbackSocket socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

}  // namespace tally::test
