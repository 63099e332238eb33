#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>

namespace tally::cli {

/// A request that was answered.
struct AccessLogEntry {
  std::string client;  ///< its address
  std::time_t at = 0;  ///< when the request was complete
  std::string method;
  std::string target;
  unsigned version = 11;  ///< of HTTP, times ten
  unsigned status = 0;
  std::optional<std::uint64_t> num_body_bytes;  ///< nothing: the client did not take the whole answer
  std::string user_agent;
};

/// The combined log format of web servers, with its newline: quotes, backslashes and bytes that are not printable are \xHH.
std::string access_log_line(const AccessLogEntry& entry);

/// A file to which a line is added for each request. An error is printed once, and again after it had gone.
class AccessLog {
 public:
  /// Throws std::system_error if the file cannot be opened.
  explicit AccessLog(std::string path);
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  void add(const AccessLogEntry& entry);
  /// Opens the file again, which somebody may have moved away. If that fails, it goes on with the one that it has.
  void reopen();

 private:
  void note(int error);

  std::string path_;
  int file_;
  bool has_failed_ = false;
};

}  // namespace tally::cli
