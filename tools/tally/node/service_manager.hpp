#pragma once

#include <string>
#include <string_view>

#include "text/duration.hpp"

namespace tally::cli {

/// Tells the service manager how this process is, where there is a $NOTIFY_SOCKET: systemd's Type=notify and WatchdogSec
/// (sd_notify(3)). Otherwise it does nothing.
class ServiceManager {
 public:
  ServiceManager();
  ~ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  /// Whether there is one; otherwise all else does nothing.
  bool is_there() const noexcept { return socket_ >= 0; }
  /// "READY=1", "STOPPING=1"; lost if nobody listens.
  void say(std::string_view state) const noexcept;
  /// What `systemctl status` shows; said when it changes.
  void show(const std::string& status);
  /// Says that this process is alive, often enough for its watchdog.
  void keep_alive(Nanoseconds now);
  /// The latest time for the next keep_alive.
  Nanoseconds deadline() const noexcept { return next_; }

 private:
  int socket_ = -1;
  std::string path_;
  std::string shown_;
  Nanoseconds interval_ = 0;  // 0: there is no watchdog
  Nanoseconds next_;
};

}  // namespace tally::cli
