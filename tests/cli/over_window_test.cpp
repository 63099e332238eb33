#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "key_report.hpp"
#include "key_streams.hpp"
#include "random.hpp"
#include "running_command.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct Line {
  std::int64_t time = 0;
  std::string key;
  std::uint64_t weight = 1;
};

std::string text_of(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) {
    text += std::to_string(line.time) + '\t' + line.key + '\t' + std::to_string(line.weight) + '\n';
  }
  return text;
}

/// Times go on at random, now and then far; a few keys come in bursts.
std::vector<Line> bursts(std::size_t length, std::uint64_t seed) {
  Random random(seed);
  std::vector<Line> lines;
  std::int64_t time = 1'700'000'000;
  std::uint64_t burst = 0;
  for (std::size_t i = 0; i < length; ++i) {
    time += static_cast<std::int64_t>(random.below(3));
    if (random.below(700) == 0) time += 100;
    if (random.below(150) == 0) burst = random.below(20);
    const std::uint64_t key = random.below(3) == 0 ? burst : random.below(400);
    lines.push_back({time, 'k' + std::to_string(key), random.below(50)});
  }
  return lines;
}

std::vector<std::string> over(const std::string& threshold, std::vector<std::string> flags,
                              const std::string& input) {
  flags.insert(flags.begin(), {"over", threshold, "-q", "-f", "2", one_seed});
  const CommandResult result = run_tally(flags, input);
  EXPECT_LE(result.exit_code, 1) << result.error;
  return split_keys(result.output);
}

/// What the command promises, counted exactly: the slots of the last window and one more. The lines that
/// report.
std::vector<std::size_t> reporting_lines(const std::vector<Line>& lines, std::uint64_t threshold,
                                         std::int64_t window, std::int64_t num_slots, bool sum) {
  const std::int64_t slot_length = window / num_slots;
  std::map<std::string, std::map<std::int64_t, std::uint64_t>> sums;
  std::map<std::string, std::int64_t> last_report;
  std::vector<std::size_t> reports;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const std::int64_t slot = line.time / slot_length;
    auto& own = sums[line.key];
    own[slot] += sum ? line.weight : 1;
    std::uint64_t total = 0;
    for (auto it = own.lower_bound(slot - num_slots); it != own.end(); ++it) total += it->second;
    const auto last = last_report.find(line.key);
    if (total < threshold || (sum && line.weight == 0)) continue;
    if (last != last_report.end() && last->second >= slot - num_slots) continue;
    last_report[line.key] = slot;
    reports.push_back(i);
  }
  return reports;
}

std::vector<std::string> over_slots(const std::vector<Line>& lines, std::uint64_t threshold,
                                    std::int64_t window, std::int64_t num_slots, bool sum) {
  std::vector<std::string> keys;
  for (const std::size_t i : reporting_lines(lines, threshold, window, num_slots, sum))
    keys.push_back(lines[i].key);
  return keys;
}

TEST(OverWindow, ReportsWhatTheSlotsHoldCountedExactly) {
  const std::vector<Line> lines = bursts(20'000, 1);
  std::size_t num_reports = 0;
  for (const std::int64_t window : {12, 60, 600}) {
    for (const std::int64_t num_slots : {1, 4, 12}) {
      for (const std::uint64_t threshold : {3, 20}) {
        const std::vector<std::string> flags{
            "--time", "1", "--window", std::to_string(window), "--slots", std::to_string(num_slots)};
        const auto wanted = over_slots(lines, threshold, window, num_slots, false);
        EXPECT_EQ(over(std::to_string(threshold), flags, text_of(lines)), wanted)
            << window << " " << num_slots << " " << threshold;
        num_reports += wanted.size();
      }
    }
  }
  EXPECT_GT(num_reports, 500u);
}

TEST(OverWindow, NoKeyThatReachesTheThresholdInAnyWindowIsMissedAndNoneIsReportedForMoreThanASlotMore) {
  const std::vector<Line> lines = bursts(20'000, 2);
  constexpr std::int64_t window = 60;
  constexpr std::uint64_t threshold = 8;
  for (const std::int64_t num_slots : {1, 2, 6}) {
    const std::int64_t slot_length = window / num_slots;
    const std::vector<std::string> flags{
        "--time", "1", "--window", std::to_string(window), "--slots", std::to_string(num_slots)};
    const std::vector<std::size_t> reporting = reporting_lines(lines, threshold, window, num_slots, false);
    ASSERT_EQ(over(std::to_string(threshold), flags, text_of(lines)),
              over_slots(lines, threshold, window, num_slots, false));
    std::map<std::string, std::vector<std::int64_t>> times;
    std::map<std::string, std::int64_t> last_report;
    const auto count_since = [&](const std::string& key, std::int64_t after) {
      const auto& own = times[key];
      return static_cast<std::uint64_t>(own.end() - std::upper_bound(own.begin(), own.end(), after));
    };
    std::size_t next = 0;
    std::size_t num_longer = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Line& line = lines[i];
      times[line.key].push_back(line.time);
      const bool is_over = count_since(line.key, line.time - window) >= threshold;
      const auto last = last_report.find(line.key);
      if (next < reporting.size() && reporting[next] == i) {
        ++next;
        ASSERT_GE(count_since(line.key, line.time - window - slot_length), threshold);
        ASSERT_TRUE(last == last_report.end() || line.time - last->second > window);  // not twice in a window
        last_report[line.key] = line.time;
        num_longer += !is_over;
      } else if (is_over) {
        ASSERT_NE(last, last_report.end()) << line.key;
        ASSERT_LT(line.time - last->second, window + slot_length) << line.key;
      }
    }
    EXPECT_GT(reporting.size(), 50u);
    EXPECT_GT(num_longer, 0u);
  }
}

TEST(OverWindow, WithHardlyAnyMemoryNothingIsMissedStill) {
  const std::vector<Line> lines = bursts(20'000, 3);
  const std::vector<std::string> reports =
      over("20", {"--time", "1", "--window", "60", "--slots", "2", "--memory", "12KiB"}, text_of(lines));
  const std::set<std::string> reported(reports.begin(), reports.end());
  for (const std::string& key : over_slots(lines, 20, 60, 2, false))
    EXPECT_TRUE(reported.contains(key)) << key;
}

TEST(OverWindow, AddsUpWeightsInAWindow) {
  const std::vector<Line> lines = bursts(20'000, 4);
  EXPECT_EQ(over("300", {"--time", "1", "--window", "60", "--sum", "3"}, text_of(lines)),
            over_slots(lines, 300, 60, 4, true));
}

TEST(OverWindow, LateLinesCountNowOrAreLeftOutAndSaidToBe) {
  const std::string input = "100\ta\n95\ta\n61\ta\n60\tb\n59\tb\n100\tb\n";
  const KeyReport result = run_for_keys({"over", "3", "--time", "1", "-f", "2", "--window", "40"}, input);
  EXPECT_EQ(result.keys, std::vector<std::string>{"a"});
  EXPECT_EQ(result.summary["num_late_lines"], 4);
  EXPECT_EQ(result.summary["num_lines_left_out"], 2);
  EXPECT_EQ(result.summary["num_lines"], 4);
  EXPECT_THAT(result.error, HasSubstr("2 lines were late by more than the window"));
}

TEST(OverWindow, ByArrivalAKeyIsReportedAgainOnceTheWindowIsOver) {
  RunningCommand command(
      {TALLY_COMMAND, "over", "2", "-q", "--line-buffered", "--window", "400ms", "--slots", "2"});
  command.write("a\na\na\n");
  EXPECT_EQ(command.read_line(), "a\n");
  usleep(900'000);
  command.write("a\nb\nb\n");  // one a in this window
  EXPECT_EQ(command.read_line(), "b\n");
  command.write("a\na\n");  // two at once, however slow the machine
  EXPECT_EQ(command.read_line(), "a\n");
  command.close_input();
  EXPECT_THAT(command.wait().output, IsEmpty());
}

TEST(OverSum, ReportsAKeyWhenItsSumGetsThere) {
  const std::vector<Line> lines = bursts(30'000, 5);
  for (const std::uint64_t threshold : {1, 100, 2000}) {
    std::map<std::string, std::uint64_t> sums;
    std::set<std::string> reported;
    std::vector<std::string> wanted;
    for (const Line& line : lines) {
      sums[line.key] += line.weight;
      if (sums[line.key] >= threshold && reported.insert(line.key).second) wanted.push_back(line.key);
    }
    EXPECT_EQ(over(std::to_string(threshold), {"--sum", "3"}, text_of(lines)), wanted) << threshold;
    // In 4 KiB keys are reported too early or again, and none is missed.
    const auto reports = over(std::to_string(threshold), {"--sum", "3", "--memory", "4KiB"}, text_of(lines));
    const std::set<std::string> in_little(reports.begin(), reports.end());
    for (const std::string& key : wanted) EXPECT_TRUE(in_little.contains(key)) << key;
  }
}

TEST(OverSum, PrintsSumsAndTakesLargeOnes) {
  const std::string input = "a\t6000000000\nb\t1\na\t6G\na\t-\na\t6000000000\n";
  const CommandResult result = run_tally({"over", "10G", "-f", "1", "--sum", "2", "-c", "--skip-bad"}, input);
  EXPECT_EQ(result.output, "12000000000\ta\n");
  EXPECT_THAT(result.error, AllOf(HasSubstr("1 lines skipped"), HasSubstr("with a probability of at most")));
  EXPECT_EQ(run_tally({"over", "18446744073709551615", "-f", "1", "--sum", "2"}, "a\t18446744073709551615\n")
                .output,
            "a\n");
  const KeyReport json = run_for_keys({"over", "5", "-f", "1", "--sum", "2"}, "a\t7\nb\t4\n");
  EXPECT_EQ(json.keys, std::vector<std::string>{"a"});
  EXPECT_EQ(json.summary["total"], 11);
  EXPECT_EQ(json.summary["num_lines"], 2);
  EXPECT_EQ(run_tally({"over", "5", "-f", "1", "--sum", "2"}, "a\t4\n").exit_code, 1);
}

TEST(OverSum, AFieldThatIsNoNumberIsRefusedWithItsLine) {
  const CommandResult result = run_tally({"over", "5", "-f", "1", "--sum", "2"}, "a\t1\nb\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, StartsWith("tally over: line 2: 'b' in the --sum field is not a whole number"));
}

TEST(OverSum, TakesNoMoreMemoryThanItIsGiven) {
  for (const char* memory : {"20KiB", "1MiB", "16MiB"}) {
    const KeyReport result = run_for_keys({"over", "2", one_seed, "--window", "1h", "--memory", memory},
                                          zipf_lines(50'000, 20'000, 0.5, 6));
    EXPECT_LE(result.summary["memory_bytes"].get<std::uint64_t>(), std::string(memory) == "20KiB" ? 20'480U
                                                                   : std::string(memory) == "1MiB"
                                                                       ? 1U << 20
                                                                       : 16U << 20);
  }
}

TEST(OverSum, RefusesFlagsOfTheOtherWay) {
  const std::vector<std::vector<std::string>> table{{"--sum", "2", "--keys", "5"},
                                                    {"--window", "1s", "-p", "1%"},
                                                    {"--window", "1s", "--update", "plain"},
                                                    {"--sum", "2", "--exact"},
                                                    {"--time", "1"},
                                                    {"--window", "1s", "--slots", "0"},
                                                    {"--window", "0"},
                                                    {"--window", "1x"},
                                                    {"--sum", "0"},
                                                    {"--window", "1h", "--memory", "16KiB"}};
  for (std::vector<std::string> flags : table) {
    flags.insert(flags.begin(), {"over", "5"});
    const CommandResult result = run_tally(flags, "a\t1\n");
    EXPECT_EQ(result.exit_code, 2) << flags[2] << " " << flags[3];
    EXPECT_THAT(result.output, IsEmpty());
    EXPECT_THAT(result.error, StartsWith("tally over: "));
  }
}

}  // namespace
}  // namespace tally::test
