#include "input/follow/opened_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "input/compression.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

[[noreturn]] void fail_on(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), path);
}

}  // namespace

std::optional<FileIdentity> OpenedFile::identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileIdentity::of(status);
}

std::unique_ptr<OpenedFile> OpenedFile::open(const std::string& path, char separator, std::size_t number) {
  const int file =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe would wait for its writer
  if (file < 0 && errno == ENOENT) return nullptr;
  if (file < 0) fail_on(path);
  return std::unique_ptr<OpenedFile>(new OpenedFile(path, file, separator, number));
}

OpenedFile::OpenedFile(std::string path, int file, char separator, std::size_t number)
    : path_(std::move(path)), file_(file), separator_(separator), number_(number), lines_(separator) {
  struct stat status {};
  const bool is_known = ::fstat(file, &status) == 0;
  if (is_known && S_ISREG(status.st_mode)) {
    identity_ = FileIdentity::of(status);
    return;
  }
  const int error = errno;
  ::close(file);
  if (!is_known) throw std::system_error(error, std::generic_category(), path_);
  throw std::runtime_error(fmt::format(
      "--follow: '{}' is not a regular file; leave --follow out: a pipe is read as it is written", path_));
}

OpenedFile::~OpenedFile() {
  if (file_ >= 0) ::close(file_);
}

std::string OpenedFile::start() const {
  std::string bytes(longest_magic, '\0');
  const ssize_t count = ::pread(file_, bytes.data(), bytes.size(), 0);
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

void OpenedFile::skip_to_end() {
  struct stat status {};
  if (::fstat(file_, &status) != 0) fail_on(path_);
  position_ = static_cast<std::uint64_t>(status.st_size);
  char last = separator_;
  if (position_ > 0 && ::pread(file_, &last, 1, static_cast<off_t>(position_ - 1)) < 0) fail_on(path_);
  skips_line_ = last != separator_;
}

/// Begins again if the file has become shorter.
bool OpenedFile::has_more() {
  struct stat status {};
  if (::fstat(file_, &status) != 0) fail_on(path_);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size < position_) {
    remark(false,
           fmt::format(
               "'{}' was cut off at {} of {} bytes; reading it from its beginning{}", path_, size, position_,
               lines_.begun_bytes() == 0
                   ? std::string()
                   : fmt::format(", without the {} bytes of an incomplete line", lines_.begun_bytes())));
    lines_ = LineBlocks(separator_);
    position_ = 0;
    begins_ = true;
    skips_line_ = false;
  }
  return size > position_;
}

std::size_t OpenedFile::read(std::span<char> into) {
  while (true) {
    const ssize_t count = ::pread(file_, into.data(), into.size(), static_cast<off_t>(position_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_on(path_);
    position_ += static_cast<std::uint64_t>(count);
    bytes_read_ += static_cast<std::uint64_t>(count);
    return static_cast<std::size_t>(count);
  }
}

FollowedBlock OpenedFile::next(std::vector<char>& buffer) {
  if (!has_more()) return {};
  last_read_ = Clock::now();
  std::span<const char> block = lines_.next(buffer, [&](std::span<char> into) { return read(into); });
  if (skips_line_ && !block.empty()) {
    const std::string_view text(block.data(), block.size());
    block = block.subspan(text.find(separator_) + 1);
    skips_line_ = false;
  }
  return block_of(block);
}

FollowedBlock OpenedFile::block_of(std::span<const char> bytes) noexcept {
  if (bytes.empty()) return {};
  return {bytes, number_, std::exchange(begins_, false)};
}

}  // namespace tally::cli
