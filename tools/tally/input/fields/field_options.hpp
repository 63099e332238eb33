#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/command_line.hpp"

namespace tally::cli {

/// How a line is divided into fields.
enum class FieldFormat : std::uint8_t {
  delimited,  ///< as cut does
  blank,      ///< as awk does: by runs of spaces and tabs
  csv,        ///< by commas, with fields in double quotes
  tsv,        ///< the same by tabs
  combined,   ///< access logs in the combined or common format
  json        ///< an object per line
};

std::string_view name_of(FieldFormat format) noexcept;

/// Which fields of a line are meant.
struct FieldOptions {
  FieldFormat format = FieldFormat::delimited;
  std::string delimiter;         ///< empty: that of the format
  std::string output_delimiter;  ///< between several fields; empty: the delimiter
  bool has_header = false;       ///< csv and tsv: the first line of each file has names
  std::string list;              ///< empty: the whole line

  /// What the delimiter is.
  std::string delimiter_or_default() const;
};

/// --delimiter, --fields, --format, --header and --output-delimiter.
void add_fields(CommandLine app, FieldOptions& options);

}  // namespace tally::cli
