#include "input/field_selector.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <stdexcept>

namespace tally::cli {
namespace {

constexpr std::size_t no_end = std::numeric_limits<std::size_t>::max() - 1;

std::optional<std::size_t> field_number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0 || number >= no_end)
    return std::nullopt;
  return number;
}

}  // namespace

FieldSelector::FieldSelector(std::string_view delimiter, std::string_view list, std::string_view flag) {
  if (delimiter.size() != 1) {
    throw std::invalid_argument("--delimiter is '" + std::string(delimiter) + "'; must be a single byte");
  }
  delimiter_ = delimiter[0];
  const auto refuse = [&] {
    throw std::invalid_argument(std::string(flag) + " is '" + std::string(list) +
                                "'; must be a list such as 2 or 1,3 or 2-4 or 3-, counted from 1");
  };
  for (std::size_t begin = 0; begin < list.size() || (begin > 0 && begin == list.size());) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    const std::string_view item = list.substr(begin, comma - begin);
    const std::size_t dash = item.find('-');
    std::optional<std::size_t> first = field_number(item.substr(0, std::min(dash, item.size())));
    std::optional<std::size_t> last = first;
    if (dash != std::string_view::npos) {
      if (dash == 0) first = 1;
      last = dash + 1 == item.size() ? (dash == 0 ? std::nullopt : std::optional(no_end))
                                     : field_number(item.substr(dash + 1));
    }
    if (!first || !last || *last < *first) refuse();
    ranges_.push_back({*first, *last});
    begin = comma + 1;
  }
  std::sort(ranges_.begin(), ranges_.end(), [](Range a, Range b) { return a.first < b.first; });
  std::vector<Range> merged;
  for (const Range range : ranges_) {
    if (!merged.empty() && range.first <= merged.back().last + 1) {
      merged.back().last = std::max(merged.back().last, range.last);
    } else {
      merged.push_back(range);
    }
  }
  ranges_ = std::move(merged);
}

std::string_view FieldSelector::select_fields(std::string_view line) {
  if (line.find(delimiter_) == std::string_view::npos) return line;
  std::vector<std::string_view> parts;
  std::string_view only;
  std::size_t num_parts = 0;
  std::size_t field = 1;
  std::size_t at = 0;
  for (const Range range : ranges_) {
    for (; field < range.first; ++field) {
      const std::size_t delimiter = line.find(delimiter_, at);
      if (delimiter == std::string_view::npos) break;
      at = delimiter + 1;
    }
    if (field < range.first) break;  // the line ends before
    std::size_t end = at;
    for (; field <= range.last; ++field) {
      end = std::min(line.find(delimiter_, end), line.size());
      if (end == line.size() || field == range.last) break;
      ++end;
    }
    const std::string_view part = line.substr(at, end - at);
    if (++num_parts == 1) {
      only = part;
    } else {
      if (num_parts == 2) parts.push_back(only);
      parts.push_back(part);
    }
    if (end == line.size()) break;
    at = end + 1;
    ++field;
  }
  if (num_parts <= 1) return only;
  std::string& joined = joined_.emplace_back();
  for (const std::string_view part : parts) {
    if (!joined.empty() || part.data() != parts.front().data()) joined += delimiter_;
    joined += part;
  }
  return joined;
}

}  // namespace tally::cli
