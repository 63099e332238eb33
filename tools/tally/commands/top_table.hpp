#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tally::cli {

/// A table that is drawn over itself on a terminal: standard output, with ANSI escapes.
class ScreenTable {
 public:
  /// Whether standard output is a terminal.
  static bool is_possible();

  /// Rows and columns of the terminal; 24 and 80 if they are unknown.
  struct Size {
    std::size_t rows = 24;
    std::size_t columns = 80;
  };
  static Size size();

  /// Draws the text, lines that end in a newline, over what was drawn before. What does not fit the terminal is
  /// cut off; with `is_last`, only what is too wide.
  void draw(std::string_view text, bool is_last);

 private:
  std::size_t num_drawn_ = 0;  // lines
};

/// The key in printable form: control bytes as \xNN, so that a key cannot write to the screen.
std::string printable(std::string_view key);

}  // namespace tally::cli
