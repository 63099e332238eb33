#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tally::cli {

/// Fields first to last of a line, counted from 1.
struct FieldRange {
  static constexpr std::size_t no_end = std::numeric_limits<std::size_t>::max() - 1;

  std::size_t first;
  std::size_t last;
};

/// "2,url,4-": what the option `flag` lists.
struct FieldList {
  std::vector<FieldRange> ranges;
  std::vector<std::string> names;
};

/// Throws std::invalid_argument for an invalid list. Whatever is neither a number nor a range is a name if `may_have_names`.
FieldList parse_field_list(std::string_view list, std::string_view flag, bool may_have_names);

/// Ascending, neither overlapping nor touching.
std::vector<FieldRange> merged(std::vector<FieldRange> ranges);

}  // namespace tally::cli
