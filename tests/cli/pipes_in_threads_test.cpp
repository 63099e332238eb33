// `over`, `uniq` and `query` in two threads on pipes: they print what one thread prints, and as soon as it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <ostream>
#include <regex>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "key_streams.hpp"
#include "running_command.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;

/// A command that prints each of the keys k0, k1, ... k9999 when it comes first.
struct Asked {
  std::string name;
  Arguments arguments;
};

void PrintTo(const Asked& asked, std::ostream* os) { *os << asked.name; }

std::string numbered_lines(int begin, int end) {
  std::string lines;
  for (int i = begin; i < end; ++i) lines += "k" + std::to_string(i) + '\n';
  return lines;
}

class PipesInThreads : public ::testing::TestWithParam<Asked> {
 protected:
  Arguments with_threads(const char* num_threads, const Arguments& more = {}) const {
    Arguments arguments = GetParam().arguments;
    for (std::string& argument : arguments) {
      if (argument == "FILTER") argument = filter();
    }
    arguments.insert(arguments.end(), {"-t", num_threads});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  RunningCommand started(const char* num_threads, const Arguments& more = {}) const {
    Arguments arguments = with_threads(num_threads, more);
    arguments.insert(arguments.begin(), TALLY_COMMAND);
    return RunningCommand(arguments);
  }
  std::string filter() const {
    const std::string path = directory_ / "filter";
    if (!std::filesystem::exists(path)) {
      EXPECT_EQ(run_tally({"build", "-q", "-n", "10K", "-o", path}, numbered_lines(0, 10'000)).exit_code, 0);
    }
    return path;
  }

  const TemporaryDirectory directory_;
};

TEST_P(PipesInThreads, AWriterThatWaitsForEachAnswerGetsIt) {
  for (const char* num_threads : {"1", "2"}) {
    RunningCommand command = started(num_threads);
    for (int i = 0; i < 200; ++i) {
      const std::string line = numbered_lines(i, i + 1);
      command.write(line);
      ASSERT_EQ(command.read_line(), line) << num_threads;
    }
    EXPECT_EQ(std::to_string(command.num_threads()), num_threads);
    command.close_input();
    EXPECT_EQ(command.wait().exit_code, 0);
  }
}

TEST_P(PipesInThreads, AllOfABurstIsAnsweredBeforeTheNextOne) {
  RunningCommand command = started("2");
  int begin = 0;
  for (const int size : {1, 2, 1023, 1024, 1025, 1, 5000, 7, 1}) {
    command.write(numbered_lines(begin, begin + size));
    for (int i = begin; i < begin + size; ++i) ASSERT_EQ(command.read_line(), numbered_lines(i, i + 1));
    begin += size;
  }
  command.write("half a l");
  EXPECT_EQ(command.read_line(200), "");
  command.write("ine\n" + numbered_lines(9999, 10'000));
  command.close_input();
  EXPECT_THAT(command.wait().output, HasSubstr(numbered_lines(9999, 10'000)));
}

TEST_P(PipesInThreads, CompressedInputIsAnsweredWhenItArrives) {
  for (const char* program : {"gzip", "zstd", "xz", "bzip2"}) {
    RunningCommand command = started("2");
    int begin = 0;
    for (const int size : {1, 3000, 1, 10}) {
      command.write(run_program({program, "-c"}, numbered_lines(begin, begin + size)).output);
      for (int i = begin; i < begin + size; ++i)
        ASSERT_EQ(command.read_line(), numbered_lines(i, i + 1)) << program;
      begin += size;
    }
    command.close_input();
    EXPECT_EQ(command.wait().exit_code, 0);
  }
}

TEST_P(PipesInThreads, FilesAndPipesTakeTurns) {
  const std::string file = directory_.write("file", numbered_lines(0, 3000));
  RunningCommand command = started("2", {file, "-", "/dev/null", directory_.write("last", "k9999\n")});
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(command.read_line(), numbered_lines(i, i + 1));
  for (const int i : {3000, 3001}) {
    command.write(numbered_lines(i, i + 1));
    ASSERT_EQ(command.read_line(), numbered_lines(i, i + 1));
  }
  EXPECT_EQ(command.num_threads(), 2U);
  command.close_input();
  EXPECT_EQ(command.wait().output, "k9999\n");
}

TEST_P(PipesInThreads, TwoPrintWhatOneDoes) {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += numbered_lines(i * i % 25'013, i * i % 25'013 + 1);
  text += std::string(300'000, 'x') + '\n' + zipf_lines(30'000, 20'000, 0.5, 1) + "k1 without a newline";
  const std::string zipped = run_program({"gzip", "-c"}, text).output;
  std::vector<Arguments> all_flags{{}, {"-z"}, {"-d", "1", "-f", "2", "--skip-bad"}};
  if (GetParam().name != "query") all_flags.push_back({"--json"});
  for (const Arguments& flags : all_flags) {
    for (const std::string& input : {text, zipped, std::string(), std::string("\n")}) {
      const CommandResult one = run_tally(with_threads("1", flags), input);
      const CommandResult two = run_tally(with_threads("2", flags), input);
      const auto without_time = [](const std::string& lines) {
        return std::regex_replace(lines, std::regex("\"seconds\":[0-9.e-]+|, [0-9.]+ s;"), "");
      };
      EXPECT_TRUE(without_time(two.output) == without_time(one.output)) << testing::PrintToString(flags);
      EXPECT_EQ(without_time(two.error), without_time(one.error));
      EXPECT_EQ(two.exit_code, one.exit_code);
    }
  }
}

TEST_P(PipesInThreads, AnErrorComesAfterTheAnswersBeforeItAndNamesTheLine) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "1,k" + std::to_string(i % 10'000) + '\n';
  const std::string input = text + "no comma\n" + text;
  const CommandResult one = run_tally(with_threads("1", {"--format", "csv", "-f", "2"}), input);
  const CommandResult two = run_tally(with_threads("2", {"--format", "csv", "-f", "2"}), input);
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.error, HasSubstr("line 50001: "));
  EXPECT_EQ(two.error, one.error);
  EXPECT_TRUE(two.output == one.output);
  EXPECT_TRUE(two.output.starts_with("k0\n") && two.output.ends_with("k9999\n"));
  const std::string zipped = run_program({"gzip", "-c"}, text).output;
  const CommandResult cut =
      run_tally(with_threads("2", {"--format", "csv", "-f", "2"}), zipped.substr(0, zipped.size() / 2));
  EXPECT_THAT(cut.error, HasSubstr("standard input: the gzip data ends early"));
  EXPECT_GT(cut.output.size(), 1000U);
}

TEST_P(PipesInThreads, AnInterruptEndsTheWaitForInput) {
  RunningCommand command = started("2");
  command.write("k1\nhalf a line");
  EXPECT_EQ(command.read_line(), "k1\n");
  command.send(SIGINT);
  const CommandResult result = command.wait(2000);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "");
}

TEST_P(PipesInThreads, WhileTheyWaitForInputNeitherUsesTheProcessor) {
  RunningCommand command = started("2");
  command.write("k1\n");
  EXPECT_EQ(command.read_line(), "k1\n");
  const double before = command.processor_seconds();
  usleep(1'000'000);
  EXPECT_LE(command.processor_seconds() - before, 0.05);
  EXPECT_EQ(command.num_threads(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Commands, PipesInThreads,
                         ::testing::Values(Asked{"over", {"over", "1", one_seed, "--keys", "30K"}},
                                           Asked{"uniq", {"uniq", one_seed}},
                                           Asked{"query", {"query", "FILTER"}}),
                         [](const auto& asked) { return asked.param.name; });

}  // namespace
}  // namespace tally::test
