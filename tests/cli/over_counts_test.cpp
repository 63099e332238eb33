#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "key_streams.hpp"
#include "random.hpp"

// `tally over N --counts-at-end`, beside exact counts.

namespace tally::test {
namespace {

using ::testing::HasSubstr;
using Lines = std::vector<std::string>;

std::string text_of_lines(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

Lines skewed_keys(std::size_t size, std::uint64_t universe) {
  Random random(7);
  Lines keys;
  for (std::size_t i = 0; i < size; ++i)
    keys.push_back("key " + std::to_string(random.below(1 + random.below(universe))));
  return keys;
}

CommandResult over_counts(const std::string& threshold, Lines flags, const std::string& input) {
  flags.insert(flags.begin(), {"over", threshold, "--counts-at-end", one_seed});
  return run_tally(std::move(flags), input);
}

TEST(OverCounts, ASmallInputIsCountedExactlyInTheOrderOfTheReports) {
  const Lines keys = skewed_keys(100'000, 20'000);
  Counts counts = count_exactly(keys);
  for (const std::uint64_t threshold : {1, 2, 7}) {
    std::string expected;
    for (const std::string& key : keys_over(keys, threshold))
      expected += std::to_string(counts[key]) + '\t' + key + '\n';
    const CommandResult result = over_counts(std::to_string(threshold), {}, text_of_lines(keys));
    EXPECT_EQ(result.output, expected);
    EXPECT_THAT(result.error, HasSubstr("all counts are exact"));
  }
}

TEST(OverCounts, AreNeverTooLowAndTooHighByAtMostTheThresholdMinusOne) {
  const Lines keys = skewed_keys(300'000, 100'000);
  const Counts exact = count_exactly(keys);
  for (const std::uint64_t threshold : {2, 5}) {
    for (const std::string update : {"plain", "conservative"}) {
      const CommandResult result =
          over_counts(std::to_string(threshold), {"--keys", "5000", "-p", "0.3", "--update", update},
                      text_of_lines(keys));
      EXPECT_THAT(result.error, HasSubstr("too high by at most " + std::to_string(threshold - 1)));
      std::map<std::string, std::uint64_t> counts;
      for (const std::string& line : split_keys(result.output)) {
        const std::size_t tab = line.find('\t');
        ASSERT_TRUE(counts.emplace(line.substr(tab + 1), std::stoull(line)).second) << line;
      }
      std::uint64_t num_too_high = 0;
      for (const auto& [key, count] : exact) {
        if (!counts.contains(key)) {
          ASSERT_LT(count, threshold);
          continue;
        }
        ASSERT_GE(counts[key], count);
        ASSERT_LE(counts[key], count + threshold - 1);
        num_too_high += counts[key] > count;
      }
      EXPECT_GT(num_too_high, 100u);
    }
  }
}

TEST(OverCounts, WithTooLittleMemoryKeysAreMarkedAsNotCounted) {
  const Lines keys = skewed_keys(60'000, 12'000);
  const Counts exact = count_exactly(keys);
  for (const std::string memory : {"4096", "64KiB"}) {
    const CommandResult result = over_counts("2", {"--json", "--memory", memory}, text_of_lines(keys));
    std::map<std::string, bool> is_counted;
    nlohmann::json summary;
    std::uint64_t num_marked = 0;
    for (const std::string& line : split_keys(result.output)) {
      const auto json = nlohmann::json::parse(line);
      if (json.contains("summary")) {
        summary = json["summary"];
        continue;
      }
      const bool counted = json.value("counted", true);
      num_marked += !counted;
      const std::string key = json["key"];
      if (counted) {
        EXPECT_FALSE(is_counted.contains(key)) << key;
        EXPECT_GE(json["count"], exact.at(key));
        EXPECT_LE(json["count"], exact.at(key) + 1);
      } else {
        EXPECT_FALSE(is_counted.contains(key) && is_counted[key]) << key;
        EXPECT_EQ(json["count"], 2);
      }
      is_counted[key] = counted;
    }
    for (const auto& [key, count] : exact) EXPECT_TRUE(count < 2 || is_counted.contains(key)) << key;
    EXPECT_GT(num_marked, 0u);
    EXPECT_EQ(summary["num_keys_not_counted"], num_marked);
    const std::uint64_t most = memory == "4096" ? 4096 : 64 << 10;
    EXPECT_LE(
        summary["memory_bytes_of_counts"].get<std::uint64_t>() + summary["memory_bytes"].get<std::uint64_t>(),
        most);
    EXPECT_THAT(result.error, HasSubstr("not counted further"));
  }
  EXPECT_EQ(over_counts("2", {"--memory", "4096", "-q"}, "a\na\na\n").output, ">=2\ta\n");
}

TEST(OverCounts, PrintsTheLineAtWhichAKeyReachedN) {
  const std::string input = "x 1\ny 2\nx 3\nx 4\ny 5\n";
  EXPECT_EQ(over_counts("2", {"-q", "-d", " ", "-f", "1", "--line"}, input).output, "3\tx 3\n2\ty 5\n");
  EXPECT_EQ(over_counts("2", {"-q", "-z"}, std::string("a\0b\0a\0", 6)).output, std::string("2\ta\0", 4));
}

TEST(OverCounts, RefusesOptionsThatContradict) {
  for (const Lines& flags : std::vector<Lines>{{"--with-count"},
                                               {"--exact"},
                                               {"--state", "x"},
                                               {"--window", "1m"},
                                               {"--sum", "1"},
                                               {"--line-buffered"},
                                               {"--threads", "2"}}) {
    const CommandResult result = over_counts("2", flags, "a\n");
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.error, HasSubstr(flags[0] + " and --counts-at-end are both given")) << flags[0];
  }
  EXPECT_EQ(over_counts("2", {"--threads", "1"}, "a\na\n").exit_code, 0);
}

}  // namespace
}  // namespace tally::test
