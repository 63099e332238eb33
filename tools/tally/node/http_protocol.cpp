#include "node/http_protocol.hpp"

#include <fmt/core.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tally/version.hpp"

namespace tally::cli {

namespace beast_http = boost::beast::http;
using HttpParser = beast_http::request_parser<beast_http::string_body>;

namespace {

constexpr std::uint32_t max_request_header_bytes = 8192;

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

class HttpProtocol final : public ApiProtocol {
 public:
  HttpProtocol(bool is_local, std::size_t max_body_bytes, HttpHandler handler)
      : is_local_(is_local), max_body_bytes_(max_body_bytes), handler_(std::move(handler)) {
    begin_request();
  }

  bool step(std::string& input, std::string& output, Nanoseconds now) override {
    is_in_request_ = is_in_request_ || !input.empty();
    while (!input.empty() && !parser_->is_done()) {
      boost::system::error_code error;
      const std::size_t used = parser_->put(boost::asio::buffer(input), error);
      input.erase(0, used);
      if (error == beast_http::error::need_more) break;
      if (error) {
        refuse(status_of(error), error.message(), output);
        return false;
      }
      if (used == 0) break;
    }
    if (!parser_->is_done()) {
      const bool wants_more = parser_->is_header_done() &&
                              view_of_field(parser_->get(), beast_http::field::expect) == "100-continue";
      if (wants_more && !std::exchange(has_said_continue_, true)) output += "HTTP/1.1 100 Continue\r\n\r\n";
      return false;
    }
    answer(output, now);
    is_in_request_ = !input.empty();
    return true;
  }

  bool is_in_request() const noexcept override { return is_in_request_; }
  bool is_last() const noexcept override { return is_last_; }

 private:
  void begin_request() {
    parser_.emplace();
    parser_->eager(true);
    parser_->header_limit(max_request_header_bytes);
    parser_->body_limit(max_body_bytes_);
    has_said_continue_ = false;
  }

  void respond(const HttpResponse& response, bool keeps_alive, bool is_head, std::string& output) {
    output += text_of(response, keeps_alive, is_head);
    is_last_ = !keeps_alive;
  }

  void refuse(unsigned status, std::string_view why, std::string& output) {
    respond({status, "text/plain", std::string(why) + "\n"}, false, false, output);
  }

  void answer(std::string& output, Nanoseconds now) {
    auto& message = parser_->get();
    HttpRequest request;
    const auto method = message.method_string();
    request.method.assign(method.data(), method.size());
    const auto target = message.target();
    request.host = view_of_field(message, beast_http::field::host);
    request.origin = view_of_field(message, beast_http::field::origin);
    request.content_type = view_of_field(message, beast_http::field::content_type);
    request.authorization = view_of_field(message, beast_http::field::authorization);
    request.body = std::move(message.body());
    request.is_local = is_local_;
    const bool keeps_alive = message.keep_alive();
    const bool is_path = split_target({target.data(), target.size()}, request);
    begin_request();
    if (!is_path) return refuse(400, "the target is not a path", output);
    const bool is_head = request.method == "HEAD";
    if (is_head) request.method = "GET";
    respond(handler_(request, now), keeps_alive, is_head, output);
  }

  bool is_local_;
  std::size_t max_body_bytes_;
  HttpHandler handler_;
  bool is_in_request_ = false;
  bool has_said_continue_ = false;
  bool is_last_ = false;
  std::optional<HttpParser> parser_;
};

}  // namespace

std::unique_ptr<ApiProtocol> make_http_protocol(bool is_local, std::size_t max_body_bytes,
                                                HttpHandler handler) {
  return std::make_unique<HttpProtocol>(is_local, max_body_bytes, std::move(handler));
}

}  // namespace tally::cli
