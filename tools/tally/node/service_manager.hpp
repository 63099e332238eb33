#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "text/duration.hpp"

namespace tally::cli {

/// Tells the service manager how this process is, where there is a $NOTIFY_SOCKET: systemd's Type=notify and WatchdogSec
/// (sd_notify(3)). Otherwise it does nothing. It never waits: what the manager cannot take now, it gets later.
class ServiceManager {
 public:
  ServiceManager();
  ~ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  /// Whether there is one; otherwise all else does nothing.
  bool is_there() const noexcept { return socket_ >= 0; }
  /// "READY=1", "STOPPING=1": repeated until the manager has it.
  void say(std::string_view state, Nanoseconds now);
  /// What `systemctl status` shows; said when it changes, at most once a second.
  void show(std::string status, Nanoseconds now);
  /// Repeats what the manager did not take, and says that this process is alive, often enough for its watchdog.
  void step(Nanoseconds now);
  /// The latest time for the next step.
  Nanoseconds deadline() const noexcept;

 private:
  bool send(std::string_view state) const noexcept;
  void send_untold(Nanoseconds now);
  void send_status(Nanoseconds now);

  int socket_ = -1;
  std::string path_;
  std::deque<std::string> untold_;
  Nanoseconds pause_;
  Nanoseconds next_try_ = 0;
  std::string status_;
  std::string shown_;
  Nanoseconds next_status_ = 0;
  Nanoseconds interval_ = 0;  // 0: there is no watchdog
  Nanoseconds next_alive_ = 0;
};

}  // namespace tally::cli
