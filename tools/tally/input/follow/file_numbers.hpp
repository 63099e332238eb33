#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace tally::cli {

/// Numbers of opened files. The number of a closed one is used again, so that they stay small.
class FileNumbers {
 public:
  std::size_t take(const std::string& path) {
    auto entry = std::ranges::find(entries_, true, &Entry::is_free);
    if (entry == entries_.end()) entry = entries_.emplace(entry);
    *entry = {path, false};
    return static_cast<std::size_t>(entry - entries_.begin());
  }
  void give_back(std::size_t number) noexcept { entries_[number].is_free = true; }
  /// Stays known until the number is taken again.
  const std::string& path(std::size_t number) const noexcept { return entries_[number].path; }

 private:
  struct Entry {
    std::string path;
    bool is_free = true;
  };
  std::vector<Entry> entries_;
};

}  // namespace tally::cli
