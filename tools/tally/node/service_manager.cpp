#include "node/service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace tally::cli {
namespace {

std::string_view environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

/// Of the environment, where a number of microseconds is for this process. A third of it, so that two may be late.
Nanoseconds watchdog_interval() {
  const std::string_view text = environment("WATCHDOG_USEC");
  const std::string_view process = environment("WATCHDOG_PID");
  if (!process.empty() && process != std::to_string(::getpid())) return 0;
  std::uint64_t microseconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), microseconds);
  if (error != std::errc() || end != text.data() + text.size()) return 0;
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  return static_cast<Nanoseconds>(std::min(microseconds, most)) * 1000 / 3;
}

}  // namespace

ServiceManager::ServiceManager()
    : path_(environment("NOTIFY_SOCKET")), interval_(watchdog_interval()), next_(0) {
  if (!path_.empty()) socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0 || interval_ == 0) next_ = std::numeric_limits<Nanoseconds>::max();
}

ServiceManager::~ServiceManager() {
  if (socket_ >= 0) ::close(socket_);
}

void ServiceManager::say(std::string_view state) const noexcept {
  sockaddr_un address{};
  if (socket_ < 0 || path_.size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.data(), path_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // a name without a file
  (void)::sendto(socket_, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                 reinterpret_cast<const sockaddr*>(&address),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_.size()));
}

void ServiceManager::show(const std::string& status) {
  if (status == shown_) return;
  shown_ = status;
  say("STATUS=" + status);
}

void ServiceManager::keep_alive(Nanoseconds now) {
  if (now < next_) return;
  say("WATCHDOG=1");
  next_ = now + interval_;
}

}  // namespace tally::cli
