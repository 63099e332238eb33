#include "http_client.hpp"

#include <fmt/format.h>

#include <boost/asio/connect.hpp>
#include <span>
#include <stdexcept>

#include "boost_http.hpp"
#include "signals.hpp"
#include "tally/version.hpp"

namespace tally::cli {

namespace {

/// One request: each step starts the next, and the first error ends it.
class Exchange {
 public:
  Exchange(const HttpUrl& url, const std::string& accept, const HttpLimits& limits)
      : url_(url), limits_(limits), resolver_(context_), stream_(context_) {
    request_.version(11);
    request_.method(http::verb::get);
    request_.target(url.target);
    request_.set(http::field::host, url.authority());
    request_.set(http::field::user_agent, fmt::format("tally/{}", version()));
    request_.set(http::field::accept, accept);
    request_.set(http::field::connection, "close");
    parser_.body_limit(limits.max_body_bytes);
    parser_.header_limit(max_header_bytes);
  }

  std::vector<std::byte> run() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limits_.seconds);
    resolver_.async_resolve(url_.host, std::to_string(url_.port),
                            [this](const Error& error, const Tcp::resolver::results_type& addresses) {
                              if (error) return fail("cannot find the host", error);
                              connect(addresses);
                            });
    while (!context_.stopped()) {
      if (stop_requested()) throw std::runtime_error("interrupted");
      if (std::chrono::steady_clock::now() > end) {
        throw std::runtime_error(fmt::format("{}: not done after {} s", name(), limits_.seconds));
      }
      context_.run_for(between_looks_at_signals);
    }
    const http::response<http::vector_body<unsigned char>>& answer = parser_.get();
    const auto bytes = std::as_bytes(std::span(answer.body()));
    if (answer.result() != http::status::ok) refuse(answer, bytes);
    return {bytes.begin(), bytes.end()};
  }

 private:
  void connect(const Tcp::resolver::results_type& addresses) {
    start_waiting();
    stream_.async_connect(addresses, [this](const Error& error, const Tcp::endpoint&) {
      if (error) return fail("cannot connect", error);
      send();
    });
  }
  void send() {
    start_waiting();
    http::async_write(stream_, request_, [this](const Error& error, std::size_t) {
      if (error) return fail("cannot send the request", error);
      receive();
    });
  }
  void receive() {
    start_waiting();
    http::async_read_some(stream_, buffer_, parser_, [this](const Error& error, std::size_t) {
      if (error == http::error::body_limit) {
        throw std::runtime_error(
            fmt::format("{} answers with more than {} bytes", name(), limits_.max_body_bytes));
      }
      if (error) return fail("no whole answer", error);
      if (!parser_.is_done()) receive();
    });
  }

  void start_waiting() { stream_.expires_after(std::chrono::seconds(limits_.idle_seconds)); }
  std::string name() const { return fmt::format("http://{}{}", url_.authority(), url_.target); }

  [[noreturn]] void fail(const char* what, const Error& error) const {
    const bool too_late = error == beast::error::timeout;
    throw std::runtime_error(
        fmt::format("{}: {}: {}", name(), what,
                    too_late ? fmt::format("nothing came for {} s", limits_.idle_seconds) : error.message()));
  }
  // The first line of the body often says why: "This cache is currently building its digest."
  [[noreturn]] void refuse(const http::response<http::vector_body<unsigned char>>& answer,
                           std::span<const std::byte> body) const {
    std::string line;
    for (const std::byte byte : body) {
      const char c = static_cast<char>(byte);
      if (c < ' ' || c > '~' || c == '<' || line.size() > 200) break;
      line += c;
    }
    throw std::runtime_error(fmt::format("{} answers {} {}{}{}", name(), answer.result_int(),
                                         std::string(answer.reason()), line.empty() ? "" : ": ", line));
  }

  const HttpUrl& url_;
  HttpLimits limits_;
  asio::io_context context_{1};
  Tcp::resolver resolver_;
  beast::tcp_stream stream_;
  http::request<http::empty_body> request_;
  beast::flat_buffer buffer_;
  http::response_parser<http::vector_body<unsigned char>> parser_;
};

}  // namespace

std::vector<std::byte> http_get(const HttpUrl& url, const std::string& accept, const HttpLimits& limits) {
  return Exchange(url, accept, limits).run();
}

}  // namespace tally::cli
