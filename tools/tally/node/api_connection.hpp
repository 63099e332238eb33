#pragma once

#include <cstddef>
#include <memory>

#include "node/api_protocol.hpp"
#include "text/duration.hpp"

namespace tally::cli {

struct ApiLimits {
  std::size_t max_connections = 256;                      ///< at each address
  Nanoseconds for_request = 10 * nanoseconds_per_second;  ///< from its first byte to its last
  Nanoseconds for_response = 30 * nanoseconds_per_second;
  Nanoseconds idle = 60 * nanoseconds_per_second;  ///< without a request
};

/// One connection of a client: requests one after the other, read and answered as the socket allows. It never waits.
class ApiConnection {
 public:
  /// Takes over the socket, which must not block. `limits` must outlive it.
  ApiConnection(int socket, bool is_local, const ApiLimits& limits, Nanoseconds now);
  ApiConnection(ApiConnection&&) noexcept;
  ApiConnection& operator=(ApiConnection&&) noexcept;
  ~ApiConnection();

  int socket() const noexcept;
  /// What to poll for.
  short events() const noexcept;
  /// Reads, answers and writes, as far as it goes without waiting.
  void step(short revents, Nanoseconds now, const MakeApiProtocol& make);
  /// When to call step, even without events.
  Nanoseconds deadline() const noexcept;
  bool is_closed() const noexcept;
  /// Since when it has been waiting for a request, for the rest of one, or until an answer is read.
  Nanoseconds waiting_since() const noexcept;

 private:
  struct State;

  /// When it has had enough time, and is closed.
  Nanoseconds time_limit() const noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace tally::cli
