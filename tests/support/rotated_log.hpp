#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace tally::test {

/// A log as programs and logrotate write it: the file is renamed, and its writer goes on in it until it opens the new one.
class RotatedLog {
 public:
  explicit RotatedLog(std::string path) : path_(std::move(path)) { reopen(); }
  ~RotatedLog() { close(file_); }
  RotatedLog(const RotatedLog&) = delete;
  RotatedLog& operator=(const RotatedLog&) = delete;

  const std::string& path() const { return path_; }
  std::string rotated(int generation) const { return path_ + "." + std::to_string(generation); }

  void write(std::string_view bytes) {
    if (::write(file_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      throw std::system_error(errno, std::generic_category(), path_);
  }
  /// log.2 becomes log.3, log.1 log.2, and so on. The writer still writes to what is log.1 now.
  void rename_all(int num_kept) {
    for (int i = num_kept; i > 1; --i) std::rename(rotated(i - 1).c_str(), rotated(i).c_str());
    std::rename(path_.c_str(), rotated(1).c_str());
  }
  /// Makes the new file. The writer does not know it yet.
  void create() const { close(open_it()); }
  void reopen() {
    if (file_ >= 0) close(file_);
    file_ = open_it();
  }
  /// As logrotate's copytruncate.
  void cut_off() const { std::filesystem::resize_file(path_, 0); }

 private:
  int open_it() const { return ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600); }

  std::string path_;
  int file_ = -1;
};

}  // namespace tally::test
