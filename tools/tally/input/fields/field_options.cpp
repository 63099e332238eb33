#include "input/fields/field_options.hpp"

#include <array>
#include <string_view>
#include <vector>

#include "cli/options.hpp"

namespace tally::cli {

namespace {

constexpr std::array all_formats{FieldFormat::delimited, FieldFormat::blank,    FieldFormat::csv,
                                 FieldFormat::tsv,       FieldFormat::combined, FieldFormat::json};

}  // namespace

std::string_view name_of(FieldFormat format) noexcept {
  switch (format) {
    case FieldFormat::blank:
      return "blank";
    case FieldFormat::csv:
      return "csv";
    case FieldFormat::tsv:
      return "tsv";
    case FieldFormat::combined:
      return "combined";
    case FieldFormat::json:
      return "json";
    default:
      return "delimited";
  }
}

std::string FieldOptions::delimiter_or_default() const {
  if (!delimiter.empty()) return delimiter;
  if (format == FieldFormat::csv) return ",";
  return format == FieldFormat::delimited || format == FieldFormat::tsv ? "\t" : " ";
}

void add_fields(CommandLine app, FieldOptions& options) {
  app.add_option("-d,--delimiter", options.delimiter,
                 "Between fields: one or more bytes (default: tab; with --format csv: comma)")
      .type_name("TEXT")
      .group("Input");
  app.add_option("-f,--fields", options.list, R"(
      Use these fields of a line as the key, as in cut: 2 or 1,3 or 4-; by name with --format and a header, 'combined'
      or 'json'
      )")
      .type_name("LIST")
      .group("Input");
  const auto choose = [&options](std::string_view word) {
    for (const FieldFormat format : all_formats) {
      if (word == name_of(format)) options.format = format;
    }
  };
  std::vector<std::string> names;
  for (const FieldFormat format : all_formats) names.emplace_back(name_of(format));
  add_choice(app, "--format", choose, R"(
      How a line has its fields (default: delimited): by the --delimiter, between runs of blanks, as CSV or TSV with
      quotes, as an access log (host, time, path, status, bytes, ...), or as a JSON object (paths such as user.id)
      )",
             names)
      .group("Input");
  app.add_flag(
         "--header", options.has_header,
         "With --format csv or tsv: the first line of each file has the names of the fields (the default if "
         "--fields has a name)")
      .group("Input");
  app.add_option("--output-delimiter", options.output_delimiter,
                 "Between the fields of a key, if it has several (default: the --delimiter; a space for "
                 "blank, combined "
                 "and json)")
      .type_name("TEXT")
      .group("Input");
}

}  // namespace tally::cli
