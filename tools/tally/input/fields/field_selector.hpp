#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input/fields/field_list.hpp"
#include "input/fields/field_options.hpp"

namespace tally::cli {

class JsonFields;

/// Selects fields of lines: by number from 1, and by name where the format has names. They are output in the line's order,
/// joined by the output delimiter; those of 'combined' and 'json' in the list's order.
///
/// Delimited lines are taken as cut takes them: a line without the delimiter is taken whole, and a field that is not there
/// is empty. In the other formats a line that lacks a field, or is not of the format, is bad.
class FieldSelector {
 public:
  /// Throws std::invalid_argument for options that do not go together, or an invalid list; `flag` is the option that gave
  /// the list. An empty list takes lines whole.
  FieldSelector(const FieldOptions& options, std::string_view list, std::string_view flag);
  explicit FieldSelector(const FieldOptions& options) : FieldSelector(options, options.list, "--fields") {}
  ~FieldSelector();
  FieldSelector(FieldSelector&&) noexcept;

  /// Whether the list has names that the header of a file must have.
  bool needs_header() const noexcept { return !names_.empty(); }
  /// Finds the names in the header of a file. Throws std::runtime_error if one is not there.
  void take_header(std::string_view line);
  /// As if it had taken the header of the other one, which has the same list.
  void take_header_of(const FieldSelector& other) { ranges_ = other.ranges_; }

  /// Valid as long as the line is, and until forget_joined. The result for a bad line has no data().
  std::string_view select(std::string_view line) { return takes_lines_whole_ ? line : select_fields(line); }
  /// Whether lines may be bad.
  bool refuses_lines() const noexcept { return !takes_lines_whole_ && format_ != FieldFormat::delimited; }
  static bool is_bad(std::string_view selected) noexcept { return selected.data() == nullptr; }
  /// "column 5 is missing: the line has 4".
  std::string why_bad(std::string_view line);

  /// For each line; the results are the lines themselves if those are taken whole, and otherwise are stored in `work`.
  std::span<const std::string_view> select_all(std::span<const std::string_view> lines,
                                               std::vector<std::string_view>& work) {
    if (takes_lines_whole_) return lines;
    work.clear();
    for (const std::string_view line : lines) work.push_back(select_fields(line));
    return work;
  }

  /// Frees the copies of fields that were not adjacent in the line, or not as they are there.
  void forget_joined() {
    if (!joined_.empty()) joined_.clear();
  }

 private:
  std::string_view select_fields(std::string_view line);
  std::string_view select_delimited(std::string_view line);
  std::string_view select_blank(std::string_view line);
  std::string_view select_quoted(std::string_view line);
  std::string_view select_combined(std::string_view line);
  std::string_view select_json(std::string_view line);

  bool take_quoted(std::string_view line, std::size_t& at, bool is_wanted);
  std::string_view join();
  std::string_view bad(std::string_view why);
  std::string_view lacks_field(std::size_t field, std::size_t num_fields);

  FieldFormat format_;
  bool takes_lines_whole_;
  std::string delimiter_;
  std::string output_delimiter_;
  std::vector<FieldRange> listed_;  // without those of names
  std::vector<FieldRange> ranges_;  // ascending, neither overlapping nor touching
  std::vector<std::string> names_;
  std::vector<std::size_t> of_log_;  // for 'combined': positions in its list of fields
  std::unique_ptr<JsonFields> of_json_;
  std::vector<std::string_view> parts_;  // work space
  std::deque<std::string> joined_;
  bool explains_ = false;  // bad() sets why_
  std::string why_;
};

}  // namespace tally::cli
