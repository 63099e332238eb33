#pragma once

#include <optional>
#include <string_view>

#include "node/http_message.hpp"
#include "text/duration.hpp"

namespace tally::cli {

/// Answers what comes over connections that speak HTTP.
class HttpHandler {
 public:
  HttpHandler() = default;
  HttpHandler(const HttpHandler&) = delete;
  HttpHandler& operator=(const HttpHandler&) = delete;
  virtual ~HttpHandler() = default;

  /// Called when the header is complete: the answer to a request whose body is not worth reading.
  virtual std::optional<HttpResponse> refusal_of(const HttpRequest& header) = 0;
  /// Called when a request that was not refused is complete.
  virtual HttpResponse answer(const HttpRequest& request, Nanoseconds now) = 0;
  /// The answer to what is no request, is too long or too slow.
  virtual HttpResponse refuse(unsigned status, std::string_view why) = 0;
};

}  // namespace tally::cli
