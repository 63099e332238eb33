#include "squid/access_log.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "text/output.hpp"

namespace tally::cli {
namespace {

int opened(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

std::string escaped(const std::string& text) {
  std::string all;
  for (const char c : text) {
    const bool is_plain = c >= ' ' && c < 127 && c != '"' && c != '\\';
    all += is_plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return all.empty() ? "-" : all;
}

}  // namespace

std::string access_log_line(const AccessLogEntry& entry) {
  std::tm parts{};
  ::gmtime_r(&entry.at, &parts);
  std::array<char, 64> time{};
  std::strftime(time.data(), time.size(), "%d/%b/%Y:%H:%M:%S +0000", &parts);
  return fmt::format("{} - - [{}] \"{} {} HTTP/{}.{}\" {} {} \"-\" \"{}\"\n", entry.client, time.data(),
                     escaped(entry.method), escaped(entry.target), entry.version / 10, entry.version % 10,
                     entry.status, entry.num_body_bytes ? std::to_string(*entry.num_body_bytes) : "-",
                     escaped(entry.user_agent));
}

AccessLog::AccessLog(std::string path) : path_(std::move(path)), file_(opened(path_)) {
  if (file_ < 0) throw std::system_error(errno, std::generic_category(), "--access-log: '" + path_ + "'");
}

AccessLog::~AccessLog() { ::close(file_); }

void AccessLog::add(const AccessLogEntry& entry) {
  const std::string line = access_log_line(entry);
  const ssize_t written = ::write(file_, line.data(), line.size());
  if (written < 0) return note(errno);
  note(static_cast<std::size_t>(written) == line.size() ? 0 : ENOSPC);
}

void AccessLog::reopen() {
  const int file = opened(path_);
  if (file < 0) return note(errno);
  ::close(std::exchange(file_, file));
}

void AccessLog::note(int error) {
  if (error != 0 && !has_failed_)
    warn(fmt::format("--access-log: '{}': {}; requests are still answered", path_,
                     std::generic_category().message(error)));
  has_failed_ = error != 0;
}

}  // namespace tally::cli
