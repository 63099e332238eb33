#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tally::cli {

/// The parts of "http://host:port/path".
struct HttpUrl {
  std::string host;  ///< an IPv6 address without its brackets
  std::uint16_t port = 80;
  std::string target;  ///< path and query; empty if there is none

  /// The value of the Host header.
  std::string authority() const;
};

/// Whether the text is meant as a URL: it begins with "http://" or "https://".
bool is_http_url(std::string_view text) noexcept;

/// Throws std::invalid_argument for https, which this command does not support, and for text that is not such
/// a URL.
HttpUrl parse_http_url(std::string_view text);

}  // namespace tally::cli
