#include "squid/http_date.hpp"

#include <array>

namespace tally::cli {
namespace {

constexpr const char* format = "%a, %d %b %Y %H:%M:%S GMT";

}  // namespace

std::string http_date(std::time_t time) {
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), format, &parts);
  return text.data();
}

std::optional<std::time_t> parse_http_date(const std::string& text) {
  std::tm parts{};
  const char* end = strptime(text.c_str(), format, &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return timegm(&parts);
}

}  // namespace tally::cli
