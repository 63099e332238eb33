#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally::cli {

/// Selects fields of a line as cut does: `list` is "2", "1,3", "2-4", "3-" or "-2". Fields count from 1 and
/// are output in the line's order, joined by the delimiter. A line without the delimiter, and any line if the
/// list is empty, is taken whole.
class FieldSelector {
 public:
  /// Throws std::invalid_argument for a delimiter that is not one byte, or an invalid list; `flag` is the
  /// option that gave the list.
  FieldSelector(std::string_view delimiter, std::string_view list, std::string_view flag = "--fields");

  /// Valid as long as the line is, and until forget_joined.
  std::string_view select(std::string_view line) { return ranges_.empty() ? line : select_fields(line); }

  /// For each line; the results are the lines themselves if those are taken whole, and otherwise are stored
  /// in `work`.
  std::span<const std::string_view> select_all(std::span<const std::string_view> lines,
                                               std::vector<std::string_view>& work) {
    if (ranges_.empty()) return lines;
    work.clear();
    for (const std::string_view line : lines) work.push_back(select_fields(line));
    return work;
  }

  /// Frees the copies of fields that were not adjacent in the line.
  void forget_joined() {
    if (!joined_.empty()) joined_.clear();
  }

 private:
  struct Range {
    std::size_t first;
    std::size_t last;
  };

  std::string_view select_fields(std::string_view line);

  char delimiter_;
  std::vector<Range> ranges_;  // ascending, neither overlapping nor touching
  std::deque<std::string> joined_;
};

}  // namespace tally::cli
