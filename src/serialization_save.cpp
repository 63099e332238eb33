#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <random>

#include "serialization_file_descriptor.hpp"
#include "serialization_parts.hpp"
#include "tally/serialization.hpp"

namespace tally {
namespace {

namespace fs = std::filesystem;
using detail::FileDescriptor;
using detail::throw_system_error;

constexpr int max_name_trials = 16;

/// A new file beside the target, removed again unless it was renamed to the target.
class TemporaryFile {
 public:
  TemporaryFile(const fs::path& directory, mode_t mode, const fs::path& named)
      : path_(directory / unused_name(directory)), file_(path_, O_WRONLY | O_CREAT | O_EXCL, mode, named) {}
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

  /// Never replaces a file, also one that appeared a moment ago.
  void rename_to_new(const fs::path& target) {
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) {
      renamed_ = true;
      return;
    }
    // Not every file system has that; with a second link the destructor removes the first.
    const bool has_no_renameat2 = errno == EINVAL || errno == ENOSYS;
    if (has_no_renameat2 && ::link(path_.c_str(), target.c_str()) == 0) return;
    throw_system_error(errno, "cannot create", target);
  }

 private:
  static fs::path unused_name(const fs::path& directory) {
    std::random_device random;
    fs::path name;
    for (int trial = 0; trial < max_name_trials; ++trial) {
      name = ".tally-" + std::to_string(::getpid()) + "-" + std::to_string(random()) + ".tmp";
      std::error_code ignored;
      if (fs::symlink_status(directory / name, ignored).type() == fs::file_type::not_found) break;
    }
    return name;
  }

  fs::path path_;
  FileDescriptor file_;
  bool renamed_ = false;
};

// Makes the new name last. Where a directory may be written to but not read, or cannot be synced,
// the renaming is as durable as its file system makes it.
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
  TemporaryFile temporary(directory, 0666, path);
  FileDescriptor& file = temporary.file();
  if (exists && ::fchmod(file.get(), status.st_mode & 07777) != 0) file.throw_error("cannot set the mode of");
  write(file);
  file.sync();
  file.close();
  if (overwrite == Overwrite::replace) {
    temporary.replace(target);
  } else {
    temporary.rename_to_new(target);
  }
  sync_directory(directory);
}

}  // namespace

void save(const AnyFilter& filter, const fs::path& path, Overwrite overwrite) {
  const auto write = [&](const FileDescriptor& file) {
    file.write_all(detail::header_of(filter));
    file.write_all(std::as_bytes(filter.words()));
    file.write_all(std::as_bytes(filter.side_words()));
  };
  save_by(write, path, overwrite);
}

void save_bytes(std::span<const std::byte> bytes, const fs::path& path, Overwrite overwrite) {
  save_by([&](const FileDescriptor& file) { file.write_all(bytes); }, path, overwrite);
}

}  // namespace tally
