#include "json_catalogue/json_record.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace tally::cli {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

JsonMember member_of_row(std::string_view row) {
  constexpr std::size_t num_columns = 4;
  std::array<std::string_view, num_columns> columns;
  for (std::size_t i = 0; i + 1 < num_columns; ++i) {
    const std::size_t bar = row.find('|');
    if (bar == std::string_view::npos) throw std::logic_error("a row of the catalogue has too few columns");
    columns[i] = trimmed(row.substr(0, bar));
    row.remove_prefix(bar + 1);
  }
  columns.back() = trimmed(row);
  const bool may_be_absent = columns[0].ends_with('?');
  if (may_be_absent) columns[0].remove_suffix(1);
  return {.name = std::string(columns[0]),
          .may_be_absent = may_be_absent,
          .type = std::string(columns[1]),
          .unit = std::string(columns[2]),
          .meaning = std::string(columns[3])};
}

}  // namespace

std::vector<JsonMember> JsonRecord::members() const {
  std::vector<JsonMember> all;
  std::string_view left = table;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    const std::string_view row = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    if (trimmed(row).empty()) continue;
    if (row.front() == ' ') all.back().meaning.append(" ").append(trimmed(row));
    else all.push_back(member_of_row(row));
  }
  return all;
}

}  // namespace tally::cli
