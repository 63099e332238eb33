#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "node/api_protocol.hpp"
#include "node/http_message.hpp"

namespace tally::cli {

using HttpHandler = std::function<HttpResponse(const HttpRequest&, Nanoseconds now)>;

/// HTTP/1.1: requests one after the other.
std::unique_ptr<ApiProtocol> make_http_protocol(bool is_local, std::size_t max_body_bytes,
                                                HttpHandler handler);

}  // namespace tally::cli
