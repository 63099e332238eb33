#pragma once

#include <poll.h>

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/api_connection.hpp"

namespace tally::cli {

/// Where to listen: a unix socket, or a host and a port.
struct ListenAddress {
  std::string path = {};      ///< of a unix socket; empty: TCP
  std::uint32_t mode = 0600;  ///< permissions of its file
  std::string host = {};
  std::uint16_t port = 0;  ///< 0: any free one

  /// "HOST:PORT", ":PORT" (127.0.0.1) and "[::1]:PORT". Throws std::invalid_argument.
  static ListenAddress parse_tcp(std::string_view text);
};

/// Throws std::invalid_argument if the path is too long for a unix socket.
void check_socket_path(const std::string& path);

/// Listens, and answers requests in the thread of its caller, without ever waiting: everything is done in step,
/// which a poll loop calls. Each address has connections of its own. When all of them are taken, a new one takes the place of
/// the one that has sent and read nothing for longest.
class ApiServer {
 public:
  explicit ApiServer(const ApiLimits& limits) : limits_(limits) {}
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  /// Throws std::runtime_error if it cannot.
  void listen_at(const ListenAddress& address);

  void add_polled(std::vector<pollfd>& polled, Nanoseconds now) const;
  void step(const std::vector<pollfd>& polled, Nanoseconds now, const MakeApiProtocol& make);
  /// The latest time for the next call of step.
  Nanoseconds deadline() const;

  /// "unix:/path" or "127.0.0.1:8080", with the port that was found.
  std::vector<std::string> shown_addresses() const;

 private:
  using Connections = std::list<ApiConnection>;

  /// Closes the socket, and removes its file.
  struct Listener {
    Listener(int own_socket, std::string own_path, std::string own_shown)
        : socket(own_socket), path(std::move(own_path)), shown(std::move(own_shown)) {}
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener();

    int socket;
    std::string path;  ///< of a unix socket
    std::string shown;
    Connections connections;
  };

  void accept_from(Listener& listener, Nanoseconds now);

  ApiLimits limits_;
  std::list<Listener> listeners_;
  Nanoseconds accepts_at_ = 0;  ///< later than now after an error, which would come again at once
};

}  // namespace tally::cli
