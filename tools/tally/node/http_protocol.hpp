#pragma once

#include <cstddef>
#include <memory>

#include "node/api_protocol.hpp"
#include "node/http_handler.hpp"

namespace tally::cli {

/// HTTP/1.1: requests one after the other. `handler` must outlive it. Never stores more of a request than `max_body_bytes` of its
/// body, a header of 8 KiB, and what one call of step brings.
std::unique_ptr<ApiProtocol> make_http_protocol(bool is_local, std::size_t max_body_bytes,
                                                HttpHandler& handler);

}  // namespace tally::cli
