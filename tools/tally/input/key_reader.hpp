#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "cli/command_line.hpp"

#include "input/block_reader.hpp"
#include "input/fields/field_selector.hpp"
#include "input/key_type.hpp"
#include "input/line_cutter.hpp"
#include "input/lines_with_keys.hpp"

namespace tally::cli {

/// Where keys come from, and which part of a line is the key.
struct InputOptions {
  std::vector<std::string> files;  ///< none: standard input
  bool no_decompress = false;
  bool nul_separated = false;
  FieldOptions fields;
  KeyType key_type = KeyType::text;
  bool prints_lines = false;  ///< --line: the whole line of a key is printed in its place
  /// Takes the header of each file, before its keys are used.
  std::function<void(std::string_view)> take_header;
  bool skip_bad = false;                     ///< skip a line with a missing or invalid key, weight or time
  bool follow = false;                       ///< files that grow, and are renamed
  bool new_lines = false;                    ///< of these, only what is written from now on
  std::optional<std::uint32_t> num_threads;  ///< of commands that read ahead
};

inline char separator_of(const InputOptions& options) noexcept { return options.nul_separated ? '\0' : '\n'; }

inline Decompress decompress_of(const InputOptions& options) noexcept {
  return options.no_decompress ? Decompress::no : Decompress::yes;
}

inline Follow follow_of(const InputOptions& options) noexcept {
  return !options.follow ? Follow::no : options.new_lines ? Follow::new_lines : Follow::whole;
}

void add_input_options(CommandLine app, InputOptions& options);
/// The same without --key-type, for keys that cannot be numbers.
void add_text_input_options(CommandLine app, InputOptions& options);
/// --no-decompress.
void add_no_decompress(CommandLine app, bool& no_decompress);
/// --line.
void add_prints_lines(CommandLine app, InputOptions& options);
/// --follow and --new-lines.
void add_follow(CommandLine app, InputOptions& options);
/// Throws std::invalid_argument if the next run with this --state would read lines of followed files again.
void refuse_followed_state(const InputOptions& options, const std::string& state_path, bool of_store);
/// All options except the files, for a command that gets its files in another way.
void add_field_options(CommandLine app, InputOptions& options);

/// "keys.txt, line 5"; of standard input "line 5".
std::string place_text(const std::string& file, std::uint64_t line);

/// Takes the header of a file. Throws std::runtime_error with the place for a name that is not there.
void take_header_of_file(FieldSelector& fields, const std::string& place, std::string_view line);
/// Why a line is refused: its key is not of the key type, or there is none.
std::string refusal_of_key(const InputOptions& options, std::string_view key);
std::string refusal_of_line(FieldSelector& fields, std::string_view line);

/// Reads keys, one per line (or separated by NULs), from all files in turn. The last line of a file needs no
/// separator; an empty line is the empty key.
class KeyReader {
 public:
  static constexpr std::size_t max_keys_a_call = LineCutter::max_lines_a_call;

  /// Opens nothing yet. Throws what BlockReader throws, and std::invalid_argument for an invalid delimiter or
  /// field list.
  explicit KeyReader(const InputOptions& options)
      : blocks_(options.files, separator_of(options), decompress_of(options), follow_of(options)),
        cutter_(separator_of(options)),
        fields_(options.fields),
        has_header_(options.fields.has_header || fields_.needs_header()),
        tell_header_(options.take_header),
        with_keys_(options) {}

  /// The next keys, at most max_keys_a_call; empty at the end of the input. They are valid until the next
  /// call. Throws what BlockReader throws, and std::runtime_error for a line without a key that is not skipped, once all keys
  /// before it were returned, and for a header without a name that is asked for.
  std::span<const std::string_view> next();

  /// The whole lines of the keys that `next` returned.
  std::span<const std::string_view> lines() const noexcept { return lines_; }

  /// Lines without a key that were skipped.
  std::uint64_t num_skipped() const noexcept { return num_skipped_; }
  /// How often a header was taken, and the last one, if files have them. It is valid until the next call of `next`.
  std::size_t num_headers() const noexcept { return num_headers_; }
  std::string_view header() const noexcept { return header_; }

  /// Where that line is: as place_text says.
  std::string place_of(std::size_t index) const {
    return place_text(blocks_.file_name(file_number_), num_earlier_lines_ + index + 1);
  }

  /// As in BlockReader.
  std::uint64_t bytes_read() const noexcept { return blocks_.bytes_read(); }
  std::optional<std::uint64_t> total_bytes() const noexcept { return blocks_.total_bytes(); }

 private:
  void turn_to_file_of_block();
  void use_header();

  BlockReader blocks_;
  LineCutter cutter_;
  FieldSelector fields_;
  std::vector<char> buffer_;

  bool has_header_;
  std::function<void(std::string_view)> tell_header_;
  LinesWithKeys with_keys_;
  std::uint64_t num_skipped_ = 0;
  std::string refusal_;  // to be thrown next
  std::string header_;
  std::size_t num_headers_ = 0;
  bool begins_file_ = true;  // the next lines are the first ones of a file
  std::span<const std::string_view> lines_;
  std::size_t num_lines_ = 0;  // with those that are skipped
  std::size_t file_number_ = 0;
  std::uint64_t num_earlier_lines_ = 0;  // of this file
  struct LeftFile {
    std::uint64_t num_lines = 0;
    std::string header;
  };
  std::vector<LeftFile> left_files_;  // by number: where to go on, if files are followed
};

}  // namespace tally::cli
