#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "number_after.hpp"
#include "running_command.hpp"

namespace tally::test {

inline const std::string digest_path = "/squid-internal-periodic/store_digest";

/// `tally squid serve` of a file, on a port that is free.
class ServedDigest {
 public:
  /// `before` is done by the shell that starts it; `flags` are added as the shell reads them.
  explicit ServedDigest(const std::string& path, const std::string& before = ":",
                        const std::string& flags = "")
      : command_({"sh", "-c", before + R"(; exec "$0" squid serve "$1" --port 0 --log )" + flags,
                  TALLY_COMMAND, path}),
        first_remark_(command_.read_error_line()),
        port_(static_cast<std::uint16_t>(number_after(first_remark_, "http://127.0.0.1:"))) {}

  RunningCommand& command() { return command_; }
  std::uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  RunningCommand command_;
  std::string first_remark_;
  std::uint16_t port_;
};

/// "http://www.example.org/FIRST" and so on, a line each.
inline std::string numbered_urls(int first, int last) {
  std::string lines;
  for (int i = first; i <= last; ++i) lines += "http://www.example.org/" + std::to_string(i) + "\n";
  return lines;
}

/// A test with a directory of its own for digests.
class SquidCommands : public ::testing::Test {
 protected:
  std::string build(const std::string& name, const std::string& urls, std::vector<std::string> flags = {}) {
    std::string path = directory / name;
    std::vector<std::string> arguments{"squid", "build", "-q", "--force", "-o", path};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const CommandResult result = run_tally(arguments, urls);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return path;
  }

  TemporaryDirectory directory;
};

}  // namespace tally::test
