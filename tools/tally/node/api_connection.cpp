#include "node/api_connection.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

namespace tally::cli {
namespace {

constexpr Nanoseconds longest_draining = 2 * nanoseconds_per_second;
constexpr Nanoseconds never_due = std::numeric_limits<Nanoseconds>::max();

}  // namespace

struct ApiConnection::State {
  State(int own_socket, bool own_is_local, const ApiLimits& own_limits, Nanoseconds now)
      : socket(own_socket), is_local(own_is_local), limits(own_limits), since(now) {}
  ~State() { ::close(socket); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  bool is_in_request() const { return protocol && protocol->is_in_request(); }
  bool wants_input() const { return !has_ended && (!protocol || protocol->wants_input()); }

  void read(Nanoseconds now, const MakeApiProtocol& make) {
    std::array<char, 65536> bytes;
    const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (count > 0 && is_draining) return;
    if (count > 0) {
      if (!is_in_request()) since = now;
      if (!protocol) protocol = make(bytes[0], is_local);
      input.append(bytes.data(), static_cast<std::size_t>(count));
    } else if (count == 0) {
      has_ended = true;
    } else if (errno != EAGAIN && errno != EINTR) {
      is_closed = true;
    }
  }

  void write(Nanoseconds now) {
    const ssize_t count = ::send(socket, output.data(), output.size(), MSG_NOSIGNAL);
    if (count < 0) {
      if (errno != EAGAIN && errno != EINTR) take_the_rest(now);
      return;
    }
    output.erase(0, static_cast<std::size_t>(count));
    if (!output.empty()) return;
    since = now;
    if (!protocol->is_last()) return;
    // Closed at once, what the client still sends would take the response from it.
    ::shutdown(socket, SHUT_WR);
    is_draining = true;
  }

  /// The client is gone. What it said before is done all the same.
  void take_the_rest(Nanoseconds now) {
    is_closed = true;
    if (!protocol || is_draining) return;
    protocol->hang_up();
    std::array<char, 65536> bytes;
    while (!protocol->is_last()) {
      output.clear();
      if (protocol->step(input, output, now)) continue;
      const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (count <= 0) break;
      input.append(bytes.data(), static_cast<std::size_t>(count));
    }
    output.clear();
  }

  /// Answers what has come, and sends the answers, as far as it goes. Requests that came together are answered one after the
  /// other, each when the last answer is on its way.
  void converse(Nanoseconds now) {
    for (bool goes_on = true; goes_on && !is_closed && !is_draining && output.empty();) {
      goes_on = protocol->step(input, output, now);
      if (output.empty()) continue;
      since = now;
      write(now);
    }
  }

  int socket;
  bool is_local;
  const ApiLimits& limits;
  Nanoseconds since;  ///< of the request that is read, of the response that is written, or of the last one
  std::unique_ptr<ApiProtocol> protocol;  ///< null before the first byte
  bool has_ended = false;                 ///< the client sends no more, but may still read
  bool is_draining = false;  ///< nothing is answered any more, only read until the client has closed
  bool is_closed = false;
  std::string input;
  std::string output;
};

ApiConnection::ApiConnection(int socket, bool is_local, const ApiLimits& limits, Nanoseconds now)
    : state_(std::make_unique<State>(socket, is_local, limits, now)) {}
ApiConnection::ApiConnection(ApiConnection&&) noexcept = default;
ApiConnection& ApiConnection::operator=(ApiConnection&&) noexcept = default;
ApiConnection::~ApiConnection() = default;

int ApiConnection::socket() const noexcept { return state_->socket; }

short ApiConnection::events() const noexcept {
  if (!state_->output.empty()) return POLLOUT;
  return state_->wants_input() ? POLLIN : short{0};
}

void ApiConnection::step(short revents, Nanoseconds now, const MakeApiProtocol& make) {
  State& own = *state_;
  if ((revents & (POLLERR | POLLNVAL)) != 0) own.is_closed = true;
  if (own.output.empty() && (revents & (POLLIN | POLLHUP)) != 0) own.read(now, make);
  if (own.has_ended && (revents & POLLHUP) != 0) own.take_the_rest(now);
  if (!own.is_closed && !own.output.empty()) own.write(now);
  if (own.protocol) own.converse(now);
  // A request that is not complete is none; one that awaits something is still answered.
  const bool is_waiting = own.protocol && !own.protocol->wants_input();
  if (own.has_ended && own.output.empty() && !is_waiting) own.is_closed = true;
  if (now >= time_limit()) own.is_closed = true;
}

Nanoseconds ApiConnection::time_limit() const noexcept {
  const ApiLimits& limits = state_->limits;
  if (!state_->output.empty()) return state_->since + limits.for_response;
  if (state_->is_draining) return state_->since + longest_draining;
  if (state_->is_in_request()) return state_->since + limits.for_request;
  const bool stays = state_->protocol && !state_->protocol->ends_when_idle();
  return stays ? never_due : state_->since + limits.idle;
}

Nanoseconds ApiConnection::deadline() const noexcept {
  return std::min(time_limit(), state_->protocol ? state_->protocol->deadline() : never_due);
}

bool ApiConnection::is_closed() const noexcept { return state_->is_closed; }

bool ApiConnection::may_make_room() const noexcept { return state_->output.empty(); }

Nanoseconds ApiConnection::waiting_since() const noexcept { return state_->since; }

}  // namespace tally::cli
