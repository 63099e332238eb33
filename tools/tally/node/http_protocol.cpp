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

constexpr std::uint32_t max_header_bytes = 8192;
// "0\r\n\r\n". Given less of it twice, an assertion of the parser fails.
constexpr std::size_t shortest_end_of_chunks = 5;
// So chunks of 64 bytes and more are read, however long the body is.
constexpr std::size_t body_bytes_per_framing_byte = 8;

template <class Name>
std::string_view view_of_field(const HttpParser::value_type& message, Name field) {
  const auto value = message[field];
  return {value.data(), value.size()};
}

std::string text_of(const HttpResponse& response, bool keeps_alive, bool is_head) {
  const auto reason = beast_http::obsolete_reason(static_cast<beast_http::status>(response.status));
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nServer: tally/{}\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
      "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: {}\r\n",
      response.status, std::string_view(reason.data(), reason.size()), version(), response.content_type,
      response.body.size(), keeps_alive ? "keep-alive" : "close");
  if (response.status == 401) text += "WWW-Authenticate: Bearer\r\n";
  if (!response.allow.empty()) text += fmt::format("Allow: {}\r\n", response.allow);
  text += "\r\n";
  if (!is_head) text += response.body;
  return text;
}

class HttpProtocol final : public ApiProtocol {
 public:
  HttpProtocol(bool is_local, std::size_t max_body_bytes, HttpHandler& handler)
      : is_local_(is_local), max_body_bytes_(max_body_bytes), handler_(handler) {
    begin_request();
  }

  bool step(std::string& input, std::string& output, Nanoseconds now) override {
    is_in_request_ = is_in_request_ || !input.empty();
    const boost::system::error_code error = parse(input, output);
    if (is_last_) return false;
    if (error && error != beast_http::error::need_more) return refuse_for(error, output);
    if (!refusal_ && has_long_framing(parser_->is_done() ? 0 : input.size()))
      return refuse_for(beast_http::error::header_limit, output);
    if (!parser_->is_done()) {
      const bool wants_more = parser_->is_header_done() &&
                              view_of_field(parser_->get(), beast_http::field::expect) == "100-continue";
      if (wants_more && !std::exchange(has_said_continue_, true)) output += "HTTP/1.1 100 Continue\r\n\r\n";
      return false;
    }
    answer(output, now);
    is_in_request_ = !input.empty();
    return !is_last_;
  }

  void time_out(std::string& output, Nanoseconds limit) override {
    refuse(408,
           fmt::format("the request was not complete within {} s; send fewer keys at once",
                       limit / nanoseconds_per_second),
           output);
  }
  std::uint64_t num_requests() const noexcept override { return num_requests_; }
  bool is_in_request() const noexcept override { return is_in_request_; }
  bool is_last() const noexcept override { return is_last_; }

 private:
  void begin_request() {
    parser_.emplace();
    parser_->header_limit(max_header_bytes);  // of each part of a header that comes in one call of put
    parser_->body_limit(max_body_bytes_);
    request_ = {};
    refusal_.reset();
    num_bytes_ = 0;
    has_said_continue_ = false;
  }

  /// As much of the request as there is; calls take_header when its header is complete.
  boost::system::error_code parse(std::string& input, std::string& output) {
    boost::system::error_code error;
    std::size_t used = 0;
    while (used < input.size() && !parser_->is_done() && !error && !is_last_) {
      if (may_be_end_of_chunks(std::string_view(input).substr(used))) break;
      const std::size_t taken =
          parser_->put(boost::asio::buffer(input.data() + used, input.size() - used), error);
      used += taken;
      if (!parser_->eager() && parser_->is_header_done()) {
        parser_->eager(true);
        take_header(output);
      }
      if (taken == 0) break;
    }
    num_bytes_ += used;
    input.erase(0, used);
    return error;
  }

  /// Whether this may be a part of the last chunk that is too short for the parser. More bytes will follow in any case.
  bool may_be_end_of_chunks(std::string_view text) const {
    return parser_->is_header_done() && parser_->chunked() && text.size() < shortest_end_of_chunks &&
           (text[0] == '0' || text[0] == '\r');
  }

  /// Whether what is no body is too long: the header, heads of chunks and trailers. The parser limits neither these nor a header
  /// that comes bit by bit. `num_pending` bytes wait for the rest of such a part.
  bool has_long_framing(std::size_t num_pending) const {
    if (num_pending > max_header_bytes) return true;
    const std::size_t num_body_bytes = parser_->get().body().size();
    return num_bytes_ + num_pending - num_body_bytes >
           max_header_bytes + num_body_bytes / body_bytes_per_framing_byte;
  }

  bool refuse_for(const boost::system::error_code& error, std::string& output) {
    if (error == beast_http::error::body_limit) {
      refuse(
          413,
          fmt::format("the body has more than {} bytes; send the keys in several requests", max_body_bytes_),
          output);
    } else if (error == beast_http::error::header_limit) {
      refuse(431,
             fmt::format("the header, or what is around the chunks, has more than {} bytes; send shorter "
                         "fields, or larger chunks",
                         max_header_bytes),
             output);
    } else {
      refuse(400, fmt::format("this is not HTTP/1.1: {}", error.message()), output);
    }
    return false;
  }

  void refuse(unsigned status, std::string_view why, std::string& output) {
    respond(handler_.refuse(status, why), false, false, output);
  }

  void respond(const HttpResponse& response, bool keeps_alive, bool is_head, std::string& output) {
    // A client without a token is not to hold one of the connections.
    is_last_ = !keeps_alive || response.status == 401;
    output += text_of(response, !is_last_, is_head);
    ++num_requests_;
  }

  /// Refuses the request if its body need not be read.
  void take_header(std::string& output) {
    const auto& message = parser_->get();
    const auto method = message.method_string();
    request_.method.assign(method.data(), method.size());
    const auto target = message.target();
    request_.host = view_of_field(message, beast_http::field::host);
    request_.origin = view_of_field(message, beast_http::field::origin);
    request_.fetch_site = view_of_field(message, "Sec-Fetch-Site");
    request_.content_type = view_of_field(message, beast_http::field::content_type);
    request_.authorization = view_of_field(message, beast_http::field::authorization);
    request_.has_body = parser_->chunked() || parser_->content_length().value_or(0) > 0;
    request_.is_local = is_local_;
    is_head_ = request_.method == "HEAD";
    if (is_head_) request_.method = "GET";
    if (!split_target({target.data(), target.size()}, request_)) {
      refuse(400,
             "the target is not a path such as /who-has?key=KEY, or has a '%' without two hexadecimal digits",
             output);
      return;
    }
    refusal_ = handler_.refusal_of(request_);
    if (refusal_ && !parser_->is_done()) respond(*refusal_, false, is_head_, output);
  }

  void answer(std::string& output, Nanoseconds now) {
    const bool keeps_alive = parser_->get().keep_alive();
    HttpRequest request = std::move(request_);
    request.body = std::move(parser_->get().body());
    const std::optional<HttpResponse> refusal = std::move(refusal_);
    begin_request();
    respond(refusal ? *refusal : handler_.answer(request, now), keeps_alive, is_head_, output);
  }

  bool is_local_;
  std::size_t max_body_bytes_;
  HttpHandler& handler_;
  bool is_in_request_ = false;
  bool has_said_continue_ = false;
  bool is_last_ = false;
  bool is_head_ = false;
  std::size_t num_bytes_ = 0;  // of the request so far
  std::uint64_t num_requests_ = 0;
  HttpRequest request_;                  // from its header on
  std::optional<HttpResponse> refusal_;  // of a request without a body
  std::optional<HttpParser> parser_;
};

}  // namespace

std::unique_ptr<ApiProtocol> make_http_protocol(bool is_local, std::size_t max_body_bytes,
                                                HttpHandler& handler) {
  return std::make_unique<HttpProtocol>(is_local, max_body_bytes, handler);
}

}  // namespace tally::cli
