#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tally/serialization.hpp"

namespace tally::cli {

/// What a command does if another tally process has locked the file.
enum class WhenHeld { wait, refuse, refuse_and_suggest_waiting };

/// A file that is written. The command creates and replaces files only in this way (a test looks for others).
///
/// The file is locked from construction to destruction. No other tally process can lock it meanwhile, so the
/// file that was read is the one that is replaced. The lock is on `.NAME.tally-lock` beside the file. It does
/// not change when the file is replaced, and can exist before the file does. It is removed at the end; if a
/// killed process left one behind, the next process uses it. A symbolic link is followed first. A path that
/// is not a regular file (a pipe, "-" for standard output) is not locked.
class GuardedFile {
 public:
  /// Before any work is done, throws what check_can_write throws; std::runtime_error that names the file if
  /// it is locked and `when_held` is not wait, or if a signal ends the wait; std::system_error that names it if
  /// no file can be created beside it.
  GuardedFile(std::string path, bool quiet, WhenHeld when_held = WhenHeld::wait);
  ~GuardedFile();
  GuardedFile(const GuardedFile&) = delete;
  GuardedFile& operator=(const GuardedFile&) = delete;

  const std::string& path() const noexcept { return path_; }

  /// As tally::load and tally::save.
  AnyFilter load(const std::optional<HashKey>& key) const { return tally::load(path_, key); }
  void save(const AnyFilter& filter, Overwrite overwrite = Overwrite::replace) const;
  void save(std::span<const std::byte> bytes, Overwrite overwrite = Overwrite::replace) const;
  /// A descriptor that appends to the file, which exists; the caller closes it. Throws std::system_error.
  int open_to_append() const;

 private:
  bool try_to_hold();

  std::string path_;
  std::filesystem::path lock_path_;  // empty if nothing is locked
  int lock_ = -1;
};

/// Throws std::invalid_argument that names the flag if the file exists and `force` is false, or if it is a
/// directory; for "-", if standard output is a terminal and `force` is false.
void check_overwrite(const std::string& path, bool force, std::string_view flag = "--output");

/// The file that --output, or another flag, names: refused or locked before any work is done.
class OutputFile {
 public:
  /// Throws what check_overwrite and GuardedFile throw.
  OutputFile(const std::string& path, bool force, bool quiet, std::string_view flag = "--output");

  void save(const AnyFilter& filter) const { file_->save(filter, overwrite_); }
  void save(std::span<const std::byte> bytes) const { file_->save(bytes, overwrite_); }

 private:
  std::optional<GuardedFile> file_;
  Overwrite overwrite_;
};

}  // namespace tally::cli
