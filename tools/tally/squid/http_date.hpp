#pragma once

#include <ctime>
#include <optional>
#include <string>

namespace tally::cli {

/// "Sun, 06 Nov 1994 08:49:37 GMT", the time format of HTTP.
std::string http_date(std::time_t time);
/// Empty if the text is not such a date.
std::optional<std::time_t> parse_http_date(const std::string& text);

}  // namespace tally::cli
