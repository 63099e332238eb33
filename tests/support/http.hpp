#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "comes_true.hpp"

namespace tally::test {

/// A socket of this machine that is closed in the end.
class LoopbackSocket {
 public:
  explicit LoopbackSocket(int file) : file_(file) {
    if (file_ < 0) throw std::system_error(errno, std::generic_category(), "socket");
  }
  LoopbackSocket(LoopbackSocket&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  LoopbackSocket& operator=(LoopbackSocket&&) = delete;
  ~LoopbackSocket() {
    if (file_ >= 0) ::close(file_);
  }
  int file() const { return file_; }

  /// Listens on a port that is free.
  static LoopbackSocket listening() {
    LoopbackSocket made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = address_of(0);
    if (::bind(made.file_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(made.file_, 64) != 0) {
      throw std::system_error(errno, std::generic_category(), "listen");
    }
    return made;
  }
  /// Throws std::system_error if nobody listens there. Reads give up after 20 s.
  static LoopbackSocket connected(std::uint16_t port) {
    LoopbackSocket made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval limit{20, 0};
    ::setsockopt(made.file_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in address = address_of(port);
    if (::connect(made.file_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw std::system_error(errno, std::generic_category(), "connect");
    }
    return made;
  }

  std::uint16_t port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(file_, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }
  /// False if the other end is gone.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(file_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// What comes until `end` has come, if there is one, or the other end is closed.
  std::string receive(std::string_view end = "") const {
    std::string bytes;
    std::array<char, 4096> buffer{};
    while (end.empty() || bytes.find(end) == std::string::npos) {
      const ssize_t got = ::recv(file_, buffer.data(), buffer.size(), 0);
      if (got <= 0) break;
      bytes.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return bytes;
  }

 private:
  static sockaddr_in address_of(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }
  int file_;
};

/// A client of a unix socket, as soon as somebody listens there. Reads give up after 20 s.
inline LoopbackSocket connect_to_socket(const std::string& path) {
  int file = -1;
  const auto connects = [&] {
    file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    if (::connect(file, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return true;
    ::close(std::exchange(file, -1));
    return false;
  };
  (void)comes_true(connects);
  LoopbackSocket made(file);
  const timeval limit{20, 0};
  ::setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return made;
}

inline std::uint16_t free_port() { return LoopbackSocket::listening().port(); }

/// The whole answer to a request, head and body.
inline std::string http_get(std::uint16_t port, const std::string& target, const std::string& headers = "") {
  const LoopbackSocket connection = LoopbackSocket::connected(port);
  connection.send("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" + headers +
                  "\r\n");
  return connection.receive();
}

/// A web server all of whose objects may be cached for a day.
class HttpOrigin {
 public:
  HttpOrigin() : listener_(LoopbackSocket::listening()), thread_([this] { serve(); }) {}
  ~HttpOrigin() {
    stop_ = true;
    thread_.join();
  }
  HttpOrigin(const HttpOrigin&) = delete;
  HttpOrigin& operator=(const HttpOrigin&) = delete;

  std::string url(int object) const {
    return "http://127.0.0.1:" + std::to_string(listener_.port()) + "/objects/" + std::to_string(object);
  }
  int num_requests() const { return num_requests_; }

 private:
  void serve() {
    for (pollfd polled{listener_.file(), POLLIN, 0}; !stop_;) {
      if (::poll(&polled, 1, 50) <= 0) continue;
      const LoopbackSocket connection(::accept4(listener_.file(), nullptr, nullptr, SOCK_CLOEXEC));
      if (connection.receive("\r\n\r\n").empty()) continue;
      ++num_requests_;
      connection.send(
          "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 6\r\nDate: " + now() +
          "\r\nCache-Control: max-age=86400\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n\r\nobject");
    }
  }

  // Without a date a Squid keeps nothing.
  static std::string now() {
    const std::time_t time = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&time, &parts);
    std::array<char, 64> text{};
    std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    return text.data();
  }

  LoopbackSocket listener_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> num_requests_ = 0;
  std::thread thread_;  // the last: it uses the others
};

}  // namespace tally::test
