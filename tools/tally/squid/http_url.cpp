#include "squid/http_url.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "text/host_and_port.hpp"

namespace tally::cli {

namespace {

[[noreturn]] void refuse(std::string_view url, std::string_view why) {
  throw std::invalid_argument(fmt::format("'{}' {}; give http://host:port/path", url, why));
}

}  // namespace

std::string HttpUrl::authority() const { return host_and_port(host, port); }

bool is_http_url(std::string_view text) noexcept {
  return text.starts_with("http://") || text.starts_with("https://");
}

HttpUrl parse_http_url(std::string_view text) {
  if (!text.starts_with("http://")) refuse(text, "is not an http URL");
  // A line break in it could add headers to the request.
  if (std::ranges::any_of(text, [](char c) { return c <= ' ' || c == '\x7f'; })) {
    refuse(text, "has a blank or a control character");
  }
  const std::string_view rest = text.substr(0, text.find('#')).substr(7);
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  std::string_view authority = rest.substr(0, end);
  HttpUrl url;
  url.target = rest.substr(end);
  if (url.target.starts_with('?')) url.target.insert(0, 1, '/');
  if (authority.find('@') != std::string_view::npos) refuse(text, "has a user name, which is not supported");
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) refuse(text, "has no ']'");
    url.host = authority.substr(1, bracket - 1);
    port = authority.substr(bracket + 1);
  } else {
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    url.host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  if (url.host.empty()) refuse(text, "has no host");
  if (!port.empty()) {
    port.remove_prefix(1);
    const char* last = port.data() + port.size();
    const auto [stop, error] = std::from_chars(port.data(), last, url.port);
    if (error != std::errc{} || stop != last || url.port == 0) refuse(text, "has an invalid port");
  }
  return url;
}

}  // namespace tally::cli
