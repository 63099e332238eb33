#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "spawned_process.hpp"

namespace tally::test {

/// A command that is talked to while it runs; run_program is for one that is fed once and waited for.
class RunningCommand {
 public:
  explicit RunningCommand(std::vector<std::string> arguments)
      : child_(spawn_with_pipes(std::move(arguments))) {}
  ~RunningCommand() {
    if (child_.id > 0) {
      kill(child_.id, SIGKILL);
      child_.wait();
    }
    close_input();
    close(child_.output);
    close(child_.error);
  }
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  void write(std::string_view bytes) {
    if (::write(child_.input, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      throw std::system_error(errno, std::generic_category(), "write");
    }
  }
  void close_input() {
    if (child_.input >= 0) close(child_.input);
    child_.input = -1;
  }
  void send(int signal_number) { kill(child_.id, signal_number); }
  /// Whether it has taken all that was written to it.
  bool has_read_all() const {
    int num_bytes = 0;
    return ::ioctl(child_.input, FIONREAD, &num_bytes) == 0 && num_bytes == 0;
  }
  /// What it has used so far.
  double processor_seconds() const {
    std::ifstream file("/proc/" + std::to_string(child_.id) + "/stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    std::istringstream fields(text.substr(text.rfind(')') + 1));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    double user = 0, system = 0;
    fields >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  std::size_t num_threads() const {
    const std::filesystem::directory_iterator threads("/proc/" + std::to_string(child_.id) + "/task");
    const auto num_threads = static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
#ifdef TALLY_COMMAND_IS_EMULATED
    return num_threads - 1;  // without that of qemu
#else
    return num_threads;
#endif
  }

  /// The next line of standard output with its newline; what there is of it if none comes within the time.
  std::string read_line(int milliseconds = 20'000) { return read_line_of(child_.output, milliseconds); }
  std::string read_error_line(int milliseconds = 20'000) { return read_line_of(child_.error, milliseconds); }

  /// What is left of both outputs, and the exit code. A command that does not end by itself is killed.
  CommandResult wait(int milliseconds = 20'000) {
    CommandResult result;
    result.output = read_rest(child_.output, milliseconds);
    result.error = read_rest(child_.error, milliseconds);
    result.exit_code = child_.wait();
    child_.id = 0;
    return result;
  }

 private:
  static bool read_byte(int file, char& byte, int milliseconds) {
    pollfd polled{file, POLLIN, 0};
    return poll(&polled, 1, milliseconds) == 1 && read(file, &byte, 1) == 1;
  }
  static std::string read_line_of(int file, int milliseconds) {
    std::string line;
    for (char byte = 0; byte != '\n' && read_byte(file, byte, milliseconds);) line += byte;
    return line;
  }
  std::string read_rest(int file, int milliseconds) {
    std::string rest;
    std::array<char, 4096> buffer{};
    for (pollfd polled{file, POLLIN, 0};;) {
      if (poll(&polled, 1, milliseconds) != 1) kill(child_.id, SIGKILL);
      const ssize_t got = read(file, buffer.data(), buffer.size());
      if (got <= 0) return rest;
      rest.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

  SpawnedProcess child_;
};

}  // namespace tally::test
