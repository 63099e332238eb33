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
#include "input/line_cutter.hpp"

namespace tally::cli {

/// Where keys come from, and which part of a line is the key.
struct InputOptions {
  std::vector<std::string> files;  ///< none: standard input
  bool no_decompress = false;
  bool nul_separated = false;
  std::string delimiter = "\t";
  std::string fields;  ///< as cut's -f; empty: the whole line
};

inline char separator_of(const InputOptions& options) noexcept { return options.nul_separated ? '\0' : '\n'; }

inline Decompress decompress_of(const InputOptions& options) noexcept {
  return options.no_decompress ? Decompress::no : Decompress::yes;
}

void add_input_options(CommandLine app, InputOptions& options);
/// --no-decompress.
void add_no_decompress(CommandLine app, bool& no_decompress);
/// All options except the files, for a command that gets its files in another way.
void add_field_options(CommandLine app, InputOptions& options);

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

  /// As in BlockReader.
  std::uint64_t bytes_read() const noexcept { return blocks_.bytes_read(); }
  std::optional<std::uint64_t> total_bytes() const noexcept { return blocks_.total_bytes(); }

 private:
  BlockReader blocks_;
  LineCutter cutter_;
  FieldSelector fields_;
  std::vector<char> buffer_;
  std::span<const std::string_view> lines_;
  std::vector<std::string_view> keys_;  // if they are not the whole lines
};

}  // namespace tally::cli
