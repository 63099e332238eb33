#pragma once

#include <atomic>
#include <csignal>

namespace tally::cli {

namespace detail {
inline std::atomic<int> stop_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);  // a signal handler writes it
}  // namespace detail

/// Whether SIGINT or SIGTERM asked the command to stop: readers end the input there, and
/// the command ends with its summary.
inline bool stop_requested() noexcept { return detail::stop_signal != 0; }

/// The first SIGINT or SIGTERM only asks (a blocking call returns EINTR); the second one kills.
inline void install_stop_handler() noexcept {
  struct sigaction action {};
  action.sa_handler = [](int signal) { detail::stop_signal = signal; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace tally::cli
