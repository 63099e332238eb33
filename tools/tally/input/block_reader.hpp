#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "input/byte_source.hpp"
#include "input/follow/follow.hpp"
#include "input/line_blocks.hpp"

namespace tally::cli {

class FollowReader;

/// Reads files in turn, in blocks of whole lines. The last line of a file, which may lack its separator, also
/// ends a block. Or follows files: then blocks come as they are written.
class BlockReader {
 public:
  static constexpr std::size_t block_bytes = LineBlocks::piece_bytes;

  /// Opens nothing yet. No files: standard input. Throws std::invalid_argument if standard output goes to one of them, and
  /// for files that cannot be followed.
  BlockReader(const std::vector<std::string>& files, char separator, Decompress decompress,
              Follow follow = Follow::no);
  ~BlockReader();

  /// The next block, in `buffer`, which grows as needed; empty at the end of the input. Throws what
  /// ByteSource throws, and std::runtime_error for a line longer than 1 GiB.
  std::span<const char> next(std::vector<char>& buffer) { return *next(buffer, Waits::yes); }
  /// The same, but does not wait for pipes: nothing if there are no lines for now. Not for followed files.
  std::optional<std::span<const char>> next_now(std::vector<char>& buffer) { return next(buffer, Waits::no); }

  /// Of the files, the one that the last block comes from. If files are followed, the number of what has this name now, or
  /// had it before: begins_file says when a number is used again.
  std::size_t file_number() const noexcept { return file_number_; }
  /// Whether the last block begins that file.
  bool begins_file() const noexcept { return begins_file_; }
  /// As it was given; "-" is standard input.
  const std::string& file_name(std::size_t number) const noexcept;

  /// Bytes read from the files so far, before decompression, and the total, if known.
  std::uint64_t bytes_read() const noexcept;
  std::optional<std::uint64_t> total_bytes() const noexcept { return total_bytes_; }

 private:
  enum class Waits : bool { no, yes };
  std::optional<std::span<const char>> next(std::vector<char>& buffer, Waits waits);
  std::span<const char> next_followed(std::vector<char>& buffer);

  std::vector<std::string> files_;
  std::size_t next_file_ = 0;
  std::size_t file_number_ = 0;
  bool begins_file_ = true;
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<FollowReader> followed_;
  std::uint64_t finished_bytes_ = 0;
  std::optional<std::uint64_t> total_bytes_;
  Decompress decompress_;
  LineBlocks lines_;
};

}  // namespace tally::cli
