#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "files/guarded_file.hpp"
#include "node/directory.hpp"
#include "tally/any_filter.hpp"
#include "text/duration.hpp"

namespace tally::cli {

/// The directory with the contents of a file. Throws std::invalid_argument that names the flag, the path and the kind for a
/// kind of filter that cannot be a directory; std::bad_alloc.
NodeDirectory directory_of(const AnyFilter& file, const std::string& flag, const std::string& path,
                           const SummaryOptions& options);

/// Puts the contents of a file in place of those of the directory, which keeps its versions. Throws as directory_of, and then
/// has changed nothing.
void replace_contents(NodeDirectory& directory, const AnyFilter& file, const std::string& flag,
                      const std::string& path);

/// The file where a node saves its directory: replaced as a whole, and locked while the node runs.
class DirectoryFile {
 public:
  /// Throws what GuardedFile throws if another process has locked the file.
  DirectoryFile(const std::string& path, Nanoseconds interval, Nanoseconds now);

  const std::string& path() const noexcept { return file_.path(); }
  /// The latest time for the next call of save_if_due.
  Nanoseconds deadline() const noexcept { return next_; }

  /// Saves at most once per interval, if anything has changed. A failure is printed, and tried again.
  void save_if_due(const NodeDirectory& directory, Nanoseconds now);
  /// Saves what has changed. Throws std::system_error that names the file, and std::bad_alloc.
  void save_now(const NodeDirectory& directory);

 private:
  GuardedFile file_;
  Nanoseconds interval_;
  Nanoseconds next_;
  std::optional<std::uint64_t> saved_;  // the number of changes when it was saved
  bool has_failed_ = false;
};

}  // namespace tally::cli
