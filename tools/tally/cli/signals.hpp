#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace tally::cli {

namespace detail {
inline std::atomic<int> stop_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);  // a signal handler writes it
}  // namespace detail

/// The signals that ask a command to stop; a terminal that is closed sends SIGHUP.
inline constexpr std::array<int, 3> stop_signals{SIGINT, SIGTERM, SIGHUP};

/// Whether one of stop_signals arrived: readers then end the input, and the command ends with its summary.
inline bool stop_requested() noexcept { return detail::stop_signal != 0; }

/// The first signal of a kind only asks to stop (a blocking call returns EINTR); the second one kills.
/// Signals that were ignored when the command was started stay ignored, as with nohup and a shell's
/// background jobs.
inline void install_stop_handler() noexcept {
  struct sigaction action {};
  action.sa_handler = [](int signal) { detail::stop_signal = signal; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : stop_signals) {
    struct sigaction before {};
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace tally::cli
