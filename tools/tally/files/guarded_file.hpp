#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tally/serialization.hpp"

namespace tally::cli {

/// What a command does about a file that another tally holds.
enum class WhenHeld { wait, refuse };

/// A file that is written: the one way in which the command creates or replaces files (a test looks for others).
///
/// It is held from construction to destruction. No other tally can hold it meanwhile, so that what was read from
/// it is what is replaced. The lock is on `.NAME.tally-lock` beside the file, which the file's replacement does not
/// touch and which can be there before the file is. It is removed at the end; one that a killed process left is
/// used by the next. A symbolic link is followed first. What is no regular file (a pipe, "-" for standard output)
/// is not held.
class GuardedFile {
 public:
  /// Throws as check_can_write, before any work is done; std::runtime_error that names the file if it is held and not to be waited for, or if a signal ends the
  /// wait; std::system_error that names it where no file can be made beside it.
  GuardedFile(std::string path, bool quiet, WhenHeld when_held = WhenHeld::wait);
  ~GuardedFile();
  GuardedFile(const GuardedFile&) = delete;
  GuardedFile& operator=(const GuardedFile&) = delete;

  const std::string& path() const noexcept { return path_; }

  /// As tally::load and tally::save.
  AnyFilter load(const std::optional<HashKey>& key) const { return tally::load(path_, key); }
  void save(const AnyFilter& filter, Overwrite overwrite = Overwrite::replace) const;
  void save(std::span<const std::byte> bytes, Overwrite overwrite = Overwrite::replace) const;

 private:
  bool try_to_hold();

  std::string path_;
  std::filesystem::path lock_path_;  // empty if nothing is held
  int lock_ = -1;
};

/// Throws std::invalid_argument that names the flag if there is a file and not `force`, or a directory; for "-", if
/// standard output is a terminal and not `force`.
void check_overwrite(const std::string& path, bool force, std::string_view flag = "--output");

/// The file that --output, or another flag, names: refused or held before any work is done.
class OutputFile {
 public:
  /// Throws as check_overwrite and GuardedFile do.
  OutputFile(const std::string& path, bool force, bool quiet, std::string_view flag = "--output");

  void save(const AnyFilter& filter) const { file_->save(filter, overwrite_); }
  void save(std::span<const std::byte> bytes) const { file_->save(bytes, overwrite_); }

 private:
  std::optional<GuardedFile> file_;
  Overwrite overwrite_;
};

}  // namespace tally::cli
