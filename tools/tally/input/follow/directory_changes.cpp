#include "input/follow/directory_changes.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace tally::cli {
namespace {

constexpr std::size_t event_bytes = std::size_t{16} << 10;
constexpr std::size_t most_begun = 1024;

}  // namespace

DirectoryChanges::DirectoryChanges() : file_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}

DirectoryChanges::~DirectoryChanges() {
  if (file_ >= 0) ::close(file_);
}

int DirectoryChanges::watch(const std::string& directory) {
  if (file_ < 0) return -1;
  return ::inotify_add_watch(file_, directory.c_str(), IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR);
}

std::vector<DirectoryChanges::Rename> DirectoryChanges::take() {
  std::vector<Rename> renames;
  has_lost_some_ = false;
  if (file_ < 0) return renames;
  alignas(inotify_event) char buffer[event_bytes];
  while (true) {
    const ssize_t count = ::read(file_, buffer, sizeof buffer);
    if (count <= 0) return renames;
    for (const char* next = buffer; next < buffer + count;) {
      inotify_event event{};
      std::memcpy(&event, next, sizeof event);
      take_event(event.wd, event.mask, event.cookie, next + sizeof event, renames);
      next += sizeof event + event.len;
    }
  }
}

void DirectoryChanges::take_event(int directory, unsigned mask, unsigned cookie, const char* name,
                                  std::vector<Rename>& renames) {
  if ((mask & IN_Q_OVERFLOW) != 0) has_lost_some_ = true;
  if ((mask & IN_MOVED_FROM) != 0) {
    if (begun_.size() == most_begun) begun_.clear();  // files that left for other directories
    begun_[cookie] = {directory, name};
  } else if ((mask & IN_MOVED_TO) != 0) {
    const auto found = begun_.find(cookie);
    if (found == begun_.end()) return;
    if (found->second.directory == directory)
      renames.push_back({directory, std::move(found->second.from), name});
    begun_.erase(found);
  }
}

void DirectoryChanges::wait(int milliseconds) const {
  pollfd polled{file_, POLLIN, 0};
  ::poll(&polled, file_ < 0 ? 0 : 1, milliseconds);
}

}  // namespace tally::cli
