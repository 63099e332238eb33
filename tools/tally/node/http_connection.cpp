#include "node/http_connection.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "tally/version.hpp"

namespace tally::cli {

namespace beast_http = boost::beast::http;
using HttpParser = beast_http::request_parser<beast_http::string_body>;

namespace {

constexpr std::uint32_t max_request_header_bytes = 8192;
constexpr Nanoseconds longest_draining = 2 * nanoseconds_per_second;

std::string_view view_of_field(const HttpParser::value_type& message, beast_http::field field) {
  const auto value = message[field];
  return {value.data(), value.size()};
}

/// The status for what a parser refuses.
unsigned status_of(const boost::system::error_code& error) {
  if (error == beast_http::error::body_limit) return 413;
  return error == beast_http::error::header_limit ? 431 : 400;
}

std::string text_of(const HttpResponse& response, bool keeps_alive, bool is_head) {
  const auto reason = beast_http::obsolete_reason(static_cast<beast_http::status>(response.status));
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nServer: tally/{}\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
      "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: {}\r\n",
      response.status, std::string_view(reason.data(), reason.size()), version(), response.content_type,
      response.body.size(), keeps_alive ? "keep-alive" : "close");
  if (response.status == 401) text += "WWW-Authenticate: Bearer\r\n";
  text += "\r\n";
  if (!is_head) text += response.body;
  return text;
}

}  // namespace

struct HttpConnection::State {
  State(int own_socket, bool own_is_local, const HttpServerLimits& own_limits, Nanoseconds now)
      : socket(own_socket), is_local(own_is_local), limits(own_limits), since(now) {
    begin_request();
  }
  ~State() { ::close(socket); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void begin_request() {
    parser.emplace();
    parser->eager(true);
    parser->header_limit(max_request_header_bytes);
    parser->body_limit(limits.max_body_bytes);
    is_in_request = false;
    has_said_continue = false;
  }

  void read(Nanoseconds now) {
    std::array<char, 65536> bytes;
    const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (count > 0 && is_draining) return;
    if (count > 0) {
      if (!is_in_request) since = now;
      is_in_request = true;
      input.append(bytes.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      is_closed = true;  // a request that is not complete is none
    }
  }

  void write(Nanoseconds now) {
    const ssize_t count = ::send(socket, output.data(), output.size(), MSG_NOSIGNAL);
    if (count < 0) {
      is_closed = errno != EAGAIN && errno != EINTR;
      return;
    }
    output.erase(0, static_cast<std::size_t>(count));
    if (!output.empty()) return;
    since = now;
    if (!is_last) return;
    // Closed at once, what the client still sends would take the response from it.
    ::shutdown(socket, SHUT_WR);
    is_draining = true;
  }

  void respond(const HttpResponse& response, bool keeps_alive, bool is_head, Nanoseconds now) {
    output += text_of(response, keeps_alive, is_head);
    is_last = !keeps_alive;
    since = now;
  }

  void refuse(unsigned status, std::string_view why, Nanoseconds now) {
    respond({status, "text/plain", std::string(why) + "\n"}, false, false, now);
  }

  /// Goes on with the input. Whether a request was answered.
  bool parse(Nanoseconds now, const HttpHandler& handler) {
    while (!input.empty() && !parser->is_done()) {
      boost::system::error_code error;
      const std::size_t used = parser->put(boost::asio::buffer(input), error);
      input.erase(0, used);
      if (error == beast_http::error::need_more) break;
      if (error) {
        refuse(status_of(error), error.message(), now);
        return false;
      }
      if (used == 0) break;
    }
    if (!parser->is_done()) {
      const bool wants_more = parser->is_header_done() &&
                              view_of_field(parser->get(), beast_http::field::expect) == "100-continue";
      if (wants_more && !std::exchange(has_said_continue, true)) output += "HTTP/1.1 100 Continue\r\n\r\n";
      return false;
    }
    answer(now, handler);
    return true;
  }

  void answer(Nanoseconds now, const HttpHandler& handler) {
    auto& message = parser->get();
    HttpRequest request;
    const auto method = message.method_string();
    request.method.assign(method.data(), method.size());
    const auto target = message.target();
    request.host = view_of_field(message, beast_http::field::host);
    request.origin = view_of_field(message, beast_http::field::origin);
    request.content_type = view_of_field(message, beast_http::field::content_type);
    request.authorization = view_of_field(message, beast_http::field::authorization);
    request.body = std::move(message.body());
    request.is_local = is_local;
    const bool keeps_alive = message.keep_alive();
    const bool is_path = split_target({target.data(), target.size()}, request);
    begin_request();
    if (!is_path) return refuse(400, "the target is not a path", now);
    const bool is_head = request.method == "HEAD";
    if (is_head) request.method = "GET";
    respond(handler(request), keeps_alive, is_head, now);
    is_in_request = !input.empty();
  }

  int socket;
  bool is_local;
  const HttpServerLimits& limits;
  Nanoseconds since;  ///< of the request that is read, of the response that is written, or of the last one
  bool is_in_request = false;
  bool has_said_continue = false;
  bool is_last = false;
  bool is_draining = false;  ///< nothing is answered any more, only read until the client has closed
  bool is_closed = false;
  std::optional<HttpParser> parser;
  std::string input;
  std::string output;
};

HttpConnection::HttpConnection(int socket, bool is_local, const HttpServerLimits& limits, Nanoseconds now)
    : state_(std::make_unique<State>(socket, is_local, limits, now)) {}
HttpConnection::HttpConnection(HttpConnection&&) noexcept = default;
HttpConnection& HttpConnection::operator=(HttpConnection&&) noexcept = default;
HttpConnection::~HttpConnection() = default;

int HttpConnection::socket() const noexcept { return state_->socket; }

short HttpConnection::events() const noexcept { return state_->output.empty() ? POLLIN : POLLOUT; }

void HttpConnection::step(short revents, Nanoseconds now, const HttpHandler& handler) {
  State& own = *state_;
  if ((revents & (POLLERR | POLLNVAL)) != 0) own.is_closed = true;
  if (own.output.empty() && (revents & (POLLIN | POLLHUP)) != 0) own.read(now);
  // Requests that came together are answered one after the other, each when the last answer is on its way.
  while (!own.is_closed && !own.is_draining && own.output.empty() && own.parse(now, handler)) own.write(now);
  if (!own.is_closed && !own.output.empty()) own.write(now);
  if (now >= deadline()) own.is_closed = true;
}

Nanoseconds HttpConnection::deadline() const noexcept {
  const HttpServerLimits& limits = state_->limits;
  if (!state_->output.empty()) return state_->since + limits.for_response;
  if (state_->is_draining) return state_->since + longest_draining;
  return state_->since + (state_->is_in_request ? limits.for_request : limits.idle);
}

bool HttpConnection::is_closed() const noexcept { return state_->is_closed; }

bool HttpConnection::may_make_room() const noexcept { return state_->output.empty(); }

Nanoseconds HttpConnection::waiting_since() const noexcept { return state_->since; }

}  // namespace tally::cli
