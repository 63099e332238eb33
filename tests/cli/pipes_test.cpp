// Standard output and standard error that somebody made non-blocking.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "running_command.hpp"

namespace tally::test {
namespace {

/// Runs the command with one end of a non-blocking pipe as both outputs, and reads from the other end only after
/// the pipe has been full for a while.
CommandResult run_into_a_slow_pipe(std::vector<std::string> arguments) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  arguments.insert(arguments.begin(), TALLY_COMMAND);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  SpawnedProcess child;
  EXPECT_EQ(posix_spawn(&child.id, argv[0], &actions, nullptr, argv.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  usleep(200'000);
  CommandResult result;
  std::array<char, 65536> buffer{};
  for (ssize_t got = 0; (got = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    result.output.append(buffer.data(), static_cast<std::size_t>(got));
    usleep(100);
  }
  close(ends[0]);
  result.exit_code = child.wait();
  return result;
}

TEST(Pipes, AreWaitedForWhereTheyDoNotBlock) {
  TemporaryDirectory directory;
  std::string keys;
  for (int i = 0; i < 100'000; ++i) keys += std::to_string(i) + "\n";
  const std::string input = directory.write("keys", keys);
  for (const char* command : {"uniq", "over"}) {
    std::vector<std::string> line{command, "-q"};
    if (line[0] == "over") line.push_back("1");
    line.push_back(input);
    const CommandResult result = run_into_a_slow_pipe(line);
    EXPECT_EQ(result.exit_code, 0) << result.output.substr(result.output.size() - 100);
    EXPECT_TRUE(result.output == keys) << command;
  }
  const CommandResult text = run_into_a_slow_pipe({"--generate", "markdown"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_TRUE(text.output == run_tally({"--generate", "markdown"}).output);
}

// What is printed is there while the pipe stays open, without --line-buffered.
TEST(Pipes, WhatIsPrintedIsNotHeldBackWhileTheInputPauses) {
  TemporaryDirectory directory;
  const std::string filter = directory / "filter";
  ASSERT_EQ(
      run_tally({"build", "-q", "-n", "9", "-o", filter, "--kind", "counting-bloom"}, "a\nb\n").exit_code, 0);
  const std::string url_digest = directory / "digest";
  ASSERT_EQ(run_tally({"squid", "build", "-q", "-o", url_digest}, "http://a/\n").exit_code, 0);
  struct Case {
    std::vector<std::string> arguments;
    std::string input;
    std::string line;
    int exit_code = 0;
  };
  const std::vector<Case> table{
      {{"over", "1"}, "a\n", "a\n"},
      {{"over", "1", "--json"}, "a\n", "{\"key\":\"a\",\"count\":1}\n"},
      {{"over", "5", "--sum", "1"}, "7\n", "7\n", 2},  // half a line is not a number
      {{"over", "1", "--window", "1h"}, "a\n", "a\n"},
      {{"uniq"}, "a\n", "a\n"},
      {{"query", filter}, "a\n", "a\n"},
      {{"count", filter}, "a\n", "1\ta\n"},
      {{"squid", "query", url_digest}, "http://a/\n", "http://a/\n"}};
  for (const Case& it : table) {
    std::vector<std::string> arguments = it.arguments;
    arguments.insert(arguments.begin(), TALLY_COMMAND);
    RunningCommand command(arguments);
    command.write(it.input);
    EXPECT_EQ(command.read_line(), it.line) << it.arguments[0];
    command.write("half a l");  // a line that is not whole yet holds nothing back either
    command.write("ine\n" + it.input);
    command.close_input();
    EXPECT_EQ(command.wait().exit_code, it.exit_code) << it.arguments[0];
  }
}

TEST(Pipes, WhatIsPrintedOfCompressedInputIsNotHeldBackEither) {
  const std::string member = run_program({"gzip", "-c"}, "a\n").output;
  RunningCommand command({TALLY_COMMAND, "uniq", "-q"});
  command.write(member);
  EXPECT_EQ(command.read_line(), "a\n");
  command.write(run_program({"gzip", "-c"}, "b\n").output);
  EXPECT_EQ(command.read_line(), "b\n");
  command.close_input();
  EXPECT_EQ(command.wait().exit_code, 0);
}

}  // namespace
}  // namespace tally::test
