#include "input/fields/field_selector.hpp"

#include <algorithm>
#include <stdexcept>

#include "input/fields/access_log.hpp"
#include "input/fields/json_fields.hpp"

namespace tally::cli {
namespace {

bool is_quoted_format(FieldFormat format) noexcept {
  return format == FieldFormat::csv || format == FieldFormat::tsv;
}

void check(const FieldOptions& options) {
  const std::string name = "--format " + std::string(name_of(options.format));
  const auto refuse = [](const std::string& text) { throw std::invalid_argument(text); };
  const bool has_delimiter = options.format == FieldFormat::delimited || is_quoted_format(options.format);
  if (!options.delimiter.empty() && !has_delimiter)
    refuse("--delimiter is not for " + name + "; leave one of them out");
  if (is_quoted_format(options.format) && options.delimiter.find_first_of("\"\r\n") != std::string::npos)
    refuse("--delimiter has a quote or the end of a line, which are not for " + name);
  if (options.has_header && !is_quoted_format(options.format))
    refuse("--header is only for --format csv or tsv; leave it out");
  if (options.format != FieldFormat::delimited && options.list.empty())
    refuse(name + " is given, but no field; give --fields");
}

/// Positions in AccessLog::names.
std::vector<std::size_t> fields_of_log(const FieldList& list, std::string_view flag) {
  std::vector<std::size_t> fields;
  for (const FieldRange range : list.ranges) {
    if (range.first > AccessLog::num_in_line ||
        (range.last > AccessLog::num_in_line && range.last != FieldRange::no_end))
      throw std::invalid_argument(std::string(flag) + " is beyond the " +
                                  std::to_string(AccessLog::num_in_line) + " fields of --format combined");
    for (std::size_t field = range.first; field <= std::min(range.last, AccessLog::num_in_line); ++field)
      fields.push_back(field - 1);
  }
  for (const std::string& name : list.names) {
    const auto found = std::ranges::find(AccessLog::names, name);
    if (found == AccessLog::names.end()) {
      std::string all;
      for (const std::string_view known : AccessLog::names) all.append(all.empty() ? "" : ", ").append(known);
      throw std::invalid_argument(std::string(flag) + ": --format combined has no field '" + name +
                                  "'; it has " + all);
    }
    fields.push_back(static_cast<std::size_t>(found - AccessLog::names.begin()));
  }
  return fields;
}

std::vector<std::string> split_at_commas(std::string_view list) {
  std::vector<std::string> items;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    items.emplace_back(list.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return items;
}

}  // namespace

FieldSelector::FieldSelector(const FieldOptions& options, std::string_view list, std::string_view flag)
    : format_(options.format),
      takes_lines_whole_(list.empty()),
      delimiter_(options.delimiter_or_default()),
      output_delimiter_(options.output_delimiter.empty() ? delimiter_ : options.output_delimiter) {
  check(options);
  if (list.empty()) return;
  if (format_ == FieldFormat::json) {
    of_json_ = std::make_unique<JsonFields>(split_at_commas(list), flag);
    return;
  }
  const bool may_have_names = format_ == FieldFormat::combined || is_quoted_format(format_);
  FieldList parsed = parse_field_list(list, flag, may_have_names);
  if (format_ == FieldFormat::combined) {
    of_log_ = fields_of_log(parsed, flag);
    return;
  }
  listed_ = std::move(parsed.ranges);
  names_ = std::move(parsed.names);
  ranges_ = merged(listed_);
}

FieldSelector::~FieldSelector() = default;
FieldSelector::FieldSelector(FieldSelector&&) noexcept = default;

void FieldSelector::take_header(std::string_view line) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  FieldOptions all;
  all.format = format_;
  all.delimiter = delimiter_;
  all.list = "1-";
  FieldSelector columns(all);
  if (is_bad(columns.select(line))) throw std::runtime_error("the header: " + columns.why_bad(line));
  std::vector<FieldRange> ranges = listed_;
  for (const std::string& name : names_) {
    const auto found = std::ranges::find(columns.parts_, name);
    if (found == columns.parts_.end()) {
      std::string known;
      for (const std::string_view own : columns.parts_)
        known.append(known.empty() ? "" : ", ").append(own.substr(0, 80));
      throw std::runtime_error("the header has no '" + name + "'; it has " + known.substr(0, 500));
    }
    const auto number = static_cast<std::size_t>(found - columns.parts_.begin()) + 1;
    ranges.push_back({number, number});
  }
  ranges_ = merged(std::move(ranges));
}

std::string FieldSelector::why_bad(std::string_view line) {
  explains_ = true;
  select(line);
  explains_ = false;
  return why_;
}

std::string_view FieldSelector::select_fields(std::string_view line) {
  switch (format_) {
    case FieldFormat::blank:
      return select_blank(line);
    case FieldFormat::csv:
    case FieldFormat::tsv:
      return select_quoted(line);
    case FieldFormat::combined:
      return select_combined(line);
    case FieldFormat::json:
      return select_json(line);
    default:
      return select_delimited(line);
  }
}

std::string_view FieldSelector::bad(std::string_view why) {
  if (explains_) why_ = why;
  return {};
}

std::string_view FieldSelector::lacks_field(std::size_t field, std::size_t num_fields) {
  if (!explains_) return {};
  return bad("field " + std::to_string(field) + " is missing: the line has " + std::to_string(num_fields));
}

/// Of parts_.
std::string_view FieldSelector::join() {
  if (parts_.size() == 1) return parts_.front();
  std::string& joined = joined_.emplace_back();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (i > 0) joined += output_delimiter_;
    joined += parts_[i];
  }
  return joined;
}

std::string_view FieldSelector::select_delimited(std::string_view line) {
  const auto next_delimiter = [&](std::size_t from) {
    return delimiter_.size() == 1 ? line.find(delimiter_.front(), from) : line.find(delimiter_, from);
  };
  if (next_delimiter(0) == std::string_view::npos) return line;
  const bool keeps_delimiters = delimiter_ == output_delimiter_;
  parts_.clear();
  std::size_t field = 1;
  std::size_t at = 0;
  for (const FieldRange range : ranges_) {
    for (; field < range.first; ++field) {
      const std::size_t delimiter = next_delimiter(at);
      if (delimiter == std::string_view::npos) break;
      at = delimiter + delimiter_.size();
    }
    if (field < range.first) break;  // the line ends before
    std::size_t begin = at;
    std::size_t end = at;
    for (; field <= range.last; ++field) {
      end = std::min(next_delimiter(end), line.size());
      const bool is_last = end == line.size() || field == range.last;
      if (is_last || !keeps_delimiters) parts_.push_back(line.substr(begin, end - begin));
      if (is_last) break;
      end += delimiter_.size();
      if (!keeps_delimiters) begin = end;
    }
    if (end == line.size()) break;
    at = end + delimiter_.size();
    ++field;
  }
  return parts_.empty() ? line.substr(0, 0) : join();
}

std::string_view FieldSelector::select_blank(std::string_view line) {
  constexpr std::string_view blanks = " \t";
  parts_.clear();
  std::size_t field = 0;
  std::size_t at = 0;
  for (const FieldRange range : ranges_) {
    while (field < range.last) {
      at = std::min(line.find_first_not_of(blanks, at), line.size());
      if (at == line.size()) break;
      const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
      if (++field >= range.first) parts_.push_back(line.substr(at, end - at));
      at = end;
    }
    const std::size_t wanted = range.last == FieldRange::no_end ? range.first : range.last;
    if (field < wanted) return lacks_field(wanted, field);
  }
  return join();
}

/// Takes the field that begins at `at`, and moves `at` behind it. False if its quote is not closed or something follows that.
bool FieldSelector::take_quoted(std::string_view line, std::size_t& at, bool is_wanted) {
  if (at == line.size() || line[at] != '"') {
    const std::size_t end = std::min(
        delimiter_.size() == 1 ? line.find(delimiter_.front(), at) : line.find(delimiter_, at), line.size());
    if (is_wanted) parts_.push_back(line.substr(at, end - at));
    at = end;
    return true;
  }
  const std::size_t begin = ++at;
  bool has_quotes = false;
  while (true) {
    at = line.find('"', at);
    if (at == std::string_view::npos) {
      bad("a quote is not closed in the line");
      return false;
    }
    if (at + 1 == line.size() || line[at + 1] != '"') break;
    has_quotes = true;
    at += 2;
  }
  std::string_view text = line.substr(begin, at - begin);
  ++at;
  if (at < line.size() && !line.substr(at).starts_with(delimiter_)) {
    bad("a closing quote is not followed by the delimiter");
    return false;
  }
  if (!is_wanted) return true;
  if (has_quotes) {
    std::string& copy = joined_.emplace_back();
    for (std::size_t i = 0; i < text.size(); ++i) {
      copy += text[i];
      if (text[i] == '"') ++i;
    }
    text = copy;
  }
  parts_.push_back(text);
  return true;
}

std::string_view FieldSelector::select_quoted(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  parts_.clear();
  std::size_t num_fields = 0;
  std::size_t at = 0;
  bool has_more = true;
  const auto take = [&](bool is_wanted) {
    if (num_fields > 0) at += delimiter_.size();
    if (!take_quoted(line, at, is_wanted)) return false;
    ++num_fields;
    has_more = at < line.size();
    return true;
  };
  for (const FieldRange range : ranges_) {
    while (has_more && num_fields < range.last) {
      if (!take(num_fields + 1 >= range.first)) return {};
    }
    const std::size_t wanted = range.last == FieldRange::no_end ? range.first : range.last;
    if (num_fields < wanted) return lacks_field(wanted, num_fields);
  }
  // A quote that is not closed behind the fields would make the next line look like a record of its own.
  while (has_more && line.find('"', at) != std::string_view::npos) {
    if (!take(false)) return {};
  }
  return join();
}

std::string_view FieldSelector::select_combined(std::string_view line) {
  AccessLog::Fields fields;
  std::size_t count = 0;
  bool needs_request = false;
  for (const std::size_t field : of_log_) {
    needs_request = needs_request || field >= AccessLog::method;
    count = std::max(count, field >= AccessLog::method ? AccessLog::request + 1 : field + 1);
  }
  const std::size_t num_fields = AccessLog::read(line, count, fields);
  if (num_fields == AccessLog::broken) return bad("a quote or bracket is not closed in the line");
  if (num_fields < count) return lacks_field(count, num_fields);
  if (needs_request && !AccessLog::divide_request(fields))
    return bad("the request is not a method, a path and a protocol");
  parts_.clear();
  for (const std::size_t field : of_log_) parts_.push_back(fields[field]);
  return join();
}

std::string_view FieldSelector::select_json(std::string_view line) {
  parts_.clear();
  const std::string_view why = of_json_->read(line, parts_);
  if (!why.empty()) return bad(why);
  if (parts_.size() == 1) return joined_.emplace_back(parts_.front());
  return join();
}

}  // namespace tally::cli
