#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "input/byte_source.hpp"

namespace tally::cli {

/// Reads files in turn, in blocks of whole lines. The last line of a file, which may lack its separator, also
/// ends a block.
class BlockReader {
 public:
  /// The size of one read; a block is at most that and one line long.
  static constexpr std::size_t block_bytes = std::size_t{40} << 10;

  /// Opens nothing yet. No files: standard input. Throws std::invalid_argument if standard output goes to one of them.
  BlockReader(const std::vector<std::string>& files, char separator, Decompress decompress);

  /// The next block, in `buffer`, which grows as needed; empty at the end of the input. Throws what
  /// ByteSource throws, and std::runtime_error for a line longer than 1 GiB.
  std::span<const char> next(std::vector<char>& buffer);

  /// Of the files, the one that the last block comes from.
  std::size_t file_number() const noexcept { return next_file_ == 0 ? 0 : next_file_ - 1; }
  /// As it was given; "-" is standard input.
  const std::string& file_name(std::size_t number) const noexcept { return files_[number]; }

  /// Bytes read from the files so far, before decompression, and the total, if known.
  std::uint64_t bytes_read() const noexcept {
    return finished_bytes_ + (source_ ? source_->file_bytes_read() : 0);
  }
  std::optional<std::uint64_t> total_bytes() const noexcept { return total_bytes_; }

 private:
  std::vector<std::string> files_;
  std::size_t next_file_ = 0;
  std::unique_ptr<ByteSource> source_;
  std::uint64_t finished_bytes_ = 0;
  std::optional<std::uint64_t> total_bytes_;
  char separator_;
  Decompress decompress_;
  std::vector<char> begun_line_;  // the beginning of a line, read after the last block
};

}  // namespace tally::cli
