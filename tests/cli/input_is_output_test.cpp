#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "command_runner.hpp"

// A file that is written or replaced while it is read is lost: refused, as cat refuses it.

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class InputIsOutput : public ::testing::Test {
 protected:
  InputIsOutput() : file_(directory_.write("k.txt", text_)) {
    std::filesystem::create_symlink("k.txt", directory_ / "symlink");
    std::filesystem::create_hard_link(file_, directory_ / "hardlink");
    std::filesystem::create_directory(directory_ / "sub");
  }

  void expect_refused(const CommandResult& result, const std::string& what) const {
    EXPECT_EQ(result.exit_code, 2) << what;
    EXPECT_THAT(result.error, HasSubstr("input file is output file")) << what;
    EXPECT_EQ(result.output, "") << what;
    EXPECT_EQ(read_file(file_), text_) << what;
  }

  const std::string text_ = ">s\nACGTACGTTTACG\nACGT\n";  // lines, and a sequence
  TemporaryDirectory directory_;
  std::string file_;
};

TEST_F(InputIsOutput, IsRefusedByEveryCommandWithAnOutputWhateverTheFileIsCalled) {
  const std::vector<Words> commands{{"build", "-n", "9", "--force", "-o"},
                                    {"build", "-n", "9", "--force", "--no-decompress", "-o"},
                                    {"squid", "build", "--force", "-o"},
                                    {"kmers", "-k", "3", "-s", "99", "--force", "-o"},
                                    {"over", "1", "--state"},
                                    {"over", "1", "--window", "1m", "--state"},
                                    {"top", "3", "--state"},
                                    {"top", "3", "--force", "--save"},
                                    {"add"},
                                    {"remove"},
                                    {"diff", "--force", "-o"}};
  const Words names{file_, directory_ / "symlink", directory_ / "hardlink", directory_ / "sub/../k.txt"};
  for (const Words& command : commands) {
    for (const std::string& name : names) {
      Words words = command;
      words.insert(words.end(), {name, file_});
      expect_refused(run_tally(words), command[0] + ' ' + name);
      if (command[0] == "diff") continue;  // reads no standard input here
      words.back() = "-";
      std::string line = "\"$TALLY\"";
      for (const std::string& word : words) line += " '" + word + "'";
      expect_refused(run_shell(line + " < " + file_), command[0] + " of standard input " + name);
      words.pop_back();
      line.resize(line.size() - 4);
      if (command[0] != "add" && command[0] != "remove")
        expect_refused(run_shell(line + " < " + file_), command[0] + " without files " + name);
    }
  }
}

TEST_F(InputIsOutput, IsRefusedWhereStandardOutputGoesToAnInput) {
  ASSERT_EQ(
      run_tally({"build", "-q", "--kind", "counting-bloom", "-n", "9", "-o", directory_ / "filter"}, "ACGT\n")
          .exit_code,
      0);
  const Words commands{"uniq",
                       "over 1",
                       "over 1 -t 2",
                       "over 1 --window 1m",
                       "top 3",
                       "query filter",
                       "count filter",
                       "kmers -k 3 -L 1",
                       "build -n 9 -o -",
                       "squid build -o -",
                       "kmers -k 3 -s 9 -o -"};
  const Words redirections{" k.txt >> k.txt", " < k.txt >> k.txt", " /dev/null symlink 1<> hardlink",
                           " - < symlink >> k.txt"};
  for (const std::string& command : commands) {
    for (const std::string& rest : redirections) {
      expect_refused(run_shell("cd " + (directory_ / ".") + " && \"$TALLY\" " + command + rest),
                     command + rest);
    }
  }
}

TEST_F(InputIsOutput, OtherFilesAndWhatIsNoFileAreNotRefused) {
  const auto run = [&](const std::string& line) {
    const CommandResult result = run_shell("cd " + (directory_ / ".") + " && \"$TALLY\" " + line);
    EXPECT_EQ(result.error, "") << line;
    return result.exit_code;
  };
  EXPECT_EQ(run("uniq -q k.txt > copy"), 0);
  EXPECT_EQ(read_file(directory_ / "copy"), text_);
  EXPECT_EQ(run("uniq -q k.txt >> copy"), 0);
  EXPECT_EQ(run("build -q -n 9 -o new k.txt"), 0);
  EXPECT_EQ(run("build -q -n 9 -o new --force k.txt"), 0);
  EXPECT_EQ(run("uniq -q < /dev/null > /dev/null"), 1);
  EXPECT_EQ(run("uniq -q /dev/null > /dev/null"), 1);
  EXPECT_EQ(run("over 1 -q --state state k.txt > out"), 0);
  EXPECT_EQ(run("over 1 -q --state state k.txt > out"), 0);
  EXPECT_EQ(run("merge -q --force -o new new new"), 0);  // its own input, and read before it is written
  // Standard input is not read where files are given.
  EXPECT_EQ(run("uniq -q k.txt < copy >> copy"), 0);
}

TEST_F(InputIsOutput, IsRefusedForAPlotOfASample) {
  const std::string plot = directory_.write("plot.svg", text_);
  const CommandResult result = run_tally({"plan", "--from", plot, "--plot", plot, "--force", "-p", "1%"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, AllOf(HasSubstr("--plot"), HasSubstr("input file is output file")));
  EXPECT_EQ(read_file(plot), text_);
}

}  // namespace
}  // namespace tally::test
