#include "squid/digest_server.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cli/signals.hpp"
#include "squid/access_log.hpp"
#include "squid/boost_http.hpp"
#include "squid/digest_file.hpp"
#include "squid/http_date.hpp"
#include "tally/summaries/squid/digest.hpp"
#include "tally/version.hpp"
#include "text/host_and_port.hpp"
#include "text/output.hpp"

namespace tally::cli {

namespace {

constexpr std::size_t max_connections = 256;
constexpr std::chrono::seconds idle_seconds{30};
// Squid (since 2002, and still in 5.7) reads a digest wrongly if more than 128 bytes of its bits arrive
// together with what comes before them: it moves too few of them to the front (its bug 5510). So the bits are
// sent a little later.
constexpr std::chrono::milliseconds before_the_bits{300};
constexpr std::chrono::milliseconds after_an_error{10};
constexpr std::size_t least_bytes_a_second = 65536;
constexpr std::uint64_t max_body_bytes = 65536;  // of a request, which is read and ignored

class Session;

/// Shared by all connections.
struct Server {
  const DigestServerOptions& options;
  DigestFile digest;
  std::optional<AccessLog> access_log{};
  std::size_t num_connections = 0;
  std::list<Session*> idle{};  ///< those that wait for a request, the longest first

  /// Makes room for a connection. Returns false if none is idle.
  bool close_longest_idle();
};

using Request = http::request<http::string_body>;

// "/path" of "/path?query" and of "http://host/path".
std::string_view path_of(std::string_view target) {
  if (const std::size_t scheme_end = target.find("://"); scheme_end < target.find('/')) {
    target.remove_prefix(scheme_end + 3);
    target.remove_prefix(std::min(target.find('/'), target.size()));
  }
  return target.substr(0, target.find_first_of("?#"));
}

// A request to a cache: a whole URL, or something that it may not fetch.
bool asks_a_cache(const Request& request) {
  const std::string_view target(request.target().data(), request.target().size());
  const auto cache_control = request[http::field::cache_control];
  return !target.starts_with('/') || cache_control.find("only-if-cached") != beast::string_view::npos;
}

/// One connection: requests one after the other, until it is closed, idle for too long, or idle while other
/// connections need its room.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Tcp::socket socket, Server& server)
      : stream_(std::move(socket)), server_(server), pause_(stream_.get_executor()) {
    ++server_.num_connections;
  }
  ~Session() {
    stop_idling();
    --server_.num_connections;
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(max_header_bytes);
    parser_->body_limit(max_body_bytes);
    stream_.expires_after(idle_seconds);
    server_.idle.push_back(this);
    is_idle_ = true;
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](const Error& error, std::size_t) {
                       self->stop_idling();
                       if (!error) return self->answer(self->parser_->get());
                       if (error.category() == http::make_error_code(http::error::bad_method).category() &&
                           error != http::error::end_of_stream && error != http::error::partial_message) {
                         self->answer_malformed();
                       }
                     });
  }

  /// Ends it now; the rest is freed when its read completes.
  void close() {
    stop_idling();
    stream_.close();
  }

 private:
  void stop_idling() {
    if (is_idle_) server_.idle.remove(this);
    is_idle_ = false;
  }

  void begin_entry(std::string_view method, std::string_view target, std::string_view agent,
                   unsigned version) {
    if (!server_.access_log) return;
    Error ignored;
    entry_ = {.client = stream_.socket().remote_endpoint(ignored).address().to_string(),
              .at = std::time(nullptr),
              .method = std::string(method),
              .target = std::string(target),
              .version = version,
              .num_body_bytes = {},
              .user_agent = std::string(agent)};
  }
  void end_entry(std::optional<std::uint64_t> num_body_bytes) {
    if (!server_.access_log) return;
    entry_.status = response_.result_int();
    entry_.num_body_bytes = num_body_bytes;
    server_.access_log->add(entry_);
  }

  void answer_malformed() {
    begin_entry("", "", "", 11);
    start(http::status::bad_request, false);
    send("bad request\n", false);
  }

  void answer(const Request& request) {
    const std::string_view target(request.target().data(), request.target().size());
    const bool is_head = request.method() == http::verb::head;
    const auto method = request.method_string();
    const auto agent = request[http::field::user_agent];
    begin_entry({method.data(), method.size()}, target, {agent.data(), agent.size()}, request.version());
    if (!is_head && request.method() != http::verb::get) {
      start(http::status::method_not_allowed, request.keep_alive());
      response_.set(http::field::allow, "GET, HEAD");
      send("GET and HEAD only\n", is_head);
    } else if (path_of(target) == squid_digest_path) {
      answer_digest(request, is_head);
    } else if (asks_a_cache(request)) {
      start(http::status::gateway_timeout, request.keep_alive());
      send("not found; this server has only a cache digest\n", is_head);
    } else {
      start(http::status::not_found, request.keep_alive());
      send(fmt::format("the digest is at {}\n", squid_digest_path), is_head);
    }
    if (server_.options.log) {
      print(fmt::format("{} {} {}\n", response_.result_int(), std::string_view(method.data(), method.size()),
                        target));
    }
  }

  void answer_digest(const Request& request, bool is_head) {
    server_.digest.refresh();
    bytes_ = server_.digest.bytes();
    const auto since = request[http::field::if_modified_since];
    const std::optional<std::time_t> seen = parse_http_date({since.data(), since.size()});
    const bool is_new = !seen || server_.digest.last_modified() > *seen;
    start(is_new ? http::status::ok : http::status::not_modified, request.keep_alive());
    response_.set(http::field::last_modified, http_date(server_.digest.last_modified()));
    response_.set(http::field::expires,
                  http_date(std::time(nullptr) + static_cast<std::time_t>(server_.options.expires_seconds)));
    if (!is_new || is_head) {
      send_bytes({}, "application/cache-digest", is_new ? bytes_->size() : 0);
    } else {
      send_digest();
    }
  }

  void send_digest() {
    response_.set(http::field::content_type, "application/cache-digest");
    response_.content_length(bytes_->size());
    serializer_.emplace(response_);
    stream_.expires_after(idle_seconds);
    http::async_write_header(stream_, *serializer_,
                             [self = shared_from_this()](const Error& error, std::size_t) {
                               error ? self->end_entry({}) : self->send_digest_header();
                             });
  }
  void send_digest_header() {
    asio::async_write(stream_, asio::buffer(bytes_->data(), SquidDigest::header_bytes),
                      [self = shared_from_this()](const Error& error, std::size_t) {
                        if (error) return self->end_entry({});
                        self->pause_.expires_after(before_the_bits);
                        self->pause_.async_wait([self](const Error&) { self->send_digest_bits(); });
                      });
  }
  void send_digest_bits() {
    stream_.expires_after(idle_seconds + std::chrono::seconds(bytes_->size() / least_bytes_a_second));
    asio::async_write(stream_, asio::buffer(*bytes_) + SquidDigest::header_bytes,
                      [self = shared_from_this()](const Error& error, std::size_t) {
                        self->finish(error, self->bytes_->size());
                      });
  }

  void start(http::status status, bool keep_alive) {
    response_ = {};
    response_.version(11);
    response_.result(status);
    response_.keep_alive(keep_alive);
    response_.set(http::field::server, fmt::format("tally/{}", version()));
    response_.set(http::field::date, http_date(std::time(nullptr)));
  }
  void send(std::string text, bool is_head) {
    text_ = std::move(text);
    send_bytes(is_head ? std::string_view() : text_, "text/plain", text_.size());
  }
  void send_bytes(std::string_view bytes, const char* type, std::uint64_t length) {
    response_.set(http::field::content_type, type);
    if (response_.result() != http::status::not_modified) response_.content_length(length);
    response_.body() = {bytes.data(), bytes.size()};
    stream_.expires_after(idle_seconds);
    http::async_write(stream_, response_,
                      [self = shared_from_this(), num_bytes = bytes.size()](const Error& error, std::size_t) {
                        self->finish(error, num_bytes);
                      });
  }
  // After an error, the peer closed the connection, or reads too slowly: there is nothing left to do.
  void finish(const Error& error, std::uint64_t num_body_bytes) {
    end_entry(error ? std::nullopt : std::optional(num_body_bytes));
    if (error) return;
    if (response_.keep_alive()) return read();
    Error ignored;
    stream_.socket().shutdown(Tcp::socket::shutdown_send, ignored);
  }

  beast::tcp_stream stream_;
  Server& server_;
  asio::steady_timer pause_;
  beast::flat_buffer buffer_{max_header_bytes + max_body_bytes};
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::span_body<const char>> response_;
  std::optional<http::response_serializer<http::span_body<const char>>> serializer_;
  std::shared_ptr<const DigestFile::Bytes> bytes_;
  std::string text_;
  AccessLogEntry entry_;
  bool is_idle_ = false;
};

bool Server::close_longest_idle() {
  if (idle.empty()) return false;
  idle.front()->close();
  return true;
}

Tcp::endpoint endpoint_of(asio::io_context& context, const DigestServerOptions& options) {
  Error error;
  Tcp::resolver resolver(context);
  const auto found = resolver.resolve(options.host, std::to_string(options.port),
                                      Tcp::resolver::passive | Tcp::resolver::address_configured, error);
  const auto any = error ? resolver.resolve(options.host, std::to_string(options.port), error) : found;
  if (error) throw std::runtime_error(fmt::format("--host: '{}': {}", options.host, error.message()));
  return *any.begin();
}

class Listener {
 public:
  Listener(asio::io_context& context, Server& server) : acceptor_(context), server_(server), pause_(context) {
    const Tcp::endpoint endpoint = endpoint_of(context, server.options);
    Error error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      throw std::runtime_error(fmt::format("cannot listen on {} port {}: {}", server.options.host,
                                           endpoint.port(), error.message()));
    }
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  void accept() {
    acceptor_.async_accept([this](const Error& error, Tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      // The new connection probably has a request. A busy one stays: its time is limited.
      const bool is_full = error == asio::error::no_descriptors || server_.num_connections >= max_connections;
      const bool has_place = !is_full || server_.close_longest_idle();
      if (!error && has_place) std::make_shared<Session>(std::move(socket), server_)->read();
      if (!error || has_place) return accept();
      pause_.expires_after(after_an_error);  // pending connections would cause the same error at once
      pause_.async_wait([this](const Error& stopped) {
        if (!stopped) accept();
      });
    });
  }

 private:
  Tcp::acceptor acceptor_;
  Server& server_;
  asio::steady_timer pause_;
};

}  // namespace

void serve_digest(const DigestServerOptions& options) {
  Server server{options, DigestFile(options.path, options.quiet)};
  if (!options.access_log.empty()) {
    server.access_log.emplace(options.access_log);
    install_status_handler();
  }
  asio::io_context context(1);  // after the server: sessions that are left end with it
  Listener listener(context, server);
  listener.accept();
  remark(options.quiet, fmt::format("serving {} at http://{}{}", options.path,
                                    host_and_port(options.host, listener.port()), squid_digest_path));
  while (!stop_requested()) {
    context.run_for(between_looks_at_signals);
    if (take_status_request()) server.access_log->reopen();
  }
}

}  // namespace tally::cli
