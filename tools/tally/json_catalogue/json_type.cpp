#include "json_catalogue/json_type.hpp"

#include <algorithm>
#include <array>

namespace tally::cli {

std::vector<JsonType> JsonType::alternatives() const {
  constexpr std::string_view separator = " or ";
  std::vector<JsonType> all;
  std::string_view left = text_;
  for (std::size_t end = 0; (end = left.find(separator)) != std::string_view::npos;) {
    all.emplace_back(left.substr(0, end));
    left.remove_prefix(end + separator.size());
  }
  all.emplace_back(left);
  return all;
}

bool JsonType::is_plain() const {
  constexpr std::array<std::string_view, 5> names{"string", "integer", "number", "boolean", "null"};
  return std::ranges::find(names, text_) != names.end();
}

}  // namespace tally::cli
