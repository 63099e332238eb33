#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "input/byte_source.hpp"
#include "input/follow/directory_changes.hpp"
#include "input/follow/file_numbers.hpp"
#include "input/follow/follow.hpp"
#include "input/follow/followed_file.hpp"

namespace tally::cli {

/// Follows files that grow, are renamed and made anew, or are cut off: no line of a renamed file is lost, and none is
/// returned twice.
class FollowReader {
 public:
  /// Throws what FollowedFile throws, std::invalid_argument for standard input, and std::system_error if none of the files is
  /// there.
  FollowReader(const std::vector<std::string>& files, char separator, Decompress decompress, Follow follow);

  /// Waits for what is written; empty only when SIGINT or SIGTERM came. A line is returned when its separator is there.
  FollowedBlock next(std::vector<char>& buffer);

  /// Under this name the file was opened. Of the last block.
  const std::string& file_name(std::size_t number) const noexcept { return numbers_.path(number); }
  std::uint64_t bytes_read() const noexcept;

 private:
  void take_renames();
  void wait() const;

  FileNumbers numbers_;
  DirectoryChanges changes_;
  std::deque<FollowedFile> files_;
  std::vector<int> directories_;  // of the files
  std::size_t next_file_ = 0;
};

}  // namespace tally::cli
