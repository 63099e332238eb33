#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <string_view>

#include "serialization/file_descriptor.hpp"
#include "serialization/parts.hpp"
#include "tally/serialization.hpp"

namespace tally {
namespace {

namespace fs = std::filesystem;
using detail::FileDescriptor;
using detail::throw_system_error;

constexpr int max_name_trials = 16;
constexpr std::string_view temporary_prefix = ".tally-";
constexpr std::string_view temporary_suffix = ".tmp";

bool leads_to(const fs::path& path, const FileDescriptor& file) {
  const struct stat opened = file.status();
  struct stat named = {};
  return ::lstat(path.c_str(), &named) == 0 && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

bool try_lock(const FileDescriptor& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

/// A new file beside the target, removed again unless it was renamed to the target. It stays locked while it
/// is written, so whoever can lock such a file knows that its writer is dead.
class TemporaryFile {
 public:
  TemporaryFile(const fs::path& directory, mode_t mode, const fs::path& named)
      : file_(create(directory, mode, named, path_)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!renamed_) ::unlink(path_.c_str());
  }

  FileDescriptor& file() noexcept { return file_; }

  void replace(const fs::path& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) throw_system_error(errno, "cannot replace", target);
    renamed_ = true;
  }

  /// Never replaces a file, not even one that appeared a moment ago.
  void rename_to_new(const fs::path& target) {
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) {
      renamed_ = true;
      return;
    }
    // Not every file system supports that. After link(), the destructor removes the first name.
    const bool has_no_renameat2 = errno == EINVAL || errno == ENOSYS;
    if (has_no_renameat2 && ::link(path_.c_str(), target.c_str()) == 0) return;
    throw_system_error(errno, "cannot create", target);
  }

  /// Removes what killed writers left in the directory, as far as it can be read.
  static void remove_left_behind(const fs::path& directory) {
    // Not with a directory_iterator: that of g++ 12 ends the program if it finds no memory.
    const std::unique_ptr<DIR, int (*)(DIR*)> names(::opendir(directory.c_str()), ::closedir);
    if (!names) return;
    while (const dirent* const entry = ::readdir(names.get())) {
      const std::string_view name = entry->d_name;
      if (name.starts_with(temporary_prefix) && name.ends_with(temporary_suffix))
        remove_if_dead(directory / name);
    }
  }

 private:
  static void remove_if_dead(const fs::path& path) {
    try {
      const FileDescriptor file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, path);
      if (S_ISREG(file.status().st_mode) && try_lock(file) && leads_to(path, file)) ::unlink(path.c_str());
    } catch (const std::system_error&) {  // the file has just got its own name, or belongs to somebody else
    }
  }

  static fs::path unused_name(const fs::path& directory) {
    std::random_device random;
    fs::path name;
    for (int trial = 0; trial < max_name_trials; ++trial) {
      name = std::string(temporary_prefix) + std::to_string(::getpid()) + "-" + std::to_string(random()) +
             std::string(temporary_suffix);
      std::error_code ignored;
      if (fs::symlink_status(directory / name, ignored).type() == fs::file_type::not_found) break;
    }
    return name;
  }

  // Another writer may see the file before it is locked, and remove it as left behind.
  static FileDescriptor create(const fs::path& directory, mode_t mode, const fs::path& named,
                               fs::path& path) {
    for (int trial = 1;; ++trial) {
      path = directory / unused_name(directory);
      FileDescriptor file(path, O_WRONLY | O_CREAT | O_EXCL, mode, named);
      const bool is_locked = try_lock(file) || errno != EWOULDBLOCK;  // not every file system has locks
      if ((is_locked && leads_to(path, file)) || trial == max_name_trials) return file;
    }
  }

  fs::path path_;
  FileDescriptor file_;
  bool renamed_ = false;
};

// Makes the new name durable. If the directory can be written to but not read, or cannot be synced, the
// renaming is as durable as the file system makes it.
void sync_directory(const fs::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  const int error = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (error != 0 && error != EINVAL) throw_system_error(error, "cannot sync", directory);
}

fs::path without_links(const fs::path& path) {
  std::error_code error;
  fs::path target = fs::weakly_canonical(path, error);
  if (error) throw_system_error(error.value(), "cannot resolve", path);
  return target;
}

using Write = std::function<void(const FileDescriptor&)>;

void save_by(const Write& write, const fs::path& path, Overwrite overwrite) {
  struct stat status = {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) throw_system_error(errno, "cannot create", path);
  if (exists && S_ISDIR(status.st_mode)) throw_system_error(EISDIR, "cannot write", path);
  if (exists && !S_ISREG(status.st_mode)) {
    FileDescriptor file(path, O_WRONLY, 0, path);
    write(file);
    return file.close();
  }
  if (exists && overwrite == Overwrite::refuse) throw_system_error(EEXIST, "will not overwrite", path);

  const fs::path target = overwrite == Overwrite::replace ? without_links(path) : path;
  const fs::path directory = target.has_parent_path() ? target.parent_path() : fs::path(".");
  TemporaryFile::remove_left_behind(directory);
  // Nobody may be able to open the new file who could not open the old one. If there was none, the file has
  // its final mode already, that of the process for new files.
  TemporaryFile temporary(directory, exists ? 0600 : 0666, path);
  const FileDescriptor& file = temporary.file();
  write(file);
  if (exists && ::fchmod(file.get(), status.st_mode & 07777) != 0) file.throw_error("cannot set the mode of");
  file.sync();
  if (overwrite == Overwrite::replace) {
    temporary.replace(target);
  } else {
    temporary.rename_to_new(target);
  }
  sync_directory(directory);
}

}  // namespace

void detail::save_pieces(std::span<const FileBytes> pieces, const fs::path& path, Overwrite overwrite) {
  const auto write = [&](const FileDescriptor& file) {
    for (const FileBytes piece : pieces) file.write_all(piece);
  };
  save_by(write, path, overwrite);
}

void save(const FilterView& filter, const fs::path& path, Overwrite overwrite) {
  const auto header = detail::header_of(filter);
  const detail::FileBytes pieces[] = {header, std::as_bytes(filter.words), std::as_bytes(filter.side_words)};
  detail::save_pieces(pieces, path, overwrite);
}

void save_bytes(std::span<const std::byte> bytes, const fs::path& path, Overwrite overwrite) {
  detail::save_pieces(std::span(&bytes, 1), path, overwrite);
}

}  // namespace tally
