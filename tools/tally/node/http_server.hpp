#pragma once

#include <poll.h>

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "node/http_connection.hpp"

namespace tally::cli {

/// Where to listen: a unix socket, or a host and a port.
struct ListenAddress {
  std::string path;  ///< of a unix socket; empty: TCP
  std::string host;
  std::uint16_t port = 0;  ///< 0: any free one

  /// "HOST:PORT", ":PORT" (127.0.0.1) and "[::1]:PORT". Throws std::invalid_argument.
  static ListenAddress parse_tcp(std::string_view text);
};

/// Listens, and answers HTTP/1.1 requests in the thread of its caller, without ever waiting: everything is done in step,
/// which a poll loop calls. When all connections are taken, a new one takes the place of the one that has kept its
/// request back for longest.
class HttpServer {
 public:
  /// Throws std::runtime_error if it cannot listen there. The file of a unix socket is readable by its owner only.
  HttpServer(const std::vector<ListenAddress>& addresses, const HttpServerLimits& limits);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  void add_polled(std::vector<pollfd>& polled) const;
  void step(const std::vector<pollfd>& polled, Nanoseconds now, const HttpHandler& handler);
  /// The latest time for the next call of step.
  Nanoseconds deadline() const;

  /// "unix:/path" or "http://127.0.0.1:8080", with the port that was found.
  std::vector<std::string> shown_addresses() const;
  std::size_t num_connections() const noexcept { return connections_.size(); }

 private:
  struct Listener {
    int socket = -1;
    std::string path;
    std::string shown;
  };
  void listen_at(const ListenAddress& address);
  void accept_from(const Listener& listener, Nanoseconds now);

  HttpServerLimits limits_;
  std::vector<Listener> listeners_;
  std::list<HttpConnection> connections_;
};

}  // namespace tally::cli
