#include "files/guarded_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "cli/signals.hpp"
#include "text/output.hpp"
#include "text/output_check.hpp"

namespace tally::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* lock_suffix = ".tally-lock";
constexpr std::size_t longest_file_name = 255;
constexpr int milliseconds_between_trials = 50;

// If the name is too long, only its first part is used: at worst two files share a lock.
fs::path lock_path_of(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(path, error);
  if (error) throw std::system_error(error, path);
  const std::string name = target.filename().string();
  const std::size_t most = longest_file_name - 1 - std::string_view(lock_suffix).size();
  return target.parent_path() / ("." + name.substr(0, most) + lock_suffix);
}

bool can_be_held(const std::string& path) {
  std::error_code ignored;  // opening the lock reports the error
  const fs::file_status status = fs::status(path, ignored);
  return path != "-" && (status.type() == fs::file_type::regular || !fs::exists(status));
}

bool leads_to(const fs::path& path, int file) {
  struct stat opened {};
  struct stat named {};
  return fstat(file, &opened) == 0 && lstat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

}  // namespace

GuardedFile::GuardedFile(std::string path, bool quiet, WhenHeld when_held) : path_(std::move(path)) {
  check_can_write(path_);
  if (!can_be_held(path_)) return;
  lock_path_ = lock_path_of(path_);
  if (try_to_hold()) return;
  if (when_held != WhenHeld::wait) {
    const char* const way_out =
        when_held == WhenHeld::refuse ? "" : ", or give --wait-for-state to wait for it";
    throw std::runtime_error(
        fmt::format("'{}' is locked by another tally process; try again later{}", path_, way_out));
  }
  remark(quiet, fmt::format("'{}' is being changed by another process; waiting", path_));
  // In steps, because a signal just before an unlimited wait would not end it.
  while (!try_to_hold()) {
    if (stop_requested())
      throw std::runtime_error(
          fmt::format("interrupted while waiting for '{}', which was not changed", path_));
    poll(nullptr, 0, milliseconds_between_trials);
  }
}

// The holder removes the lock file before it unlocks it, so the locked file may be an old one.
bool GuardedFile::try_to_hold() {
  while (true) {
    const int file = open(lock_path_.c_str(), O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0)
      throw std::system_error(errno, std::generic_category(), fmt::format("cannot lock '{}'", path_));
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      close(file);
      if (error == EWOULDBLOCK) return false;
      throw std::system_error(error, std::generic_category(), fmt::format("cannot lock '{}'", path_));
    }
    if (leads_to(lock_path_, file)) {
      lock_ = file;
      return true;
    }
    close(file);
  }
}

GuardedFile::~GuardedFile() {
  if (lock_ < 0) return;
  if (leads_to(lock_path_, lock_)) unlink(lock_path_.c_str());
  close(lock_);
}

void GuardedFile::save(const AnyFilter& filter, Overwrite overwrite) const {
  if (path_ == "-") return save(serialize(filter), overwrite);  // it may be a file with other contents before
  tally::save(filter, path_, overwrite);
}

void GuardedFile::save(std::span<const std::byte> bytes, Overwrite overwrite) const {
  if (path_ == "-") return print({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  save_bytes(bytes, path_, overwrite);
}

int GuardedFile::open_to_append() const {
  const int file = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0)
    throw std::system_error(errno, std::generic_category(), fmt::format("cannot write '{}'", path_));
  return file;
}

void check_overwrite(const std::string& path, bool force, std::string_view flag) {
  if (path == "-") {
    if (!force)
      refuse_terminal(
          fmt::format("send it to a file or a pipe, or name a file with {}, or give --force", flag));
    return;
  }
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  const bool is_link = fs::is_symlink(fs::symlink_status(path, ignored));
  if (is_link && !fs::exists(status) && !force) {
    throw std::invalid_argument(
        fmt::format("{}: '{}' is a symbolic link to a missing file; give --force to create it", flag, path));
  }
  if (fs::is_directory(status)) {
    throw std::invalid_argument(fmt::format("{}: '{}' is a directory; give a file", flag, path));
  }
  if (fs::is_regular_file(status) && !force) {
    throw std::invalid_argument(fmt::format("{}: '{}' exists; give --force to overwrite it", flag, path));
  }
}

OutputFile::OutputFile(const std::string& path, bool force, bool quiet, std::string_view flag)
    : overwrite_(force ? Overwrite::replace : Overwrite::refuse) {
  check_overwrite(path, force, flag);
  file_.emplace(path, quiet);
  check_overwrite(path, force, flag);  // another process may have created it while this one waited
}

}  // namespace tally::cli
