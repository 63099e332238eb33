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
#include <utility>

namespace tally::cli {
namespace {

// Between two attempts to say what the manager did not take.
constexpr Nanoseconds first_retry_after = nanoseconds_per_second / 20;
constexpr Nanoseconds last_retry_after = 2 * nanoseconds_per_second;
constexpr Nanoseconds between_statuses = nanoseconds_per_second;

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
    : path_(environment("NOTIFY_SOCKET")), pause_(first_retry_after), interval_(watchdog_interval()) {
  if (!path_.empty()) socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

ServiceManager::~ServiceManager() {
  if (socket_ >= 0) ::close(socket_);
}

bool ServiceManager::send(std::string_view state) const noexcept {
  sockaddr_un address{};
  if (path_.size() >= sizeof address.sun_path) return true;  // nobody can listen there
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.data(), path_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // a name without a file
  return ::sendto(socket_, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                  reinterpret_cast<const sockaddr*>(&address),
                  static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_.size())) >= 0;
}

void ServiceManager::say(std::string_view state, Nanoseconds now) {
  if (!is_there() || std::ranges::find(untold_, state) != untold_.end()) return;
  untold_.emplace_back(state);
  send_untold(now);
}

// The queue of a busy manager is full, or it is being restarted.
void ServiceManager::send_untold(Nanoseconds now) {
  while (!untold_.empty() && now >= next_try_) {
    if (send(untold_.front())) {
      untold_.pop_front();
      pause_ = first_retry_after;
    } else {
      next_try_ = now + pause_;
      pause_ = std::min(2 * pause_, last_retry_after);
    }
  }
}

void ServiceManager::show(std::string status, Nanoseconds now) {
  status_ = std::move(status);
  send_status(now);
}

void ServiceManager::send_status(Nanoseconds now) {
  if (!is_there() || status_ == shown_ || now < next_status_) return;
  if (send("STATUS=" + status_)) shown_ = status_;
  next_status_ = now + between_statuses;
}

void ServiceManager::step(Nanoseconds now) {
  if (!is_there()) return;
  if (interval_ > 0 && now >= next_alive_) {
    next_alive_ = now + interval_;
    say("WATCHDOG=1", now);
  }
  send_untold(now);
  send_status(now);
}

Nanoseconds ServiceManager::deadline() const noexcept {
  constexpr Nanoseconds never = std::numeric_limits<Nanoseconds>::max();
  if (!is_there()) return never;
  return std::min({untold_.empty() ? never : next_try_, status_ == shown_ ? never : next_status_,
                   interval_ > 0 ? next_alive_ : never});
}

}  // namespace tally::cli
