#pragma once

#include <map>
#include <string>
#include <vector>

namespace tally::cli {

/// The renames in some directories, so that no file is missed that had a name only for a moment. Without inotify there
/// are none.
class DirectoryChanges {
 public:
  DirectoryChanges();
  ~DirectoryChanges();
  DirectoryChanges(const DirectoryChanges&) = delete;
  DirectoryChanges& operator=(const DirectoryChanges&) = delete;

  /// Returns the directory's number, the same one for the same directory; -1 if it cannot be watched.
  int watch(const std::string& directory);

  struct Rename {
    int directory = 0;
    std::string from;
    std::string to;
  };
  /// Those since the last call, in order.
  std::vector<Rename> take();
  /// Whether some may have been left out of what the last call returned.
  bool has_lost_some() const noexcept { return has_lost_some_; }

  /// Sleeps until something changes, a signal comes or the time is over.
  void wait(int milliseconds) const;

 private:
  void take_event(int directory, unsigned mask, unsigned cookie, const char* name,
                  std::vector<Rename>& renames);

  int file_ = -1;
  bool has_lost_some_ = false;
  struct Begun {
    int directory = 0;
    std::string from;
  };
  std::map<unsigned, Begun> begun_;  // by cookie: where the second half is still to come
};

}  // namespace tally::cli
