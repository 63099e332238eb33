#include "text/output_check.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace tally::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(int error, const std::string& what, const fs::path& path) {
  throw std::system_error(error, std::generic_category(), what + " " + path.string());
}

/// Creates a file without a name there, so that nothing is left behind however we end. If the file system
/// does not support that, creates a file and removes it at once.
void try_directory(const fs::path& directory, const fs::path& path) {
  int file = ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    const fs::path named = directory / (".tally-" + std::to_string(::getpid()) + "-try.tmp");
    file = ::open(named.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0) ::unlink(named.c_str());
  }
  if (file < 0) fail(errno, "cannot create a file in " + directory.string() + " for", path);
  ::close(file);
}

}  // namespace

void check_standard_output() {
  const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
  const bool is_writable = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
  if (!is_writable) throw std::system_error(EBADF, std::generic_category(), "standard output");
}

void refuse_terminal(std::string_view advice) {
  if (::isatty(STDOUT_FILENO) != 1) return;
  throw std::invalid_argument("standard output is a terminal, and the output is binary; " +
                              std::string(advice));
}

void check_can_write(const std::string& path) {
  if (path == "-") return check_standard_output();
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail(errno, "cannot create", path);
  if (exists && S_ISDIR(status.st_mode)) fail(EISDIR, "cannot write", path);
  if (exists && !S_ISREG(status.st_mode)) {  // a pipe or a device: written to directly
    if (::access(path.c_str(), W_OK) != 0) fail(errno, "cannot write", path);
    return;
  }
  std::error_code error;
  const fs::path target = fs::weakly_canonical(path, error);
  if (error) fail(error.value(), "cannot resolve", path);
  if (!target.has_filename()) fail(EISDIR, "cannot write", path);
  try_directory(target.has_parent_path() ? target.parent_path() : fs::path("."), path);
}

}  // namespace tally::cli
