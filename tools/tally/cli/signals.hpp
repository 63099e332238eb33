#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace tally::cli {

namespace detail {
// Signal handlers write them.
inline std::atomic<int> stop_signal = 0;
inline std::atomic<bool> is_reload_requested = false;
inline std::atomic<bool> is_status_requested = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);
}  // namespace detail

/// The signals that ask a command to stop; a terminal that is closed sends SIGHUP.
inline constexpr std::array<int, 3> stop_signals{SIGINT, SIGTERM, SIGHUP};

/// Whether one of stop_signals arrived: readers then end the input, and the command ends with its summary.
inline bool stop_requested() noexcept { return detail::stop_signal != 0; }

/// Whether SIGHUP arrived since the last call, for a command that reloads then.
inline bool take_reload_request() noexcept { return detail::is_reload_requested.exchange(false); }
inline bool reload_requested() noexcept { return detail::is_reload_requested; }

/// SIGHUP no longer asks to stop but to reload.
inline void install_reload_handler() noexcept {
  struct sigaction action {};
  action.sa_handler = [](int) { detail::is_reload_requested = true; };
  sigaction(SIGHUP, &action, nullptr);
}

/// Whether SIGUSR1 arrived since the last call, for a command that then says what it has done so far.
inline bool take_status_request() noexcept {
  return detail::is_status_requested && detail::is_status_requested.exchange(false);
}

/// SIGUSR1 no longer ends the command.
inline void install_status_handler() noexcept {
  struct sigaction action {};
  action.sa_handler = [](int) { detail::is_status_requested = true; };
  sigaction(SIGUSR1, &action, nullptr);
}

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
