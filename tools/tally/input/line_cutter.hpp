#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tally::cli {

/// Finds the lines of blocks of text. The last line of a block needs no separator.
class LineCutter {
 public:
  static constexpr std::size_t max_lines_a_call = 1024;

  explicit LineCutter(char separator) noexcept : separator_(separator) {}

  /// Sets the block that `next` reads: less than 4 GiB, which must not move.
  void begin(std::span<const char> block) noexcept {
    block_ = block;
    begin_ = scanned_ = 0;
  }

  /// The next lines, without their separators, at most max_lines_a_call; empty at the end of the block. Valid
  /// until the next call.
  std::span<const std::string_view> next() noexcept;

 private:
  char separator_;
  std::span<const char> block_;
  std::size_t begin_ = 0;                                   // of the first line not returned yet
  std::size_t scanned_ = 0;                                 // no separator between begin_ and here
  std::array<std::uint32_t, max_lines_a_call> separators_;  // work space: offsets of the separators found
  std::array<std::string_view, max_lines_a_call> lines_;
};

}  // namespace tally::cli
