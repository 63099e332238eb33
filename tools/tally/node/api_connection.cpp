#include "node/api_connection.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

namespace tally::cli {
namespace {

constexpr Nanoseconds longest_draining = 2 * nanoseconds_per_second;
constexpr Nanoseconds never_due = std::numeric_limits<Nanoseconds>::max();
// Then the other clients have their turn.
constexpr int most_rounds_per_step = 8;

}  // namespace

struct ApiConnection::State {
  State(int own_socket, bool own_is_local, const ApiLimits& own_limits, Nanoseconds now)
      : socket(own_socket), is_local(own_is_local), limits(own_limits), since(now) {}
  ~State() { ::close(socket); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  bool is_in_request() const { return protocol && protocol->is_in_request(); }
  bool wants_input() const { return !has_ended && !has_more && (!protocol || protocol->wants_input()); }

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
      has_ended = true;
      drop_answers(now);
    }
  }

  void write(Nanoseconds now) {
    const ssize_t count = ::send(socket, output.data(), output.size(), MSG_NOSIGNAL);
    if (count < 0) {
      if (errno != EAGAIN && errno != EINTR) drop_answers(now);
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

  /// The client does not read any more. What it said before is done all the same.
  void drop_answers(Nanoseconds now) {
    output.clear();
    if (drops_answers) return;
    drops_answers = true;
    since = now;
    if (protocol) protocol->hang_up();
  }

  /// Answers what has come, and sends the answers, as far as it goes. Requests that came together are answered one after the
  /// other, each when the last answer is on its way.
  void converse(Nanoseconds now) {
    has_more = !is_draining;
    for (int i = 0; i < most_rounds_per_step && has_more && !is_draining && output.empty(); ++i) {
      const std::uint64_t num_requests = protocol->num_requests();
      has_more = protocol->step(input, output, now);
      if (protocol->num_requests() != num_requests) since = now;
      if (drops_answers) output.clear();
      if (output.empty()) continue;
      since = now;
      write(now);
    }
    has_more = has_more && !is_draining;
  }

  /// Says that the request took too long. False if there is nobody to say it to.
  bool time_out(Nanoseconds now) {
    if (!is_in_request() || !output.empty() || is_draining || drops_answers) return false;
    protocol->time_out(output, limits.for_request);
    since = now;
    write(now);
    return true;
  }

  bool is_over() const {
    if (!output.empty() || has_more) return false;
    if (drops_answers && (is_draining || (protocol && protocol->is_last()))) return true;
    // A request that is not complete is none; one that awaits something is still answered.
    const bool is_waiting = protocol && !protocol->wants_input();
    return has_ended && !is_waiting;
  }

  int socket;
  bool is_local;
  const ApiLimits& limits;
  Nanoseconds since;  ///< of the request that is read, of the response that is written, or of the last one
  std::unique_ptr<ApiProtocol> protocol;  ///< null before the first byte
  bool has_ended = false;                 ///< the client sends no more, but may still read
  bool drops_answers = false;             ///< the client does not read, but what it sent is still taken
  bool has_more = false;                  ///< there is input that can be taken at once
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
  // After an error too there may be something to read.
  const bool is_readable = (revents & (POLLIN | POLLHUP | POLLERR)) != 0;
  if (is_readable && own.output.empty() && !own.has_more) own.read(now, make);
  if (own.has_ended && (revents & POLLHUP) != 0) own.drop_answers(now);
  if (!own.output.empty()) own.write(now);
  if (own.protocol) own.converse(now);
  own.is_closed = own.is_over() || (revents & POLLNVAL) != 0 || (now >= time_limit() && !own.time_out(now));
}

Nanoseconds ApiConnection::time_limit() const noexcept {
  const ApiLimits& limits = state_->limits;
  if (!state_->output.empty()) return state_->since + limits.for_response;
  if (state_->is_draining) return state_->since + longest_draining;
  if (state_->is_in_request()) return state_->since + limits.for_request;
  const bool stays = state_->protocol && !state_->protocol->ends_when_idle() && !state_->drops_answers;
  return stays ? never_due : state_->since + limits.idle;
}

Nanoseconds ApiConnection::deadline() const noexcept {
  if (state_->has_more && state_->output.empty()) return 0;
  return std::min(time_limit(), state_->protocol ? state_->protocol->deadline() : never_due);
}

bool ApiConnection::is_closed() const noexcept { return state_->is_closed; }

Nanoseconds ApiConnection::waiting_since() const noexcept { return state_->since; }

}  // namespace tally::cli
