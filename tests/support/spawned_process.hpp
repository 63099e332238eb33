#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

namespace tally::test {

/// What a command that ended left behind. A signal counts as exit code 128 + its number, as in a shell.
struct CommandResult {
  int exit_code = -1;
  std::string output;
  std::string error;
};

/// A child and our ends of its three pipes, which whoever has it closes.
struct SpawnedProcess {
  pid_t id = 0;
  int input = -1;
  int output = -1;
  int error = -1;

  /// Waits for its end; returns the exit code as in CommandResult.
  int wait() const {
    int status = 0;
    while (waitpid(id, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
};

/// Starts a program. A child that reads no further is an error of write here, not a signal. `output_path` replaces
/// the pipe of standard output.
inline SpawnedProcess spawn_with_pipes(std::vector<std::string> arguments,
                                       const std::string& output_path = "") {
  std::array<std::array<int, 2>, 3> pipes{};
  for (auto& ends : pipes) {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipes[0][0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipes[1][1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipes[2][1], STDERR_FILENO);
  if (!output_path.empty()) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output_path.c_str(), O_WRONLY, 0);
  }
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  SpawnedProcess child{.input = pipes[0][1], .output = pipes[1][0], .error = pipes[2][0]};
  const int failed = posix_spawnp(&child.id, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipes[0][0]);
  close(pipes[1][1]);
  close(pipes[2][1]);
  if (failed != 0) throw std::system_error(failed, std::generic_category(), arguments[0]);
  signal(SIGPIPE, SIG_IGN);
  return child;
}

}  // namespace tally::test
