#include "store/output_place.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>

namespace tally::cli {

OutputPlace output_place() {
  struct stat found {};
  if (fstat(STDOUT_FILENO, &found) != 0 || !S_ISREG(found.st_mode)) return {};
  const int flags = fcntl(STDOUT_FILENO, F_GETFL);
  const off_t offset =
      flags >= 0 && (flags & O_APPEND) != 0 ? found.st_size : lseek(STDOUT_FILENO, 0, SEEK_CUR);
  if (offset < 0) return {};
  return {found.st_dev, found.st_ino, static_cast<std::uint64_t>(offset)};
}

std::optional<std::size_t> num_bytes_written(const OutputPlace& from, std::string_view text) {
  const OutputPlace now = output_place();
  if (from.inode == 0 || now.device != from.device || now.inode != from.inode) return std::nullopt;
  if (now.offset <= from.offset) return 0;  // nothing, or the file was begun anew
  // Standard output need not be open for reading.
  const int file = open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string written(std::min<std::size_t>(now.offset - from.offset, text.size()), '\0');
  const ssize_t count = pread(file, written.data(), written.size(), static_cast<off_t>(from.offset));
  close(file);
  if (count != static_cast<ssize_t>(written.size()) || !text.starts_with(written)) return std::nullopt;
  return written.size();
}

}  // namespace tally::cli
