// What ends a stream, and what does not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "running_command.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Stream {
  std::vector<std::string> arguments;
  std::string input;    ///< what is read before the signal
  std::string printed;  ///< and printed then, though it may have waited in a buffer
};

const std::vector<Stream>& streams() {
  static const std::vector<Stream> all{
      {{"uniq"}, "a\na\n", "a\n"},
      {{"over", "2"}, "a\na\n", "a\n"},
      {{"over", "2", "--window", "1h", "--memory", "64KiB"}, "a\na\n", "a\n"},
      {{"top", "1"}, "a\na\n", "2\ta\n"},
      {{"kmers", "-k", "3", "-s", "10", "-p", "1e-9"}, ">s\nAAAAAA\n>not whole yet\n", "AAA\n"}};
  return all;
}

std::vector<std::string> command_of(const Stream& stream) {
  std::vector<std::string> arguments{TALLY_COMMAND};
  arguments.insert(arguments.end(), stream.arguments.begin(), stream.arguments.end());
  return arguments;
}

/// Whether the process waits for its input, so that what it was given is read.
void wait_until_read(const RunningCommand& command) {
  for (int i = 0; i < 2000 && !command.has_read_all(); ++i) usleep(2000);
  usleep(20'000);
}

TEST(Signals, EachThatAsksToStopEndsAStreamWithWhatItFound) {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    for (const Stream& stream : streams()) {
      RunningCommand command(command_of(stream));
      command.write(stream.input);
      wait_until_read(command);
      command.send(signal_number);
      const CommandResult result = command.wait();
      EXPECT_EQ(result.exit_code, 0) << stream.arguments[0] << " " << signal_number;
      EXPECT_EQ(result.output, stream.printed) << stream.arguments[0] << " " << signal_number;
      EXPECT_THAT(result.error, HasSubstr("interrupted after"))
          << stream.arguments[0] << " " << signal_number;
    }
  }
}

TEST(Signals, WhatWasIgnoredWhenACommandStartedStaysIgnored) {
  const std::vector<std::pair<int, std::string>> ignored{{SIGINT, "INT"}, {SIGHUP, "HUP"}, {SIGTERM, "TERM"}};
  for (const auto& [signal_number, name] : ignored) {
    const std::string shell = "trap '' " + name + "; exec '" TALLY_COMMAND "' uniq --line-buffered";
    RunningCommand command({"sh", "-c", shell});
    command.write("a\n");
    EXPECT_EQ(command.read_line(), "a\n");
    command.send(signal_number);
    command.write("b\n");
    EXPECT_EQ(command.read_line(), "b\n") << name;
    command.close_input();
    const CommandResult result = command.wait();
    EXPECT_EQ(result.exit_code, 0) << name;
    EXPECT_THAT(result.error, AllOf(HasSubstr("2 lines, 2 printed"), Not(HasSubstr("interrupted")))) << name;
  }
}

TEST(Signals, ACommandThatWritesAFileLeavesItAloneWhenItsTerminalCloses) {
  TemporaryDirectory directory;
  RunningCommand command({TALLY_COMMAND, "build", "-n", "100", "-o", directory / "x"});
  command.write("a\n");
  wait_until_read(command);
  command.send(SIGHUP);
  const CommandResult result = command.wait();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("interrupted"));
  EXPECT_EQ(directory.num_files(), 0U);
}

}  // namespace
}  // namespace tally::test
