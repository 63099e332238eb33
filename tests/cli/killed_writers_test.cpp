// Writers that were killed, whenever that was: the file is the old one or the new one, and what they left beside it
// is gone after the next run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "random.hpp"
#include "running_command.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

class KilledWriters : public ::testing::Test {
 protected:
  std::vector<fs::path> left_behind() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(directory / "")) {
      if (entry.path().filename().string().starts_with(".tally-")) found.push_back(entry.path());
    }
    return found;
  }
  static unsigned mode_of(const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    return status.st_mode & 07777U;
  }
  /// A build that is killed by the limit on the size of files, in the middle of writing.
  CommandResult build_and_be_killed(const std::string& path) {
    return run_shell("ulimit -c 0; ulimit -f 64; $TALLY build --force -q -n 1M -o " + path, "1\n");
  }
  /// A command that is killed after a random time, up to twice that of a whole run.
  void kill_in_the_middle(const std::vector<std::string>& line, std::chrono::microseconds whole_run) {
    RunningCommand command(line);
    command.close_input();
    usleep(static_cast<useconds_t>(random.below(static_cast<std::uint64_t>(2 * whole_run.count()))));
    command.send(SIGKILL);
    command.wait();
  }
  void expect_no_kill_to_matter(int num_kills);

  TemporaryDirectory directory;
  Random random{1};
};

TEST_F(KilledWriters, WhatOneLeftIsRemovedByTheNextRun) {
  const std::string path = directory / "f";
  EXPECT_NE(build_and_be_killed(path).exit_code, 0);
  EXPECT_EQ(left_behind().size(), 1U);
  EXPECT_NE(build_and_be_killed(path).exit_code, 0);
  EXPECT_EQ(left_behind().size(), 1U) << "the second one removed what the first one had left";
  // Another command, and another file, in the same directory.
  EXPECT_EQ(run_tally({"over", "1", "-q", "--state", directory / "s"}, "1\n").exit_code, 0);
  EXPECT_EQ(left_behind().size(), 0U);
  EXPECT_EQ(run_tally({"build", "-q", "-n", "10", "-o", path}, "1\n").exit_code, 0);
  EXPECT_EQ(directory.num_files(), 2U);
}

TEST_F(KilledWriters, WhatIsWrittenInPlaceOfAFileIsNobodyElsesBusiness) {
  const std::string path = directory / "f";
  for (const unsigned mode : {0600U, 0640U, 0644U, 0666U}) {
    fs::remove(path);
    ASSERT_EQ(run_tally({"build", "-q", "-n", "10", "-o", path}, "1\n").exit_code, 0);
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_NE(build_and_be_killed(path).exit_code, 0);
    ASSERT_EQ(left_behind().size(), 1U);
    EXPECT_EQ(mode_of(left_behind()[0]), 0600U) << "in place of " << mode;
    EXPECT_EQ(mode_of(path), mode);
    EXPECT_EQ(run_tally({"add", "-q", path}, "2\n").exit_code, 0);
    EXPECT_EQ(mode_of(path), mode);
  }
  EXPECT_EQ(run_shell("umask 027; $TALLY build -q -n 10 -o " + (directory / "g"), "1\n").exit_code, 0);
  EXPECT_EQ(mode_of(directory / "g"), 0640U);
}

void KilledWriters::expect_no_kill_to_matter(int num_kills) {
  const std::string path = directory / "f";
  ASSERT_EQ(run_tally({"build", "-q", "-n", "300K", "-o", path}, "0\n").exit_code, 0);
  const std::string state = directory / "s";
  std::string keys;
  for (int i = 0; i < 20'000; ++i) keys += std::to_string(i) + "\n";
  const std::string input = directory.write("keys", keys);
  const std::vector<std::vector<std::string>> lines{
      {TALLY_COMMAND, "add", "-q", path, input},
      {TALLY_COMMAND, "merge", "-q", "--force", "-o", path, path, path},
      {TALLY_COMMAND, "build", "-q", "--force", "-n", "300K", "-o", path, directory.write("one", "0\n")},
      {TALLY_COMMAND, "top", "-q", "--memory", "1MiB", "--state", state, input}};
  std::size_t num_left = 0;
  for (std::size_t kind = 0; kind < lines.size(); ++kind) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(run_program(lines[kind]).exit_code, 0);
    const auto whole_run =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
    for (int i = 0; i < num_kills / static_cast<int>(lines.size()); ++i) {
      kill_in_the_middle(lines[kind], whole_run);
      num_left += left_behind().size();
      ASSERT_LE(left_behind().size(), 1U);
      ASSERT_EQ(run_tally({"query", "-c", path}, "0\n").output, "1\n");
    }
    const CommandResult last = run_program(lines[kind]);
    ASSERT_EQ(last.exit_code, 0) << last.error;
    ASSERT_EQ(left_behind().size(), 0U);
    ASSERT_EQ(directory.num_files(), kind + 1 < lines.size() ? 3U : 4U);
  }
  RecordProperty("num_kills", num_kills);
  RecordProperty("num_files_left_behind", static_cast<int>(num_left));
}

TEST_F(KilledWriters, NoMomentToBeKilledMatters) { expect_no_kill_to_matter(40); }

TEST_F(KilledWriters, SlowNoMomentToBeKilledMattersInManyRuns) { expect_no_kill_to_matter(600); }

}  // namespace
}  // namespace tally::test
