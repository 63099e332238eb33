#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "byte_source.hpp"
#include "field_selector.hpp"

namespace tally::cli {

/// Where keys come from and what of a line is the key.
struct InputOptions {
  std::vector<std::string> files;  ///< none: standard input
  bool nul_separated = false;
  std::string delimiter = "\t";
  std::string fields;  ///< as cut's -f; empty: the whole line
};

void add_input_options(CLI::App& app, InputOptions& options);
/// Only -z, -d and -f, for a command that takes its files in another way.
void add_field_options(CLI::App& app, InputOptions& options);

/// Reads keys, one a line (or between NULs), from all files in turn. The last line of a
/// file needs no separator; an empty line is the empty key.
class KeyReader {
 public:
  static constexpr std::size_t max_keys_a_call = 1024;

  /// Opens nothing yet; `keep_lines` is for `lines`. Throws std::invalid_argument for a delimiter or field
  /// list that is none.
  explicit KeyReader(const InputOptions& options, bool keep_lines = false);

  /// The next keys, at most max_keys_a_call; none at the end of the input. They are valid until the next
  /// call. Throws as ByteSource does, and std::runtime_error for a line longer than 1 GiB.
  std::span<const std::string_view> next();

  /// The whole lines of the keys that `next` returned, where the constructor was told to keep them.
  std::span<const std::string_view> lines() const noexcept {
    return {lines_.data(), keep_lines_ ? num_keys_ : 0};
  }

  /// Bytes read of the files so far, compressed as they may be, and of all, where that is known.
  std::uint64_t bytes_read() const noexcept {
    return finished_bytes_ + (source_ ? source_->file_bytes_read() : 0);
  }
  std::optional<std::uint64_t> total_bytes() const noexcept { return total_bytes_; }

 private:
  bool fill();
  void take_lines();
  void take_line(std::size_t end);

  std::vector<std::string> files_;
  std::size_t next_file_ = 0;
  std::unique_ptr<ByteSource> source_;
  std::uint64_t finished_bytes_ = 0;
  std::optional<std::uint64_t> total_bytes_;

  char separator_;
  FieldSelector fields_;

  std::vector<char> buffer_;
  std::size_t begin_ = 0;    // of the bytes not taken yet
  std::size_t scanned_ = 0;  // no separator before this one
  std::size_t end_ = 0;
  std::array<std::uint32_t, max_keys_a_call> separators_;  // work space: offsets of the separators found
  std::array<std::string_view, max_keys_a_call> keys_;
  std::array<std::string_view, max_keys_a_call> lines_;
  std::size_t num_keys_ = 0;
  bool keep_lines_;
};

}  // namespace tally::cli
