#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "input/file_identity.hpp"
#include "input/follow/follow.hpp"
#include "input/line_blocks.hpp"

namespace tally::cli {

/// A file that others write to, whatever becomes of its name.
class OpenedFile {
 public:
  using Clock = std::chrono::steady_clock;

  /// Null if there is no such file. Throws std::system_error that names the path, and std::runtime_error if it is not a regular
  /// file.
  static std::unique_ptr<OpenedFile> open(const std::string& path, char separator, std::size_t number);
  static std::optional<FileIdentity> identity_of(const std::string& path);

  ~OpenedFile();
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;

  FileIdentity identity() const noexcept { return identity_; }
  std::size_t number() const noexcept { return number_; }

  /// Its first bytes, which tell how it is compressed.
  std::string start() const;
  /// What is there now is not returned, nor the end of a line that has begun.
  void skip_to_end();

  /// What was written since the last call, whole lines; empty if there are none. A file that has become shorter is read
  /// from its beginning. Throws std::system_error, and std::runtime_error for a line longer than 1 GiB.
  FollowedBlock next(std::vector<char>& buffer);
  /// A last line, without a separator.
  FollowedBlock rest(std::vector<char>& buffer) { return block_of(lines_.rest(buffer)); }

  Clock::time_point last_read() const noexcept { return last_read_; }
  std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  OpenedFile(std::string path, int file, char separator, std::size_t number);

  std::size_t read(std::span<char> into);
  bool has_more();
  FollowedBlock block_of(std::span<const char> bytes) noexcept;

  std::string path_;
  int file_;
  FileIdentity identity_;
  char separator_;
  std::size_t number_;
  LineBlocks lines_;
  std::uint64_t position_ = 0;
  std::uint64_t bytes_read_ = 0;
  bool begins_ = true;
  bool skips_line_ = false;
  Clock::time_point last_read_ = Clock::now();
};

}  // namespace tally::cli
