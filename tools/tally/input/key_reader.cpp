#include "input/key_reader.hpp"

namespace tally::cli {

void add_input_options(CommandLine app, InputOptions& options) {
  app.add_option(
         "files", options.files,
         "read keys from these files, one a line ('-' or none: standard input); .gz, .zst, .xz, .bz2 and "
         ".lz4 too")
      .type_name("FILE")
      .group("Input");
  add_field_options(app, options);
}

void add_no_decompress(CommandLine app, bool& no_decompress) {
  app.add_flag("--no-decompress", no_decompress,
               "read compressed files as the bytes that they are (default: gzip, zstd, xz, bzip2 and lz4 are "
               "decompressed, other formats refused)")
      .group("Input");
}

void add_field_options(CommandLine app, InputOptions& options) {
  app.add_flag("-z,--null", options.nul_separated,
               "keys end in a NUL byte instead of a newline, also when printed")
      .group("Input");
  app.add_option("-d,--delimiter", options.delimiter, "the byte between fields (default: a tab)")
      .type_name("BYTE")
      .group("Input");
  app.add_option("-f,--fields", options.fields,
                 "the key is these fields of a line, as with cut: 2 or 1,3 or 4-")
      .type_name("LIST")
      .group("Input");
  add_no_decompress(app, options.no_decompress);
}

std::span<const std::string_view> KeyReader::next() {
  while (true) {
    lines_ = cutter_.next();
    if (!lines_.empty()) break;
    const std::span<const char> block = blocks_.next(buffer_);
    if (block.empty()) return {};
    cutter_.begin(block);
  }
  fields_.forget_joined();
  return fields_.select_all(lines_, keys_);
}

}  // namespace tally::cli
