#include "input/fields/field_list.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

namespace tally::cli {
namespace {

std::optional<std::size_t> field_number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0 || number >= FieldRange::no_end)
    return std::nullopt;
  return number;
}

/// "2", "2-4", "3-" or "-2".
std::optional<FieldRange> field_range(std::string_view item) {
  const std::size_t dash = item.find('-');
  std::optional<std::size_t> first = field_number(item.substr(0, std::min(dash, item.size())));
  std::optional<std::size_t> last = first;
  if (dash != std::string_view::npos) {
    if (dash == 0) first = 1;
    last = dash + 1 == item.size() ? (dash == 0 ? std::nullopt : std::optional(FieldRange::no_end))
                                   : field_number(item.substr(dash + 1));
  }
  if (!first || !last || *last < *first) return std::nullopt;
  return FieldRange{*first, *last};
}

}  // namespace

FieldList parse_field_list(std::string_view list, std::string_view flag, bool may_have_names) {
  FieldList parsed;
  for (std::size_t begin = 0; begin < list.size() || (begin > 0 && begin == list.size());) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    const std::string_view item = list.substr(begin, comma - begin);
    if (const std::optional<FieldRange> range = field_range(item)) {
      parsed.ranges.push_back(*range);
    } else if (may_have_names && !item.empty()) {
      parsed.names.emplace_back(item);
    } else {
      throw std::invalid_argument(std::string(flag) + " is '" + std::string(list) +
                                  "'; must be a list such as 2 or 1,3 or 2-4 or 3-, counted from 1" +
                                  (may_have_names ? ", or of names" : ""));
    }
    begin = comma + 1;
  }
  return parsed;
}

std::vector<FieldRange> merged(std::vector<FieldRange> ranges) {
  std::ranges::sort(ranges, {}, &FieldRange::first);
  std::vector<FieldRange> list;
  for (const FieldRange range : ranges) {
    if (!list.empty() && range.first <= list.back().last + 1) {
      list.back().last = std::max(list.back().last, range.last);
    } else {
      list.push_back(range);
    }
  }
  return list;
}

}  // namespace tally::cli
