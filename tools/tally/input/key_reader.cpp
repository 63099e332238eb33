#include "input/key_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
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

void add_prints_lines(CommandLine app, InputOptions& options) {
  app.add_flag("--line", options.prints_lines, "Print the whole line of a key, not only its --fields");
}

void add_follow(CommandLine app, InputOptions& options) {
  const Option follow = app.add_flag("--follow", options.follow, R"(
      Read the files, and then what is written to them, also when they are renamed and made anew, or cut off, until the
      command is stopped (as tail -F)
      )");
  follow.group("Input");
  app.add_flag("--new-lines", options.new_lines, "With --follow: begin at the end of the files")
      .needs(follow)
      .group("Input");
}

void refuse_followed_state(const InputOptions& options, const std::string& state_path, bool of_store) {
  if (!options.follow || state_path.empty() || (options.new_lines && !of_store)) return;
  throw std::invalid_argument(
      fmt::format("--follow and --state are both given, and the next run would not know where in the files "
                  "to go on; {}leave one out",
                  of_store ? "" : "give --new-lines, too, or "));
}

void add_field_options(CommandLine app, InputOptions& options) {
  app.add_flag("-z,--null", options.nul_separated,
               "Keys end in a NUL byte instead of a newline, also in the output")
      .group("Input");
  add_fields(app, options.fields);
  app.add_flag(
         "--skip-bad", options.skip_bad,
         "Skip lines whose key is missing or invalid, or whose --sum or --time is, and print their number")
      .group("Input");
  add_no_decompress(app, options.no_decompress);
}

std::string place_text(const std::string& file, std::uint64_t line) {
  return file == "-" ? fmt::format("line {}", line) : fmt::format("{}, line {}", file, line);
}

void take_header_of_file(FieldSelector& fields, const std::string& place, std::string_view line) {
  try {
    fields.take_header(line);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("{}: {}", place, error.what()));
  }
}

std::string refusal_of_key(const InputOptions& options, std::string_view key) {
  return fmt::format("the key {}; --skip-bad skips such lines", why_refused(options.key_type, key));
}

std::string refusal_of_line(FieldSelector& fields, std::string_view line) {
  return fmt::format("{}; --skip-bad skips such lines", fields.why_bad(line));
}

std::span<const std::string_view> KeyReader::next() {
  if (!refusal_.empty()) throw std::runtime_error(refusal_);
  while (true) {
    num_earlier_lines_ += num_lines_;
    lines_ = cutter_.next();
    num_lines_ = lines_.size();
    if (lines_.empty()) {
      const std::span<const char> block = blocks_.next(buffer_);
      if (block.empty()) return {};
      turn_to_file_of_block();
      cutter_.begin(block);
      continue;
    }
    if (has_header_ && begins_file_) {
      header_ = lines_.front();
      use_header();
      lines_ = lines_.subspan(1);
      --num_lines_;
      ++num_earlier_lines_;
    }
    begins_file_ = false;
    fields_.forget_joined();
    const LinesWithKeys::Selected selected = with_keys_.select(fields_, lines_);
    if (selected.refused) {
      refusal_ = fmt::format("{}: {}", place_of(*selected.refused),
                             refusal_of_line(fields_, lines_[*selected.refused]));
      if (*selected.refused == 0) throw std::runtime_error(refusal_);
      lines_ = selected.lines;
      return selected.keys;
    }
    num_skipped_ += lines_.size() - selected.lines.size();
    lines_ = selected.lines;
    if (!selected.keys.empty()) return selected.keys;
  }
}

void KeyReader::turn_to_file_of_block() {
  const std::size_t number = blocks_.file_number();
  const bool begins = blocks_.begins_file();
  if (number == file_number_ && !begins) return;
  left_files_.resize(std::max({left_files_.size(), number + 1, file_number_ + 1}));
  left_files_[file_number_] = {num_earlier_lines_, header_};
  file_number_ = number;
  begins_file_ = begins;
  num_earlier_lines_ = begins ? 0 : left_files_[number].num_lines;
  if (begins || !has_header_) return;
  header_ = left_files_[number].header;
  use_header();
}

void KeyReader::use_header() {
  ++num_headers_;
  take_header_of_file(fields_, place_text(blocks_.file_name(file_number_), 1), header_);
  if (tell_header_) tell_header_(header_);
}

}  // namespace tally::cli
