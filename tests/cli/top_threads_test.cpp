// `tally top` with a second thread that reads and hashes prints what it prints with one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "key_streams.hpp"
#include "running_command.hpp"

namespace tally::test {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;

CommandResult top_in(const char* num_threads, const Arguments& more, const std::string& input = "") {
  Arguments arguments{"top", one_seed, "--threads", num_threads};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_tally(arguments, input);
}

std::string without_times(const std::string& text) {
  return std::regex_replace(text, std::regex("\"seconds\":[0-9.e-]+|, [0-9.]+ s;"), "");
}

void expect_same(const CommandResult& one, const CommandResult& two, const std::string& name) {
  EXPECT_TRUE(without_times(two.output) == without_times(one.output)) << name;
  EXPECT_EQ(without_times(two.error), without_times(one.error)) << name;
  EXPECT_EQ(two.exit_code, one.exit_code) << name;
}

TEST(TopThreads, TwoPrintWhatOneDoesAndLeaveTheSameFiles) {
  const TemporaryDirectory directory;
  const std::string text = zipf_lines(300'000, 100'000, 0.7, 3) + "1\t2\nlast without a newline";
  const std::string file = directory.write("lines", text);
  const std::string zipped = directory.write("lines.gz", run_program({"gzip", "-c"}, text).output);
  const std::vector<Arguments> runs{{"100"},
                                    {"--share", "0.1%", "--with-error"},
                                    {"20", "--json", "--memory", "100KiB"},
                                    {"1000", "--method", "space-saving", "--memory", "200KiB"},
                                    {"10", "--exact"},
                                    {"10", "-d", "1", "-f", "2", "--skip-bad"},
                                    {"10", "-z"},
                                    {"10", "--sum", "1", "--skip-bad"},
                                    {"10", "--key-type", "u64", "--skip-bad"}};
  for (const Arguments& flags : runs) {
    const std::string name = testing::PrintToString(flags);
    Arguments of_files = flags;
    of_files.insert(of_files.end(), {file, zipped, file});
    expect_same(top_in("1", of_files), top_in("2", of_files), name);
    expect_same(top_in("1", flags, text), top_in("2", flags, text), name + " from a pipe");
    if (name.find("exact") != std::string::npos) continue;
    for (const char* num_threads : {"1", "2"}) {
      Arguments with_state = of_files;
      with_state.insert(with_state.end(), {"--state", directory / ("state"s + num_threads)});
      EXPECT_EQ(top_in(num_threads, with_state).exit_code, top_in(num_threads, of_files).exit_code);
    }
    EXPECT_TRUE(read_file(directory / "state2") == read_file(directory / "state1")) << name;
    std::filesystem::remove(directory / "state1");
    std::filesystem::remove(directory / "state2");
  }
}

TEST(TopThreads, AnErrorNamesTheLine) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "a," + std::to_string(i % 10) + '\n';
  const std::string input = text + "no comma\n" + text;
  const CommandResult one = top_in("1", {"--format", "csv", "-f", "2"}, input);
  const CommandResult two = top_in("2", {"--format", "csv", "-f", "2"}, input);
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.error, HasSubstr("line 100001: "));
  expect_same(one, two, "");
}

TEST(TopThreads, AnInterruptOrARequestIsAnsweredWithWhatThePipeHasBrought) {
  RunningCommand command({TALLY_COMMAND, "top", "--json", "-t", "2"});
  for (int i = 1; i <= 3; ++i) {
    command.write("a\na\n");
    while (!command.has_read_all()) usleep(1000);
    usleep(200'000);
    command.send(SIGUSR1);
    EXPECT_THAT(command.read_error_line(), HasSubstr(": " + std::to_string(2 * i) + " lines"));
  }
  EXPECT_EQ(command.num_threads(), 2U);
  command.send(SIGINT);
  const std::vector<std::string> lines = split_keys(command.wait().output);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(nlohmann::json::parse(lines[0])["count"], 6);
  EXPECT_EQ(nlohmann::json::parse(lines[1])["summary"]["interrupted"], true);
}

TEST(TopThreads, ThereAre1To64) {
  for (const char* number : {"0", "65", "x"}) {
    const CommandResult result = top_in(number, {}, "a\n");
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.error, HasSubstr("--threads"));
  }
}

}  // namespace
}  // namespace tally::test
