#include "input/key_reader.hpp"

#include <fmt/core.h>

#include <stdexcept>

namespace tally::cli {

void add_input_options(CommandLine app, InputOptions& options) {
  add_text_input_options(app, options);
  add_key_type(app, options.key_type).group("Input");
}

void add_text_input_options(CommandLine app, InputOptions& options) {
  app.add_option("files", options.files, R"(
      Read keys from these files, one per line, compressed (.gz, .zst, .xz, .bz2, .lz4) or not ('-' or none:
      standard input)
      )")
      .type_name("FILE")
      .group("Input");
  add_field_options(app, options);
}

void add_no_decompress(CommandLine app, bool& no_decompress) {
  app.add_flag(
         "--no-decompress", no_decompress,
         "Read compressed files unchanged (default: decompress gzip, zstd, xz, bzip2 and lz4, and refuse "
         "other formats)")
      .group("Input");
}

void add_field_options(CommandLine app, InputOptions& options) {
  app.add_flag("-z,--null", options.nul_separated,
               "Keys end in a NUL byte instead of a newline, also in the output")
      .group("Input");
  app.add_option("-d,--delimiter", options.delimiter, "Byte between fields (default: tab)")
      .type_name("BYTE")
      .group("Input");
  app.add_option("-f,--fields", options.fields,
                 "Use these fields of a line as the key, as in cut: 2 or 1,3 or 4-")
      .type_name("LIST")
      .group("Input");
  add_no_decompress(app, options.no_decompress);
}

std::string place_text(const std::string& file, std::uint64_t line) {
  return file == "-" ? fmt::format("line {}", line) : fmt::format("{}, line {}", file, line);
}

void refuse_key(const InputOptions& options, const std::string& place, std::string_view key) {
  throw std::runtime_error(fmt::format(
      "{}: the key {}; {}", place, why_refused(options.key_type, key),
      options.offers_skip_bad ? "--skip-bad skips such lines" : "correct the line, or leave --key-type out"));
}

std::span<const std::string_view> KeyReader::next() {
  num_earlier_lines_ += lines_.size();
  while (true) {
    lines_ = cutter_.next();
    if (!lines_.empty()) break;
    const std::span<const char> block = blocks_.next(buffer_);
    if (block.empty()) return {};
    if (blocks_.file_number() != file_number_) {
      file_number_ = blocks_.file_number();
      num_earlier_lines_ = 0;
    }
    cutter_.begin(block);
  }
  fields_.forget_joined();
  return fields_.select_all(lines_, keys_);
}

}  // namespace tally::cli
