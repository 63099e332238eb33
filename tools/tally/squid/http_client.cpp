#include "squid/http_client.hpp"

#include <fmt/core.h>

#include <boost/asio/connect.hpp>
#include <span>
#include <stdexcept>

#include "cli/signals.hpp"
#include "squid/boost_http.hpp"
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
    const auto end = Clock::now() + std::chrono::seconds(limits_.seconds);
    resolver_.async_resolve(url_.host, std::to_string(url_.port),
                            [this](const Error& error, const Tcp::resolver::results_type& addresses) {
                              if (error) return fail("cannot find the host", error);
                              connect(addresses);
                            });
    while (!context_.stopped()) {
      if (stop_requested()) throw std::runtime_error("interrupted");
      if (Clock::now() > end) {
        throw std::runtime_error(fmt::format("{}: not complete after {} s", name(), limits_.seconds));
      }
      refuse_if_slow();
      context_.run_for(between_looks_at_signals);
    }
    const http::response<http::vector_body<unsigned char>>& answer = parser_.get();
    const auto bytes = std::as_bytes(std::span(answer.body()));
    if (answer.result() != http::status::ok) refuse(answer, bytes);
    return {bytes.begin(), bytes.end()};
  }

 private:
  using Clock = std::chrono::steady_clock;

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
    http::async_read_some(stream_, buffer_, parser_, [this](const Error& error, std::size_t count) {
      if (num_bytes_ == 0) began_ = Clock::now();
      num_bytes_ += count;
      if (error == http::error::body_limit) {
        throw std::runtime_error(
            fmt::format("{} answers with more than {} bytes", name(), limits_.max_body_bytes));
      }
      if (error) return fail("incomplete answer", error);
      refuse_if_hollow();
      if (!parser_.is_done()) receive();
    });
  }

  // Both protect against a peer that would otherwise keep us here for as long as the other limits allow.
  void refuse_if_slow() const {
    if (num_bytes_ == 0) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    if (seconds < limits_.slow_seconds ||
        static_cast<double>(num_bytes_) >= seconds * limits_.least_bytes_a_second)
      return;
    throw std::runtime_error(fmt::format("{}: too slow: {} bytes in {:.0f} s; must be at least {} per second",
                                         name(), num_bytes_, seconds, limits_.least_bytes_a_second));
  }
  void refuse_if_hollow() const {
    const std::uint64_t num_body_bytes = parser_.get().body().size();
    if (num_bytes_ <= 2 * num_body_bytes + limits_.max_other_bytes) return;
    throw std::runtime_error(fmt::format("{}: stopped, because only {} of {} received bytes are content",
                                         name(), num_body_bytes, num_bytes_));
  }

  void start_waiting() { stream_.expires_after(std::chrono::seconds(limits_.idle_seconds)); }
  std::string name() const { return fmt::format("http://{}{}", url_.authority(), url_.target); }

  [[noreturn]] void fail(const char* what, const Error& error) const {
    const bool too_late = error == beast::error::timeout;
    throw std::runtime_error(
        fmt::format("{}: {}: {}", name(), what,
                    too_late ? fmt::format("no data for {} s", limits_.idle_seconds) : error.message()));
  }
  // The first line of the body often has the reason: "This cache is currently building its digest."
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
  std::uint64_t num_bytes_ = 0;  // of the answer so far
  Clock::time_point began_{};    // when the first byte arrived
};

}  // namespace

std::vector<std::byte> http_get(const HttpUrl& url, const std::string& accept, const HttpLimits& limits) {
  return Exchange(url, accept, limits).run();
}

}  // namespace tally::cli
