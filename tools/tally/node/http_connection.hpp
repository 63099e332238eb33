#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "node/http_message.hpp"
#include "text/duration.hpp"

namespace tally::cli {

struct HttpServerLimits {
  std::size_t max_connections = 256;
  std::size_t max_body_bytes = std::size_t{8} << 20;
  Nanoseconds for_request = 10 * nanoseconds_per_second;  ///< from its first byte to its last
  Nanoseconds for_response = 30 * nanoseconds_per_second;
  Nanoseconds idle = 60 * nanoseconds_per_second;  ///< without a request
};

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

/// One connection of a client: requests one after the other, read and answered as the socket allows. It never waits.
class HttpConnection {
 public:
  /// Takes over the socket, which must not block.
  HttpConnection(int socket, bool is_local, const HttpServerLimits& limits, Nanoseconds now);
  HttpConnection(HttpConnection&&) noexcept;
  HttpConnection& operator=(HttpConnection&&) noexcept;
  ~HttpConnection();

  int socket() const noexcept;
  /// What to poll for.
  short events() const noexcept;
  /// Reads, answers and writes, as far as it goes without waiting.
  void step(short revents, Nanoseconds now, const HttpHandler& handler);
  /// When it has had enough time, and is closed.
  Nanoseconds deadline() const noexcept;
  bool is_closed() const noexcept;
  /// Whether it may be closed for another one: it has no response under way.
  bool may_make_room() const noexcept;
  /// Since when it has been waiting for a request, or for the rest of one.
  Nanoseconds waiting_since() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tally::cli
