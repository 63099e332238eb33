#include "node/http_message.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "text/hex_digit.hpp"

namespace tally::cli {
namespace {

/// In a query a plus is a blank.
std::optional<std::string> decoded(std::string_view text, bool is_query) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += is_query && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const int high = value_of_hex_digit(text[i + 1]);
    const int low = value_of_hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(16 * high + low);
    i += 2;
  }
  return bytes;
}

}  // namespace

bool split_target(std::string_view target, HttpRequest& request) {
  if (!target.starts_with('/')) return false;
  target = target.substr(0, target.find('#'));
  const std::size_t question = target.find('?');
  auto path = decoded(target.substr(0, question), false);
  if (!path) return false;
  request.path = std::move(*path);
  request.query.clear();
  std::string_view query = question == target.npos ? std::string_view() : target.substr(question + 1);
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    auto name = decoded(pair.substr(0, equals), true);
    auto value = decoded(equals == pair.npos ? std::string_view() : pair.substr(equals + 1), true);
    if (!name || !value) return false;
    request.query.emplace_back(std::move(*name), std::move(*value));
  }
  return true;
}

}  // namespace tally::cli
