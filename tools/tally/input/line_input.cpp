#include "input/line_input.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace tally::cli {

namespace {
constexpr std::size_t chunk_bytes = std::size_t{256} << 10;
}

void LineInput::read_some() {
  if (ended_) return;
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  const std::size_t held = buffer_.size();
  if (held > longest_line) {
    throw std::runtime_error(fmt::format("standard input: a line of more than {} bytes", longest_line));
  }
  buffer_.resize(held + chunk_bytes);
  const ssize_t count = ::read(STDIN_FILENO, buffer_.data() + held, chunk_bytes);
  const int error = errno;
  buffer_.resize(held + (count > 0 ? static_cast<std::size_t>(count) : 0));
  if (count == 0) ended_ = true;
  if (count < 0 && error != EINTR && error != EAGAIN) {
    throw std::system_error(error, std::generic_category(), "standard input");
  }
}

// After its last writer has gone, poll reports a hangup at once and for ever, until the next one comes. A descriptor that is opened
// now has seen no writer go. What was written in between is in the pipe.
LineInput::NextWriter LineInput::await_next_writer() {
  struct stat status {};
  if (fstat(STDIN_FILENO, &status) != 0 || !S_ISFIFO(status.st_mode)) return NextWriter::not_a_pipe;
  const int again = open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (again < 0) return NextWriter::impossible;
  const bool is_in_place = dup2(again, STDIN_FILENO) >= 0;
  close(again);
  ended_ = !is_in_place;
  return is_in_place ? NextWriter::awaited : NextWriter::impossible;
}

std::optional<std::string_view> LineInput::next_line() {
  const std::size_t end = buffer_.find(separator_, scanned_);
  const std::size_t begin = begin_;
  if (end != std::string::npos) {
    begin_ = scanned_ = end + 1;
    return std::string_view(buffer_).substr(begin, end - begin);
  }
  scanned_ = buffer_.size();
  if (!ended_ || begin == buffer_.size()) return std::nullopt;
  begin_ = buffer_.size();
  return std::string_view(buffer_).substr(begin);
}

}  // namespace tally::cli
