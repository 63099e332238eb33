#include "input/fields/access_log.hpp"

namespace tally::cli {
namespace {

/// Where the quote that begins at `begin` ends; a backslash protects a quote.
std::size_t end_of_quoted(std::string_view line, std::size_t begin) noexcept {
  for (std::size_t at = line.find('"', begin); at != std::string_view::npos; at = line.find('"', at + 1)) {
    std::size_t protected_from = at;
    while (protected_from > begin && line[protected_from - 1] == '\\') --protected_from;
    if ((at - protected_from) % 2 == 0) return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::size_t AccessLog::read(std::string_view line, std::size_t count, Fields& fields) noexcept {
  std::size_t at = 0;
  for (std::size_t field = 0; field < count; ++field) {
    while (at < line.size() && line[at] == ' ') ++at;
    if (at == line.size()) return field;
    const bool is_quoted = line[at] == '"';
    if (is_quoted || line[at] == '[') {
      ++at;
      const std::size_t end = is_quoted ? end_of_quoted(line, at) : line.find(']', at);
      if (end == std::string_view::npos) return broken;
      fields[field] = line.substr(at, end - at);
      at = end + 1;
    } else {
      const std::size_t end = line.find(' ', at);
      fields[field] = line.substr(at, end - at);
      at = end == std::string_view::npos ? line.size() : end;
    }
  }
  return count;
}

bool AccessLog::divide_request(Fields& fields) noexcept {
  const std::string_view text = fields[request];
  const std::size_t first = text.find(' ');
  constexpr std::size_t usual_protocol = std::string_view(" HTTP/1.1").size();
  const bool is_usual = text.size() > usual_protocol && text[text.size() - usual_protocol] == ' ' &&
                        text.substr(text.size() - usual_protocol).starts_with(" HTTP/");
  const std::size_t last = is_usual ? text.size() - usual_protocol : text.rfind(' ');
  if (first == std::string_view::npos || first == last) return false;
  fields[method] = text.substr(0, first);
  fields[method + 1] = text.substr(first + 1, last - first - 1);
  fields[method + 2] = text.substr(last + 1);
  return true;
}

}  // namespace tally::cli
