#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace tally::test {

/// What a command that ended left behind. A signal counts as exit code 128 + its number, as in a shell.
struct CommandResult {
  int exit_code = -1;
  std::string output;
  std::string error;
};

/// A directory of its own for a test, removed with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tally-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::system_error(errno, std::generic_category(), pattern);
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string operator/(std::string_view name) const { return (path_ / name).string(); }

  std::string write(std::string_view name, std::string_view bytes) const {
    const std::string path = *this / name;
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path;
  }
  std::size_t num_files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Runs a program and feeds and drains its pipes at the same time, so that none of them can block it.
/// `output_path` replaces the pipe of standard output.
inline CommandResult run_program(std::vector<std::string> arguments, std::string_view input = "",
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
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipes[0][0]);
  close(pipes[1][1]);
  close(pipes[2][1]);
  if (failed != 0) throw std::system_error(failed, std::generic_category(), arguments[0]);

  signal(SIGPIPE, SIG_IGN);  // a program that does not read all its input
  fcntl(pipes[0][1], F_SETFL, O_NONBLOCK);
  CommandResult result;
  const std::array<std::string*, 2> sinks{&result.output, &result.error};
  std::array<pollfd, 3> polled{
      {{pipes[0][1], POLLOUT, 0}, {pipes[1][0], POLLIN, 0}, {pipes[2][0], POLLIN, 0}}};
  const auto finish = [](pollfd& entry) {
    close(entry.fd);
    entry.fd = -1;
  };
  if (input.empty()) finish(polled[0]);
  std::vector<char> buffer(std::size_t{1} << 16);
  while (polled[1].fd >= 0 || polled[2].fd >= 0) {
    if (poll(polled.data(), polled.size(), -1) < 0) continue;
    if (polled[0].revents != 0) {
      const ssize_t written = write(polled[0].fd, input.data(), input.size());
      if (written > 0) input.remove_prefix(static_cast<std::size_t>(written));
      if (input.empty() || (written < 0 && errno != EAGAIN)) finish(polled[0]);
    }
    for (std::size_t i = 1; i < polled.size(); ++i) {
      if (polled[i].revents == 0) continue;
      const ssize_t got = read(polled[i].fd, buffer.data(), buffer.size());
      if (got <= 0) {
        finish(polled[i]);
      } else {
        sinks[i - 1]->append(buffer.data(), static_cast<std::size_t>(got));
      }
    }
  }
  if (polled[0].fd >= 0) finish(polled[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

#ifdef TALLY_COMMAND
/// `tally` with these arguments.
inline CommandResult run_tally(std::vector<std::string> arguments, std::string_view input = "",
                               const std::string& output_path = "") {
  arguments.insert(arguments.begin(), TALLY_COMMAND);
  return run_program(std::move(arguments), input, output_path);
}

/// A shell's pipeline; "$TALLY" is the command.
inline CommandResult run_shell(const std::string& script, std::string_view input = "") {
  return run_program({"sh", "-c", "TALLY='" TALLY_COMMAND "'\n" + script}, input);
}
#endif

}  // namespace tally::test
