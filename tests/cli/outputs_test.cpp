// An output that cannot be written is found before anything is read: the input of these commands never ends.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "running_command.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Arguments = std::vector<std::string>;

/// Every command that reads a stream and writes a file; the path comes last.
const std::vector<Arguments>& writers() {
  static const std::vector<Arguments> all{{"build", "-n", "100", "-o"},
                                          {"kmers", "-k", "3", "-s", "10", "-o"},
                                          {"squid", "build", "--capacity", "100", "-o"},
                                          {"plan", "-p", "1%", "--from", "-", "--plot"},
                                          {"over", "2", "--state"},
                                          {"over", "2", "--window", "1h", "--memory", "64KiB", "--state"},
                                          {"top", "--memory", "64KiB", "--state"},
                                          {"top", "--memory", "64KiB", "--save"}};
  return all;
}

std::string lock_of(const std::filesystem::path& path) {
  return path.parent_path() / ("." + path.filename().string() + ".tally-lock");
}

void expect_refused_at_once(Arguments arguments, const std::string& path) {
  arguments.push_back(path);
  arguments.insert(arguments.begin(), TALLY_COMMAND);
  RunningCommand command(arguments);
  const CommandResult result = command.wait();  // kills it after 20 s
  EXPECT_EQ(result.exit_code, 2) << arguments[1] << " " << path << result.error;
  EXPECT_EQ(result.output, "") << arguments[1] << " " << path;
  EXPECT_THAT(result.error, AllOf(StartsWith("tally " + arguments[1]), HasSubstr(path))) << arguments[1];
}

TEST(Outputs, APathThatCannotBeWrittenIsFoundBeforeTheInputIsRead) {
  TemporaryDirectory directory;
  const std::string file = directory.write("file", "x");
  std::filesystem::create_directory_symlink(directory / "nowhere/at/all", directory / "dangling");
  for (const Arguments& writer : writers()) {
    for (const std::string& path : {directory / "none/x.svg", file + "/x.svg", std::string("/proc/x.svg"),
                                    directory / "dangling/x.svg", directory / std::string(300, 'x')}) {
      expect_refused_at_once(writer, path);
    }
    if (writer[0] != "plan") expect_refused_at_once(writer, directory / ".");
  }
  EXPECT_EQ(read_file(file), "x");
  EXPECT_EQ(directory.num_files(), 2U);
}

TEST(Outputs, WhatIsTriedLeavesNothingAndChangesNothing) {
  TemporaryDirectory directory;
  const std::string old = directory.write("old", "x");
  for (const std::string& path : {old, directory / "new"}) {
    RunningCommand command({TALLY_COMMAND, "build", "--force", "-n", "100", "-o", path});
    command.write("a\n");
    for (int i = 0; i < 2000 && !command.has_read_all(); ++i) usleep(2000);
    EXPECT_EQ(directory.num_files(), 2U);  // the other one says that a command holds the path
    EXPECT_TRUE(std::filesystem::remove(lock_of(path)));
    EXPECT_EQ(read_file(old), "x");
  }
}

TEST(Outputs, AStandardOutputThatIsClosedIsFoundBeforeTheInputIsRead) {
  for (const std::string command : {"uniq", "over 2", "top", "kmers -k 3 -L 1", "build -n 100 -o -"}) {
    for (const std::string closed : {">&-", "1</dev/null"}) {
      RunningCommand running({"sh", "-c", "exec '" TALLY_COMMAND "' " + command + " " + closed});
      const CommandResult result = running.wait();
      EXPECT_EQ(result.exit_code, 2) << command << closed;
      EXPECT_THAT(result.error, HasSubstr("standard output")) << command << closed;
    }
  }
}

TEST(Outputs, AFilterGoesToAStandardOutputThatIsAFile) {
  TemporaryDirectory directory;
  const auto shell = [&](const std::string& script) {
    return run_shell("cd " + directory / "." + "\n" + script);
  };
  EXPECT_EQ(
      shell("echo a | \"$TALLY\" build -q -n 9 -o a && echo a | \"$TALLY\" build -q -n 9 -o - >b").exit_code,
      0);
  EXPECT_EQ(read_file(directory / "b"), read_file(directory / "a"));
  EXPECT_EQ(shell("\"$TALLY\" diff -q -o - a b >c").exit_code, 1);  // no difference, which is written too
  EXPECT_EQ(shell("printf x >d && \"$TALLY\" merge -q -o - a b >>d").exit_code, 0);
  EXPECT_GT(read_file(directory / "c").size(), 0U);
  EXPECT_EQ(read_file(directory / "d").substr(0, 9), "x\x89TALLY\r\n");
  EXPECT_EQ(directory.num_files(), 4U);
}

}  // namespace
}  // namespace tally::test
