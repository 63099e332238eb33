#pragma once

#include <ctime>
#include <optional>
#include <string>

namespace tally::cli {

/// "Sun, 06 Nov 1994 08:49:37 GMT", as HTTP has times.
std::string http_date(std::time_t time);
/// Nothing for what is no such date.
std::optional<std::time_t> parse_http_date(const std::string& text);

}  // namespace tally::cli
