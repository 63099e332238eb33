#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace tally::detail {

/// Throws the std::system_error of `error`: "cannot open out.tally: No space left on device".
[[noreturn]] inline void throw_system_error(int error, const std::string& what,
                                            const std::filesystem::path& path) {
  throw std::system_error(error, std::generic_category(), what + " " + path.string());
}

/// The owner of an open file, which stores the path for messages.
class FileDescriptor {
 public:
  FileDescriptor(const std::filesystem::path& path, int flags, mode_t mode, std::filesystem::path named)
      : path_(std::move(named)) {
    do {
      descriptor_ = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    } while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0) throw_error((flags & O_CREAT) != 0 ? "cannot create" : "cannot open");
  }
  FileDescriptor(FileDescriptor&& other) noexcept
      : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  static FileDescriptor open_for_reading(const std::filesystem::path& path) {
    return {path, O_RDONLY, 0, path};
  }

  int get() const noexcept { return descriptor_; }

  /// Throws std::system_error with errno.
  [[noreturn]] void throw_error(const std::string& what) const { throw_system_error(errno, what, path_); }

  struct stat status() const {
    struct stat status = {};
    if (::fstat(descriptor_, &status) != 0) throw_error("cannot inspect");
    return status;
  }

  /// Reads until `bytes` are full or the file ends; returns how many bytes were read.
  std::size_t read_fully(std::span<std::byte> bytes) const {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count = ::read(descriptor_, bytes.data() + done, bytes.size() - done);
      if (count == 0) break;
      if (count > 0) done += static_cast<std::size_t>(count);
      else if (errno != EINTR) throw_error("cannot read");
    }
    return done;
  }

  void write_all(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count >= 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
      else if (errno != EINTR) throw_error("cannot write");
    }
  }

  void sync() const {
    if (::fsync(descriptor_) != 0) throw_error("cannot sync");
  }

  /// Closes now, so that a late write error is not lost.
  void close() {
    if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) throw_error("cannot close");
  }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace tally::detail
