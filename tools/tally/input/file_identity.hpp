#pragma once

#include <sys/stat.h>

namespace tally::cli {

/// What tells one file from another, whatever their names are.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  static FileIdentity of(const struct stat& status) noexcept { return {status.st_dev, status.st_ino}; }
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

}  // namespace tally::cli
