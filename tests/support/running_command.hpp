#pragma once

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "command_runner.hpp"

namespace tally::test {

/// A command that is talked to while it runs; run_program is for one that is fed once and waited for.
class RunningCommand {
 public:
  explicit RunningCommand(std::vector<std::string> arguments) {
    std::array<std::array<int, 2>, 3> pipes{};
    for (auto& ends : pipes) {
      if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipes[0][0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, pipes[1][1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, pipes[2][1], STDERR_FILENO);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int failed = posix_spawnp(&child_, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pipes[0][0]);
    close(pipes[1][1]);
    close(pipes[2][1]);
    input_ = pipes[0][1];
    output_ = pipes[1][0];
    error_ = pipes[2][0];
    if (failed != 0) throw std::system_error(failed, std::generic_category(), arguments[0]);
    signal(SIGPIPE, SIG_IGN);
  }
  ~RunningCommand() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close_input();
    close(output_);
    close(error_);
  }
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  void write(std::string_view bytes) {
    if (::write(input_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      throw std::system_error(errno, std::generic_category(), "write");
    }
  }
  void close_input() {
    if (input_ >= 0) close(input_);
    input_ = -1;
  }
  void send(int signal_number) { kill(child_, signal_number); }

  /// The next line of standard output with its newline; what there is of it if none comes within the time.
  std::string read_line(int milliseconds = 20'000) { return read_line_of(output_, milliseconds); }
  std::string read_error_line(int milliseconds = 20'000) { return read_line_of(error_, milliseconds); }

  /// What is left of both outputs, and the exit code. A command that does not end by itself is killed.
  CommandResult wait(int milliseconds = 20'000) {
    CommandResult result;
    result.output = read_rest(output_, milliseconds);
    result.error = read_rest(error_, milliseconds);
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = 0;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
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
      if (poll(&polled, 1, milliseconds) != 1) kill(child_, SIGKILL);
      const ssize_t got = read(file, buffer.data(), buffer.size());
      if (got <= 0) return rest;
      rest.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

  pid_t child_ = 0;
  int input_ = -1;
  int output_ = -1;
  int error_ = -1;
};

}  // namespace tally::test
