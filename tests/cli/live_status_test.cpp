#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "comes_true.hpp"
#include "command_runner.hpp"
#include "running_command.hpp"

// What a stream says of itself while it runs: on SIGUSR1, and with --every.

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

struct Stream {
  std::vector<std::string> arguments;
  std::string so_far;  ///< of three lines a, a, b
};

const std::vector<Stream>& streams() {
  static const std::vector<Stream> all{{{"uniq"}, "3 lines, 2 printed"},
                                       {{"uniq", "--may-repeat"}, "3 lines, 2 printed"},
                                       {{"over", "2"}, "3 lines, about 2 distinct keys, 1 reported"},
                                       {{"over", "2", "--window", "1h"}, "3 lines, 1 reported"},
                                       {{"top", "1"}, "3 lines; 1 keys, 1 of them certain"}};
  return all;
}

std::vector<std::string> with(const Stream& stream, std::vector<std::string> more) {
  std::vector<std::string> words{TALLY_COMMAND};
  words.insert(words.end(), stream.arguments.begin(), stream.arguments.end());
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(LiveStatus, ASignalPrintsTheStateWhileTheInputWaitsAndEndsNothing) {
  for (const Stream& stream : streams()) {
    RunningCommand command(with(stream, {"--quiet"}));
    command.write("a\na\nb\n");
    ASSERT_TRUE(comes_true([&] { return command.has_read_all(); }));
    // The first signal may come before the three lines are counted; it does not end the command, which has begun to read.
    std::string line;
    EXPECT_TRUE(comes_true([&] {
      command.send(SIGUSR1);
      line = command.read_error_line();
      return line.find("so far: 3 lines") != std::string::npos;
    }));
    EXPECT_THAT(line, HasSubstr("so far: " + stream.so_far)) << stream.arguments[0];
    command.write("b\n");
    command.close_input();
    EXPECT_EQ(command.wait().exit_code, 0) << stream.arguments[0];
  }
}

TEST(LiveStatus, ASignalPrintsTheStateOfAQuery) {
  const TemporaryDirectory directory;
  const std::string filter = directory / "a.tally";
  ASSERT_EQ(run_tally({"build", "-q", "-n", "10", "-o", filter}, "a\n").exit_code, 0);
  RunningCommand command({TALLY_COMMAND, "query", filter});
  command.write("a\nb\n");
  EXPECT_EQ(command.read_line(), "a\n");
  command.send(SIGUSR1);
  EXPECT_EQ(command.read_error_line(), "tally query: so far: 2 keys, 1 of them found\n");
}

TEST(LiveStatus, ASignalPrintsTheStateOfKmers) {
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{}, {"--counts"}, {"--counts", "-k", "40"}}) {
    std::vector<std::string> words{TALLY_COMMAND, "kmers", "-s", "10", "-q"};
    if (more.size() < 2) words.insert(words.end(), {"-k", "3"});
    words.insert(words.end(), more.begin(), more.end());
    RunningCommand command(words);
    command.write(">s\nAAAAAA\n>not whole yet\n");
    ASSERT_TRUE(comes_true([&] { return command.has_read_all(); }));
    std::string line;
    EXPECT_TRUE(comes_true([&] {
      command.send(SIGUSR1);
      line = command.read_error_line();
      return line.find("so far: ") != std::string::npos && line.find(" k-mers, ") != std::string::npos;
    })) << line;
    command.close_input();
    EXPECT_LE(command.wait().exit_code, 1);
  }
}

TEST(LiveStatus, AfterEachIntervalTheSummaryIsPrintedAsALineOfJson) {
  for (const Stream& stream : streams()) {
    RunningCommand command(with(stream, {"--quiet", "--every", "50ms"}));
    command.write("a\na\nb\n");
    Json so_far;
    EXPECT_TRUE(comes_true([&] {
      so_far = Json::parse(command.read_error_line()).at("so_far");
      return so_far.at("num_lines") == 3;
    })) << stream.arguments[0];
    EXPECT_FALSE(so_far.at("interrupted"));
    EXPECT_THAT(so_far.at("time").get<std::string>(), ::testing::MatchesRegex("20..-..-..T..:..:.*Z"));
    command.close_input();
    EXPECT_EQ(command.wait().exit_code, 0);
  }
}

TEST(LiveStatus, WithJsonItIsPrintedInTheOrderOfTheOutput) {
  for (const Stream& stream : streams()) {
    RunningCommand command(with(stream, {"--quiet", "--every", "50ms", "--json"}));
    command.write("a\na\nb\n");
    Json line;
    bool had_key = false;
    EXPECT_TRUE(comes_true([&] {
      line = Json::parse(command.read_line());
      had_key = had_key || line.contains("key");
      return line.contains("so_far") && line["so_far"]["num_lines"] == 3;
    })) << stream.arguments[0];
    EXPECT_EQ(had_key, stream.arguments[0] != "top");
    command.close_input();
    std::string last = command.read_line();
    for (std::string next = last; !next.empty(); next = command.read_line()) last = next;
    const Json summary = Json::parse(last).at("summary");
    for (const auto& [name, value] : summary.items())
      EXPECT_TRUE(line["so_far"].contains(name)) << stream.arguments[0] << " " << name;
  }
}

TEST(LiveStatus, RefusesAnIntervalThatIsNone) {
  EXPECT_THAT(run_tally({"uniq", "--every", "0"}).error, AllOf(HasSubstr("--every"), HasSubstr("too short")));
}

}  // namespace
}  // namespace tally::test
