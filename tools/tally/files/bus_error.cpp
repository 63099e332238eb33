#include "files/bus_error.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include "cli/command.hpp"
#include "text/output.hpp"

namespace tally::cli {

namespace {

std::string message;  // not modified while the handler is installed

// A missing page cannot be repaired, and a handler may make only a few calls.
void end_with_message(int, siginfo_t* information, void*) {
  if (information->si_code == BUS_ADRALN) {  // not a file's fault
    signal(SIGBUS, SIG_DFL);
    return;
  }
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message.data(), message.size());
  _exit(static_cast<int>(ExitCode::error));
}

}  // namespace

BusErrorMessage::BusErrorMessage(const std::string& path) {
  message =
      fmt::format("{}: {}: part of the file can no longer be read; it was made shorter, or its disk failed\n",
                  command_name(), path);
  struct sigaction action {};
  action.sa_sigaction = end_with_message;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

BusErrorMessage::~BusErrorMessage() { signal(SIGBUS, SIG_DFL); }

}  // namespace tally::cli
