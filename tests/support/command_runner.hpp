#pragma once

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "spawned_process.hpp"

namespace tally::test {

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
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

/// Runs a program and feeds and drains its pipes at the same time, so that none of them can block it.
/// `output_path` replaces the pipe of standard output.
inline CommandResult run_program(std::vector<std::string> arguments, std::string_view input = "",
                                 const std::string& output_path = "") {
  const SpawnedProcess child = spawn_with_pipes(std::move(arguments), output_path);
  fcntl(child.input, F_SETFL, O_NONBLOCK);
  CommandResult result;
  const std::array<std::string*, 2> sinks{&result.output, &result.error};
  std::array<pollfd, 3> polled{
      {{child.input, POLLOUT, 0}, {child.output, POLLIN, 0}, {child.error, POLLIN, 0}}};
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
  result.exit_code = child.wait();
  return result;
}

#ifdef TALLY_COMMAND
/// The seed of a test whose numbers depend on it, since a stream draws its own.
inline constexpr const char* one_seed = "--seed=499850701945";

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
