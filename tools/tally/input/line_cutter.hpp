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

  /// What `next` is about from here on: less than 4 GiB, which stay where they are.
  void begin(std::span<const char> block) noexcept {
    block_ = block;
    begin_ = scanned_ = 0;
  }

  /// The next lines, without their separators, at most max_lines_a_call; none at the end of the block. Valid until the
  /// next call.
  std::span<const std::string_view> next() noexcept;

 private:
  char separator_;
  std::span<const char> block_;
  std::size_t begin_ = 0;                                   // of the first line not taken yet
  std::size_t scanned_ = 0;                                 // no separator lies between begin_ and this
  std::array<std::uint32_t, max_lines_a_call> separators_;  // work space: offsets of the separators found
  std::array<std::string_view, max_lines_a_call> lines_;
};

}  // namespace tally::cli
