#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "input/follow/file_numbers.hpp"
#include "input/follow/follow.hpp"
#include "input/follow/opened_file.hpp"

namespace tally::cli {

/// All files that bear one name, one after the other. Each is read to its end, and for a while longer, since who writes to
/// it may hear late that it was renamed.
class FollowedFile {
 public:
  struct Options {
    char separator = '\n';
    Follow follow = Follow::whole;
    bool reads_compressed = false;  ///< as it is
  };

  /// Opens the file, if it is there. Throws what OpenedFile throws, and std::runtime_error for a compressed file.
  FollowedFile(std::string path, Options options, FileNumbers& numbers);

  bool is_there() const noexcept { return !files_.empty(); }
  const std::string& path() const noexcept { return path_; }
  /// The part of the path after its directory.
  const std::string& name() const noexcept { return name_; }
  static std::string directory_of(const std::string& path);

  /// What was written; empty if nothing was.
  FollowedBlock next(std::vector<char>& buffer);
  /// The file that has that name in the directory now once had the name of this one.
  void take_renamed(const std::string& name);

  std::uint64_t bytes_read() const noexcept;

 private:
  void look_for_new_file();
  std::unique_ptr<OpenedFile> open(const std::string& path) const;
  std::unique_ptr<OpenedFile> try_to_open();
  bool knows(const FileIdentity& identity) const noexcept;
  bool may_close(const OpenedFile& file) const;

  std::string path_;
  std::string name_;
  Options options_;
  FileNumbers& numbers_;
  std::deque<std::unique_ptr<OpenedFile>> files_;  // in the order in which they had the name
  bool newest_has_name_ = false;
  std::uint64_t closed_bytes_ = 0;
  std::string fault_;  // of the last try to open
};

}  // namespace tally::cli
