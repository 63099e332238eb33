#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_set>
#include <vector>

#include "command_runner.hpp"
#include "key_report.hpp"
#include "key_streams.hpp"
#include "running_command.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Json = nlohmann::json;

KeyReport uniq(const std::string& input, std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"uniq", one_seed});
  return run_for_keys(std::move(flags), input);
}

std::vector<std::string> first_occurrences(const std::string& input) {
  return keys_over(split_keys(input), 1);
}

std::size_t num_different(const std::vector<std::string>& keys) {
  return std::unordered_set<std::string>(keys.begin(), keys.end()).size();
}

// A filter with the best k has half its bits set under full load, 1 - 2^-x of them at a share x of it, and errs
// with that fill to the power k = log2(1 / rate): the mean of its error over x from 0 to 1, as a share of the rate.
double mean_share_of_full_rate(double rate) {
  constexpr int num_steps = 1000;
  double sum = 0;
  for (int i = 0; i < num_steps; ++i) {
    sum += std::pow(2 * (1 - std::exp2(-(i + 0.5) / num_steps)), std::log2(1 / rate));
  }
  return sum / num_steps;
}

TEST(UniqCommand, PrintsTheFirstOccurrences) {
  const std::string input = zipf_lines(200'000, 100'000, 0.7, 11);
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"uniq"}, {"uniq", "--memory", "8MiB"}, {"uniq", "--may-repeat"}}) {
    const CommandResult result = run_tally(flags, input);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(split_keys(result.output), first_occurrences(input));
  }
}

TEST(UniqCommand, SaysWhatItPromises) {
  EXPECT_THAT(run_tally({"uniq"}, "a\na\n").error,
              AllOf(HasSubstr("2 lines, 1 printed"), HasSubstr("exact")));
  EXPECT_THAT(run_tally({"uniq", "-a", "-n", "10"}, "a\na\n").error,
              HasSubstr("dropped with probability at most"));
  EXPECT_THAT(run_tally({"uniq", "-r"}, "a\na\n").error, HasSubstr("nothing was forgotten"));
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"uniq", "-q"}, {"uniq", "-q", "-a", "-n", "10"}, {"uniq", "-q", "-r"}}) {
    EXPECT_THAT(run_tally(flags, "a\na\n").error, IsEmpty());
  }
}

TEST(UniqCommand, ExitsWithOneWithoutAnyKey) {
  EXPECT_EQ(run_tally({"uniq"}, "").exit_code, 1);
  EXPECT_EQ(run_tally({"uniq"}, "\n").exit_code, 0);
}

TEST(UniqCommand, ExactWithTooLittleMemoryStopsAndSaysWhatToDo) {
  const std::string input = zipf_lines(20'000, 10'000, 0.2, 12);
  const std::vector<std::string> wanted = first_occurrences(input);
  for (const char* memory : {"4KiB", "16KiB", "64KiB"}) {
    const CommandResult result = run_tally({"uniq", "--memory", memory}, input);
    EXPECT_EQ(result.exit_code, 2) << memory;
    const std::vector<std::string> printed = split_keys(result.output);
    ASSERT_LT(printed.size(), wanted.size());
    EXPECT_TRUE(std::equal(printed.begin(), printed.end(), wanted.begin())) << memory;
    EXPECT_THAT(result.error, AllOf(StartsWith("tally uniq: the memory is full"), HasSubstr("--memory"),
                                    HasSubstr("--may-repeat"), HasSubstr("--approximate")));
    EXPECT_THAT(result.error, HasSubstr("at " + std::to_string(printed.size()) + " distinct keys"));
  }
}

TEST(UniqCommand, InTwoThreadsPrintsWhatOneDoes) {
  const TemporaryDirectory directory;
  const std::string text = zipf_lines(200'000, 100'000, 0.7, 11);
  const std::string file = directory.write("lines", text);
  const std::string last = directory.write("last", "last without a newline");
  const std::string more = directory.write("more", zipf_lines(100'000, 100'000, 0, 13));
  const std::vector<std::vector<std::string>> runs{{},
                                                   {"--json"},
                                                   {"--memory", "256KiB"},  // full, as one part
                                                   {"--memory", "1MiB"},    // full, as two halves
                                                   {"--memory", "1MiB", "--may-repeat"},
                                                   {"--approximate", "--keys", "50K"},
                                                   {"-d", "1", "-f", "2", "--line"},
                                                   {"-d", "1", "-f", "2", "--skip-bad"},
                                                   {"-z"}};
  for (const std::vector<std::string>& flags : runs) {
    const auto run = [&](const char* num_threads) {
      std::vector<std::string> arguments{"uniq", one_seed, "--threads", num_threads};
      arguments.insert(arguments.end(), flags.begin(), flags.end());
      arguments.insert(arguments.end(), {file, last, file, more});
      return run_tally(arguments);
    };
    const CommandResult one = run("1");
    EXPECT_GT(one.output.size(), 1000u);
    for (const char* num_threads : {"2", "4"}) {
      const CommandResult several = run(num_threads);
      EXPECT_TRUE(several.output == one.output) << testing::PrintToString(flags);
      EXPECT_EQ(several.error, one.error);
      EXPECT_EQ(several.exit_code, one.exit_code);
    }
  }
  EXPECT_EQ(run_tally({"uniq", "--threads", "65", file}).exit_code, 2);
}

TEST(UniqCommand, ApproximateNeverPrintsTwiceAndDropsNoMoreThanPlanned) {
  const std::string input = zipf_lines(200'000, 50'000, 0.5, 13);
  const std::vector<std::string> wanted = first_occurrences(input);
  const auto num_keys = static_cast<double>(wanted.size());
  for (const double rate : {0.2, 0.05, 0.01, 0.001}) {
    const KeyReport result =
        uniq(input, {"-a", "-n", std::to_string(wanted.size()), "-p", std::to_string(rate)});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(num_different(result.keys), result.keys.size());
    const auto dropped = static_cast<double>(wanted.size() - result.keys.size());
    // Each key is dropped with probability `rate` at most: five standard deviations above that, 3e-7.
    EXPECT_LE(dropped, num_keys * rate + 5 * std::sqrt(num_keys * rate * (1 - rate)));
    // On both sides of the expected number, a fifth allowed for the rounding of k.
    const double expected = num_keys * rate * mean_share_of_full_rate(rate);
    EXPECT_NEAR(dropped, expected, expected / 5 + 5 * std::sqrt(expected));
    // By the bits that are set, whose share scatters: five standard deviations are below 4% of the rate.
    EXPECT_LE(result.summary["dropped_with_probability_at_most"].get<double>(), 1.04 * rate);
    EXPECT_GE(result.summary["dropped_with_probability_at_most"].get<double>(), rate / 2);
    RecordProperty("dropped_of_" + std::to_string(wanted.size()) + "_at_" + std::to_string(rate),
                   std::to_string(dropped));
  }
}

TEST(UniqCommand, ApproximatePastItsPlanSaysTheErrorThatItHas) {
  constexpr int num_keys = 5000;
  constexpr int num_late = 1000;
  std::string input;
  for (int i = 0; i < num_keys; ++i) input += std::to_string(i) + '\n';
  const KeyReport result = uniq(input, {"-a", "-n", "1000", "-p", "1%"});
  EXPECT_EQ(num_different(result.keys), result.keys.size());
  const auto num_printed = std::count_if(result.keys.begin(), result.keys.end(), [](const std::string& key) {
    return std::stoi(key) >= num_keys - num_late;
  });
  const double dropped = 1 - static_cast<double>(num_printed) / num_late;
  const double stated = result.summary["dropped_with_probability_at_most"].get<double>();
  EXPECT_GT(dropped, 0.5);
  // The error grows, so at the end it is above that of the last thousand keys: five standard deviations, 3e-7.
  EXPECT_LE(dropped, stated + 5 * std::sqrt(0.25 / num_late));
  RecordProperty("dropped", std::to_string(dropped));
  RecordProperty("stated", std::to_string(stated));
}

TEST(UniqCommand, MayRepeatPrintsEveryKeyInBoundedMemory) {
  const std::string input = zipf_lines(100'000, 30'000, 0.5, 15);
  const std::vector<std::string> wanted = first_occurrences(input);
  for (const std::uint64_t bytes : {4096U, 65536U, 1U << 20}) {
    const KeyReport result = uniq(input, {"-r", "--memory", std::to_string(bytes)});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(num_different(result.keys), wanted.size()) << bytes;
    EXPECT_EQ(result.keys.size(), result.summary["num_printed"]);
    EXPECT_LE(result.summary["memory_bytes"].get<std::uint64_t>(), bytes);
    if (bytes <= 65536) {
      EXPECT_GT(result.keys.size(), wanted.size()) << bytes;
      EXPECT_THAT(result.error, HasSubstr("were forgotten and may be repeated"));
    }
  }
}

TEST(UniqCommand, NeverTakesMoreMemoryThanItIsGiven) {
  const std::string input = zipf_lines(1000, 100, 1.0, 16);
  for (const char* way : {"--may-repeat", "--approximate", "--quiet"}) {
    for (const std::uint64_t bytes : {1U, 64U, 4095U}) {
      const KeyReport result = uniq(input, {way, "--memory", std::to_string(bytes)});
      EXPECT_EQ(result.exit_code, 2);
      EXPECT_THAT(result.error, HasSubstr("too small; must be at least 4096")) << way;
    }
    for (const std::uint64_t bytes : {4096U, 5000U, 65536U}) {
      const KeyReport result = uniq(input, {way, "--memory", std::to_string(bytes)});
      EXPECT_EQ(result.exit_code, 0);
      EXPECT_LE(result.summary["memory_bytes"].get<std::uint64_t>(), bytes) << way << bytes;
    }
  }
}

TEST(UniqCommand, RefusesFlagsThatContradict) {
  const std::vector<std::vector<std::string>> table{{"--approximate", "--may-repeat", "-n", "5"},
                                                    {"--approximate"},
                                                    {"--keys", "100"},
                                                    {"-p", "1%"},
                                                    {"--may-repeat", "--keys", "100"},
                                                    {"-a", "-n", "100", "-m", "1MiB", "-p", "1%"},
                                                    {"-a", "-n", "0"},
                                                    {"-r", "-m", "0"},
                                                    {"-m", "nan"},
                                                    {"/nonexistent"},
                                                    {"--key-file", "/nonexistent"}};
  for (std::vector<std::string> flags : table) {
    flags.insert(flags.begin(), "uniq");
    const CommandResult result = run_tally(flags, "a\n");
    EXPECT_EQ(result.exit_code, 2) << flags[1];
    EXPECT_THAT(result.output, IsEmpty()) << flags[1];
    EXPECT_THAT(result.error, StartsWith("tally uniq: ")) << flags[1];
  }
}

TEST(UniqCommand, PrintsALineOfJsonForEachKey) {
  const std::string output = run_tally({"uniq", "--json"}, "a\n\xff\na\n").output;
  std::vector<Json> lines;
  for (const std::string& line : split_keys(output)) lines.push_back(Json::parse(line));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], Json({{"key", "a"}}));
  EXPECT_EQ(lines[1], Json({{"key", "\xef\xbf\xbd"}, {"key_hex", "ff"}}));
  EXPECT_EQ(lines[2]["summary"]["num_lines"], 3);
  EXPECT_EQ(lines[2]["summary"]["num_printed"], 2);
  EXPECT_EQ(lines[2]["summary"]["interrupted"], false);
}

TEST(UniqCommand, OneSeedGivesOneOutput) {
  const std::string input = zipf_lines(50'000, 20'000, 0.5, 17);
  const auto with = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"uniq", "-a", "-n", "20K", "-p", "10%"});
    return run_tally(flags, input).output;
  };
  EXPECT_EQ(with({"--seed", "1"}), with({"--seed", "1"}));
  EXPECT_NE(with({"--seed", "1"}), with({"--seed", "2"}));
  EXPECT_NE(with({}), with({}));
  TemporaryDirectory directory;
  const std::string secret = directory.write("secret", std::string(32, 's'));
  EXPECT_EQ(with({"--key-file", secret}), with({"--key-file", secret}));
  EXPECT_NE(with({"--key-file", secret}), with({}));
  EXPECT_EQ(split_keys(run_tally({"uniq", "--key-file", secret}, input).output), first_occurrences(input));
}

TEST(UniqCommand, LineBufferedHandsAKeyOnAtOnceAndAnInterruptEndsItWithASummary) {
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{}, {"--json"}, {"-r"}, {"-a", "-n", "1000", "-p", "1e-9"}}) {
    std::vector<std::string> arguments{TALLY_COMMAND, "uniq", "--line-buffered"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    RunningCommand command(arguments);
    command.write("a\n");
    EXPECT_THAT(command.read_line(), HasSubstr("a"));
    command.write("a\nb\n");
    EXPECT_THAT(command.read_line(), HasSubstr("b"));
    command.send(SIGINT);
    const CommandResult result = command.wait();
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.error, HasSubstr("interrupted after 3 lines, 2 printed"));
  }
}

TEST(UniqCommand, AClosedPipeEndsItQuietlyAndAFullDiskDoesNot) {
  const CommandResult closed =
      run_shell("{ seq 1000000 2>/dev/null | \"$TALLY\" uniq; echo \"status $?\" >&2; } | head -n 1");
  EXPECT_EQ(closed.output, "1\n");
  EXPECT_EQ(closed.error, "status 0\n");
  const CommandResult full = run_tally({"uniq"}, "a\n", "/dev/full");
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_THAT(full.error, HasSubstr("No space left"));
}

}  // namespace
}  // namespace tally::test
