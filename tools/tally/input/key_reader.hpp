#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "cli/command_line.hpp"

#include "input/block_reader.hpp"
#include "input/field_selector.hpp"
#include "input/key_type.hpp"
#include "input/line_cutter.hpp"

namespace tally::cli {

/// Where keys come from, and which part of a line is the key.
struct InputOptions {
  std::vector<std::string> files;  ///< none: standard input
  bool no_decompress = false;
  bool nul_separated = false;
  std::string delimiter = "\t";
  std::string fields;  ///< as cut's -f; empty: the whole line
  KeyType key_type = KeyType::text;
  bool skip_bad = false;         ///< skip a line with an invalid key, or a missing or invalid weight or time
  bool offers_skip_bad = false;  ///< the command has --skip-bad
};

inline char separator_of(const InputOptions& options) noexcept { return options.nul_separated ? '\0' : '\n'; }

inline Decompress decompress_of(const InputOptions& options) noexcept {
  return options.no_decompress ? Decompress::no : Decompress::yes;
}

void add_input_options(CommandLine app, InputOptions& options);
/// The same without --key-type, for keys that cannot be numbers.
void add_text_input_options(CommandLine app, InputOptions& options);
/// --no-decompress.
void add_no_decompress(CommandLine app, bool& no_decompress);
/// All options except the files, for a command that gets its files in another way.
void add_field_options(CommandLine app, InputOptions& options);

/// "keys.txt, line 5"; of standard input "line 5".
std::string place_text(const std::string& file, std::uint64_t line);

/// Throws std::runtime_error: the key at this place is not of the key type.
[[noreturn]] void refuse_key(const InputOptions& options, const std::string& place, std::string_view key);

/// Reads keys, one per line (or separated by NULs), from all files in turn. The last line of a file needs no
/// separator; an empty line is the empty key.
class KeyReader {
 public:
  static constexpr std::size_t max_keys_a_call = LineCutter::max_lines_a_call;

  /// Opens nothing yet. Throws what BlockReader throws, and std::invalid_argument for an invalid delimiter or
  /// field list.
  explicit KeyReader(const InputOptions& options)
      : blocks_(options.files, separator_of(options), decompress_of(options)),
        cutter_(separator_of(options)),
        fields_(options.delimiter, options.fields) {}

  /// The next keys, at most max_keys_a_call; empty at the end of the input. They are valid until the next
  /// call. Throws what BlockReader throws.
  std::span<const std::string_view> next();

  /// The whole lines of the keys that `next` returned.
  std::span<const std::string_view> lines() const noexcept { return lines_; }

  /// Where that line is: as place_text says.
  std::string place_of(std::size_t index) const {
    return place_text(blocks_.file_name(file_number_), num_earlier_lines_ + index + 1);
  }

  /// As in BlockReader.
  std::uint64_t bytes_read() const noexcept { return blocks_.bytes_read(); }
  std::optional<std::uint64_t> total_bytes() const noexcept { return blocks_.total_bytes(); }

 private:
  BlockReader blocks_;
  LineCutter cutter_;
  FieldSelector fields_;
  std::vector<char> buffer_;
  std::span<const std::string_view> lines_;
  std::size_t file_number_ = 0;
  std::uint64_t num_earlier_lines_ = 0;  // of this file
  std::vector<std::string_view> keys_;   // if they are not the whole lines
};

}  // namespace tally::cli
