#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tally::cli {

/// Lines of standard input for an event loop: it is read only after poll reported that there is something.
class LineInput {
 public:
  static constexpr std::size_t longest_line = std::size_t{64} << 20;

  explicit LineInput(char separator) : separator_(separator) {}

  /// Reads once. Throws std::system_error, and std::runtime_error for a line that is too long.
  void read_some();
  /// The next complete line, without its separator; the last one needs none. Valid until read_some.
  std::optional<std::string_view> next_line();
  bool has_ended() const noexcept { return ended_; }
  enum class NextWriter { awaited, impossible, not_a_pipe };
  /// After the end: if standard input is a pipe, with a name or without, waits for the next one that writes to it.
  NextWriter await_next_writer();

 private:
  char separator_;
  std::string buffer_;
  std::size_t begin_ = 0;    // of the lines not returned yet
  std::size_t scanned_ = 0;  // no separator between begin_ and this
  bool ended_ = false;
};

}  // namespace tally::cli
