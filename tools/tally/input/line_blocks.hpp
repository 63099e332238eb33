#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tally::cli {

/// Makes blocks of whole lines of what is read in pieces.
class LineBlocks {
 public:
  /// The size of one piece; a block is at most that and one line long.
  static constexpr std::size_t piece_bytes = std::size_t{128} << 10;

  explicit LineBlocks(char separator) noexcept : separator_(separator) {}

  /// The next block, in `buffer`, which grows as needed. read(std::span<char>) returns a number of bytes, 0 if there are no
  /// more for now: then the block is empty, and the beginning of a line is kept. Throws what `read` throws, and
  /// std::runtime_error for a line longer than 1 GiB.
  template <class Read>
  std::span<const char> next(std::vector<char>& buffer, Read read) {
    std::size_t end = begin_in(buffer);
    while (true) {
      make_room(buffer, end);
      const std::size_t count = read(std::span(buffer).subspan(end, piece_bytes));
      if (count == 0) break;
      const std::size_t num_whole = end_of_lines({buffer.data() + end, count});
      const std::size_t end_of_block = end + num_whole;
      end += count;
      if (num_whole == 0) continue;
      keep({buffer.data() + end_of_block, end - end_of_block});
      return {buffer.data(), end_of_block};
    }
    keep({buffer.data(), end});
    return {};
  }

  /// A last line, without a separator; empty if there is none. It is kept no longer.
  std::span<const char> rest(std::vector<char>& buffer);
  std::size_t begun_bytes() const noexcept { return begun_line_.size(); }

 private:
  std::size_t begin_in(std::vector<char>& buffer);
  void make_room(std::vector<char>& buffer, std::size_t end) const;
  std::size_t end_of_lines(std::span<const char> bytes) const noexcept;
  void keep(std::span<const char> begun_line);

  char separator_;
  std::vector<char> begun_line_;  // read after the last block
};

}  // namespace tally::cli
