#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "key_report.hpp"
#include "key_streams.hpp"
#include "running_command.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Json = nlohmann::json;

CommandResult top(std::vector<std::string> flags, const std::string& input) {
  flags.insert(flags.begin(), {"top", one_seed});
  return run_tally(std::move(flags), input);
}

/// What `sort | uniq -c | sort` would have: keys by count, then by their bytes.
std::string exact_top(const Counts& counts, std::size_t num_keys) {
  std::vector<std::pair<std::string, std::uint64_t>> all(counts.begin(), counts.end());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(num_keys, all.size()); ++i)
    text += std::to_string(all[i].second) + '\t' + all[i].first + '\n';
  return text;
}

TEST(TopCommand, OfFewKeysItIsExact) {
  const std::string input = zipf_lines(50'000, 5'000, 1.0, 1);
  const Counts counts = count_exactly(split_keys(input));
  for (const std::string method : {"sketch", "space-saving"}) {
    for (const std::size_t num_keys : {1, 10, 500}) {
      const CommandResult result = top({std::to_string(num_keys), "--method", method}, input);
      EXPECT_EQ(result.exit_code, 0);
      EXPECT_EQ(result.output, exact_top(counts, num_keys)) << method;
    }
  }
  EXPECT_EQ(top({}, input).output, exact_top(counts, 10));
}

TEST(TopCommand, WithHardlyAnyMemoryNothingAboveTheBoundIsMissed) {
  const std::string input = zipf_lines(200'000, 100'000, 1.0, 2);
  for (const std::string method : {"sketch", "space-saving"}) {
    const CommandResult result =
        top({"20", "--memory", "64KiB", "--method", method, "--json", "--exact"}, input);
    const std::vector<Json> lines = json_lines(result.output);
    ASSERT_EQ(lines.size(), 21U);
    const Json& summary = lines.back()["summary"];
    EXPECT_LE(summary["memory_bytes"], 65536);
    EXPECT_GT(summary["not_kept_at_most"], 0);  // so it is no exact count that is tested here
    const Json& exact = summary["exact"];
    EXPECT_EQ(exact["num_wanted"], 20);
    EXPECT_EQ(exact["num_missed"], 0);
    EXPECT_EQ(exact["num_false"], 0);
    EXPECT_EQ(exact["num_outside_bounds"], 0);
    EXPECT_EQ(exact["num_distinct_keys"], count_exactly(split_keys(input)).size());
    EXPECT_GT(summary["num_certain"], 0);
  }
}

TEST(TopCommand, EveryKeyAboveAShareIsPrintedAndFalseOnesAreMarked) {
  // Heavy keys that come last, after many more keys than there are candidates.
  std::string input;
  for (int i = 0; i < 30'000; ++i) input += "light" + std::to_string(i) + '\n';
  for (int i = 0; i < 500; ++i) input += "heavy1\nheavy2\nheavy3\n";
  const CommandResult result =
      top({"--share", "1%", "--memory", "64KiB", "--json", "--exact", "--method", "space-saving"}, input);
  const std::vector<Json> lines = json_lines(result.output);
  ASSERT_GE(lines.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_THAT(lines[i]["key"].get<std::string>(), StartsWith("heavy"));
    EXPECT_GE(lines[i]["count"], 500);
    EXPECT_LE(lines[i]["count"].get<int>() - lines[i]["error"].get<int>(), 500);
    EXPECT_EQ(lines[i]["certain"], lines[i]["count"].get<int>() - lines[i]["error"].get<int>() > 315);
  }
  EXPECT_EQ(lines.back()["summary"]["exact"]["num_missed"], 0);
  EXPECT_EQ(lines.back()["summary"]["exact"]["num_wanted"], 3);
  EXPECT_EQ(top({"--share", "20%"}, "a\nb\nc\nd\ne\n").output, "");  // above, not at
  EXPECT_EQ(top({"--share", "20%"}, "a\nb\nc\nd\ne\n").exit_code, 1);
  EXPECT_EQ(top({"--share", "20%"}, "a\nb\nc\na\ne\n").output, "2\ta\n");
}

TEST(TopCommand, TheErrorThatWasAskedForIsKept) {
  const std::string input = zipf_lines(100'000, 50'000, 0.6, 3);
  const std::vector<Json> lines =
      json_lines(top({"50", "--error", "0.1%", "--json", "--exact"}, input).output);
  const Json& summary = lines.back()["summary"];
  EXPECT_EQ(summary["num_candidates"], 1000);
  EXPECT_LE(summary["exact"]["greatest_overcount"], 100);
  EXPECT_LE(summary["not_kept_at_most"], 100);
  EXPECT_EQ(summary["exact"]["num_outside_bounds"], 0);
}

TEST(TopCommand, AddsUpAFieldInPlaceOfCounting) {
  const std::string input = "a\t10\nb\t100\na\t95\nc\t-\nb\t0\n";
  EXPECT_EQ(top({"-f", "1", "--sum", "2"}, input).output, "105\ta\n100\tb\n");
  EXPECT_EQ(top({"-f", "1", "--sum", "2", "--with-error"}, input).output, "105\t0\ta\n100\t0\tb\n");
  EXPECT_THAT(top({"-f", "1", "--sum", "2"}, input).error, HasSubstr("sum 205"));
  EXPECT_EQ(top({"-f", "1", "--sum", "2"}, "a\t18446744073709551615\na\t5\n").output,
            "18446744073709551615\ta\n");
}

TEST(TopCommand, AWeightThatIsNoneIsRefusedWithItsLineOrSkipped) {
  for (const std::string bad : {"x", "", "1.5", "-1", "18446744073709551616", "1 ", "0x1"}) {
    const std::string input = "a\t10\na\t" + bad + "\nb\t1\n";
    const CommandResult refused = top({"-f", "1", "--sum", "2"}, input);
    EXPECT_EQ(refused.exit_code, 2) << bad;
    EXPECT_THAT(refused.error, AllOf(HasSubstr("tally top: line 2: '" + bad + "'"), HasSubstr("--skip-bad")));
    const CommandResult skipped = top({"-f", "1", "--sum", "2", "--skip-bad"}, input);
    EXPECT_EQ(skipped.output, "10\ta\n1\tb\n") << bad;
    EXPECT_THAT(skipped.error, HasSubstr("1 lines skipped"));
  }
  EXPECT_EQ(top({"--sum", "2-1"}, "").exit_code, 2);
  EXPECT_THAT(top({"--sum", "0"}, "").error, HasSubstr("--sum is '0'"));
}

TEST(TopCommand, AWindowCountsWhatIsInItAndUpToASlotMore) {
  const auto at = [](int seconds, const std::string& key) {
    return std::to_string(seconds) + '\t' + key + '\n';
  };
  // Slots of 10 seconds, a window of 40: at 100 to 109 everything from 60 on counts.
  const std::string input = at(59, "old") + at(59, "old") + at(60, "edge") + at(75, "a") + at(99, "a") +
                            at(100, "a") + at(109, "b");
  const auto window = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"--time", "1", "-f", "2", "--window", "40s"});
    return top(flags, input).output;
  };
  EXPECT_EQ(window({}), "3\ta\n1\tb\n1\tedge\n");
  EXPECT_EQ(window({"--slots", "1"}), "3\ta\n2\told\n1\tb\n1\tedge\n");  // from 40 on
  EXPECT_EQ(window({"--method", "space-saving"}), "3\ta\n1\tb\n1\tedge\n");
  EXPECT_EQ(top({"--time", "1", "-f", "2", "--window", "1d"}, input).output, "3\ta\n2\told\n1\tb\n1\tedge\n");
}

TEST(TopCommand, TheBoundsOfAWindowHoldForWhatIsInItsSlots) {
  // Far more keys than candidates, and a window that has forgotten most lines.
  std::string input;
  Counts in_slots;
  const std::vector<std::string> keys = split_keys(zipf_lines(60'000, 30'000, 0.9, 4));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    input += std::to_string(i / 10) + '\t' + keys[i] + '\n';
    // The last line is at 5999, in the slot from 5750 on: with a window of 1000 in four slots from 4750 on.
    if (i / 10 >= 4750) ++in_slots[keys[i]];
  }
  for (const std::string method : {"sketch", "space-saving"}) {
    const CommandResult result = top({"50", "--time", "1", "-f", "2", "--window", "1000", "--memory",
                                      "100KiB", "--method", method, "--json"},
                                     input);
    const std::vector<Json> lines = json_lines(result.output);
    ASSERT_EQ(lines.size(), 51U);
    const Json& summary = lines.back()["summary"];
    EXPECT_EQ(summary["total"], 12'500);
    EXPECT_GT(summary["not_kept_at_most"], 0);
    std::uint64_t num_errors = 0;
    Counts others = in_slots;
    for (std::size_t i = 0; i < 50; ++i) {
      const std::uint64_t truth = in_slots[lines[i]["key"]];
      const std::uint64_t count = lines[i]["count"];
      const std::uint64_t error = lines[i]["error"];
      EXPECT_LE(truth, count) << lines[i];
      EXPECT_GE(truth, count - error) << lines[i];
      EXPECT_EQ(lines[i]["certain"], count - error >= summary["others_at_most"].get<std::uint64_t>());
      num_errors += error > 0;
      others.erase(lines[i]["key"]);
    }
    EXPECT_GT(num_errors, 0U);  // else nothing was shown
    for (const auto& [key, truth] : others) EXPECT_LE(truth, summary["others_at_most"]) << key;
  }
}

TEST(TopCommand, WhatAWindowDoesNotKeepIsBoundedByTheSumOverItsSlots) {
  const std::vector<std::string> keys = split_keys(zipf_lines(30'000, 10'000, 0.8, 5));
  std::string input;
  std::vector<std::string> slots(3);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    input += std::to_string(i / 10'000) + '\t' + keys[i] + '\n';
    slots[i / 10'000] += keys[i] + '\n';
  }
  // A slot of a window has its part of the memory.
  const Json window = json_lines(top({"10", "--time", "1", "-f", "2", "--window", "2s", "--slots", "2",
                                      "--memory", "196608", "--json"},
                                     input)
                                     .output)
                          .back()["summary"];
  std::uint64_t sum = 0;
  for (const std::string& slot : slots) {
    const Json alone = json_lines(top({"10", "--memory", "65536", "--json"}, slot).output).back()["summary"];
    EXPECT_EQ(alone["num_candidates"], window["num_candidates"]);
    EXPECT_GT(alone["not_kept_at_most"], 0);
    sum += alone["not_kept_at_most"].get<std::uint64_t>();
  }
  EXPECT_EQ(window["not_kept_at_most"], sum);
  EXPECT_EQ(window["total"], 30'000);
}

TEST(TopCommand, ALineOfLongAfterStartsTheWindowAnew) {
  EXPECT_EQ(top({"--time", "1", "-f", "2", "--window", "40s"}, "1\ta\n2\ta\n4000000000\tb\n").output,
            "1\tb\n");
}

TEST(TopCommand, LateLinesCountNowAndThoseLateByTheWindowAreLeftOutAndCounted) {
  const std::vector<Json> lines = json_lines(
      top({"--time", "1", "-f", "2", "--window", "40s", "--json"}, "100\ta\n70\ta\n60\tb\n61\tc\n101\ta\n")
          .output);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["key"], "a");
  EXPECT_EQ(lines[0]["count"], 3);
  EXPECT_EQ(lines[1]["key"], "c");
  EXPECT_EQ(lines[2]["summary"]["num_late_lines"], 3);
  EXPECT_EQ(lines[2]["summary"]["num_lines_left_out"], 1);
}

TEST(TopCommand, TimesOfEveryFormatAreRead) {
  // All are the same moment; 40 seconds later a line of another key shows that they were.
  for (const std::string time :
       {"1763757900", "1763757900.0", "1763757900,000", "2025-11-21T20:45:00Z", "2025-11-21 20:45:00",
        "2025-11-21T20:45", "2025-11-21T21:45:00.000+01:00", "2025-11-21T15:15:00-0530",
        "2025-11-21T22:45:00+02", "[21/Nov/2025:20:45:00 +0000]", "21/Nov/2025:21:45:00 +0100",
        "[21/Nov/2025:20:45:00"}) {
    const std::string input = time + "\ta\n";
    EXPECT_EQ(top({"--time", "1", "-f", "2", "--window", "4s"}, input + "1763757899.9\tb\n").output,
              "1\ta\n1\tb\n")
        << time;
    EXPECT_EQ(top({"--time", "1", "-f", "2", "--window", "4s"}, input + "1763757904.9\tb\n").output,
              "1\ta\n1\tb\n")
        << time;
    EXPECT_EQ(top({"--time", "1", "-f", "2", "--window", "4s"}, input + "1763757905\tb\n").output, "1\tb\n")
        << time;
  }
  EXPECT_EQ(top({"--time", "1", "-f", "2", "--window", "4s"}, "2025-11-21\ta\n1763683205\tb\n").output,
            "1\tb\n");
  EXPECT_EQ(top({"--time", "1", "-f", "2", "--window", "4s"}, "-0.5\ta\n3.9\tb\n").output, "1\ta\n1\tb\n");
}

TEST(TopCommand, TextThatIsNoTimeIsRefused) {
  for (const std::string bad :
       {"", "x", "1763757900x", "2025-13-01", "2025-02-29", "2025-11-21T25:00", "2025-11-21T20:61",
        "21/Nox/2025:20:45:00", "32/Nov/2025:20:45:00", "2025-11-21T20:45:00+1", "99999999999",
        "176375790000000", "1.", "nan", "[1763757900]"}) {
    const CommandResult result = top({"--time", "1", "-f", "2", "--window", "4s"}, "1\ta\n" + bad + "\tb\n");
    EXPECT_EQ(result.exit_code, 2) << bad;
    EXPECT_THAT(result.error, HasSubstr("tally top: line 2: '" + bad + "' in the --time field is not a time"))
        << bad;
    EXPECT_EQ(
        top({"--time", "1", "-f", "2", "--window", "4s", "--skip-bad"}, "1\ta\n" + bad + "\tb\n").output,
        "1\ta\n")
        << bad;
  }
}

TEST(TopCommand, ByArrivalAWindowForgets) {
  RunningCommand command({TALLY_COMMAND, "top", "-q", "--window", "400ms", "--slots", "4"});
  command.write("old\nold\n");
  usleep(900'000);
  command.write("new\n");
  command.close_input();
  EXPECT_EQ(command.wait().output, "1\tnew\n");
}

TEST(TopCommand, AnIntervalPrintsSnapshotsByTheTimeOfTheStream) {
  const std::string input = "0\ta\n5\ta\n12\tb\n13\tb\n14\tb\n39\tc\n";
  EXPECT_EQ(top({"1", "--time", "1", "-f", "2", "--interval", "10s"}, input).output,
            "2\ta\n\n3\tb\n\n3\tb\n");
  const std::vector<Json> lines =
      json_lines(top({"1", "--time", "1", "-f", "2", "--interval", "10s", "--json"}, input).output);
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[1]["snapshot"]["time"], "1970-01-01T00:00:12Z");
  EXPECT_EQ(lines[1]["snapshot"]["num_lines"], 2);
  EXPECT_EQ(lines[3]["snapshot"]["total"], 5);
}

/// Writes the key again and again, until that much time has passed in the command that it prints a line.
std::string line_of_a_snapshot(RunningCommand& command, const std::string& key) {
  std::string line;
  for (int i = 0; i < 200 && line.empty(); ++i) {
    command.write(key + '\n');
    line = command.read_line(100);
  }
  return line;
}

TEST(TopCommand, ByArrivalASnapshotComesWhileTheInputIsOpen) {
  RunningCommand command({TALLY_COMMAND, "top", "-q", "--interval", "150ms"});
  EXPECT_THAT(line_of_a_snapshot(command, "a"), EndsWith("\ta\n"));
  EXPECT_EQ(command.read_line(), "\n");
  command.close_input();
  EXPECT_THAT(command.wait().output, EndsWith("\ta\n"));
}

TEST(TopCommand, OnATerminalItDrawsATableAndLeavesTheLastOne) {
  // Lines for three seconds, so that some come after the command has begun.
  const CommandResult result = run_shell(
      "script -qec \"{ for i in 1 2 3 4 5 6 7 8 9 10; do printf 'a\\nb\\na\\n'; sleep 0.3; done; "
      "printf 'x\\001y\\n'; } | '$TALLY' top 3 -q --interval 100ms\" /dev/null < /dev/null");
  EXPECT_THAT(result.output, HasSubstr("count    share  key"));
  EXPECT_THAT(result.output, HasSubstr("A\r\x1b[J"));  // drawn over the one before
  const std::string last = result.output.substr(result.output.rfind("key"));
  EXPECT_THAT(last, AllOf(HasSubstr("20   64.52%  a"), HasSubstr("10   32.26%  b"), HasSubstr("\\x01")));
}

TEST(TopCommand, TheFirstArgumentIsANumberOrAFile) {
  TemporaryDirectory directory;
  const std::string file = directory.write("keys", "a\na\nb\n");
  EXPECT_EQ(top({file}, "").output, "2\ta\n1\tb\n");
  EXPECT_EQ(top({"1", file}, "").output, "2\ta\n");
  EXPECT_EQ(top({file, file}, "").output, "4\ta\n2\tb\n");
  EXPECT_EQ(top({"--share", "50%", file}, "").output, "2\ta\n");
  EXPECT_EQ(top({"-"}, "c\n").output, "1\tc\n");
}

TEST(TopCommand, RefusesWhatMakesNoSense) {
  const std::vector<std::vector<std::string>> table{{"0"},
                                                    {"5x"},
                                                    {"1e30"},
                                                    {"5", "--share", "1%"},
                                                    {"--share", "0"},
                                                    {"--share", "1"},
                                                    {"--share", "nan"},
                                                    {"--share", "1e-6", "--memory", "1MiB"},
                                                    {"--share", "1e-12"},
                                                    {"--share", "1e-300"},
                                                    {"--error", "0"},
                                                    {"--error", "1e-12"},
                                                    {"--error", "0.1%", "--memory", "64KiB"},
                                                    {"--memory", "1"},
                                                    {"100K", "--memory", "64KiB"},
                                                    {"--method", "guess"},
                                                    {"--window", "0"},
                                                    {"--window", "-1s"},
                                                    {"--window", "10x"},
                                                    {"--window", "nan"},
                                                    {"--window", "10s", "--slots", "0"},
                                                    {"--window", "10s", "--slots", "1001"},
                                                    {"--window", "10s", "--exact"},
                                                    {"--time", "1"},
                                                    {"--time", "0", "--window", "1s"},
                                                    {"--interval", "1000000d"},
                                                    {"/nonexistent"}};
  for (const std::vector<std::string>& flags : table) {
    const CommandResult result = top(flags, "a\n");
    EXPECT_EQ(result.exit_code, 2) << flags[0] << (flags.size() > 1 ? " " + flags[1] : "");
    EXPECT_THAT(result.output, IsEmpty()) << flags[0];
    EXPECT_THAT(result.error, StartsWith("tally top: ")) << flags[0];
  }
}

TEST(TopCommand, ExitsWithOneWhenThereIsNothing) {
  EXPECT_EQ(top({}, "").exit_code, 1);
  EXPECT_EQ(top({"-f", "1", "--sum", "2"}, "a\t0\n").exit_code, 1);
}

TEST(TopCommand, PrintsJsonBinaryKeysToo) {
  const CommandResult result = top({"--json"}, "a\na\n\xff\n");
  const std::vector<Json> lines = json_lines(result.output);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["key"], "a");
  EXPECT_EQ(lines[0]["count"], 2);
  EXPECT_EQ(lines[0]["error"], 0);
  EXPECT_EQ(lines[0]["certain"], true);
  EXPECT_NEAR(lines[0]["share"], 2.0 / 3, 1e-12);
  EXPECT_EQ(lines[1]["key_hex"], "ff");
  EXPECT_EQ(lines[1]["key"], "\xef\xbf\xbd");
  const Json& summary = lines[2]["summary"];
  EXPECT_EQ(summary["num_lines"], 3);
  EXPECT_EQ(summary["total"], 3);
  EXPECT_EQ(summary["num_keys"], 2);
  EXPECT_EQ(summary["interrupted"], false);
}

TEST(TopCommand, AnInterruptEndsItWithTheAnswerSoFar) {
  for (const int signal_number : {SIGINT, SIGTERM}) {
    RunningCommand command({TALLY_COMMAND, "top", "--json", "--interval", "150ms"});
    EXPECT_THAT(line_of_a_snapshot(command, "a"), HasSubstr("\"a\""));
    command.send(signal_number);
    const CommandResult result = command.wait();
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(json_lines(result.output).back()["summary"]["interrupted"], true);
    EXPECT_THAT(result.error, HasSubstr("interrupted after"));
  }
}

TEST(TopCommand, NulSeparatedKeysEndInNul) {
  using namespace std::string_literals;
  EXPECT_EQ(top({"-z"}, "a\nb\0a\nb\0c\0"s).output,
            "2\ta\nb\0"
            "1\tc\0"s);
}

TEST(TopCommand, QuietSaysNothingAndAClosedPipeIsQuiet) {
  EXPECT_THAT(top({"-q"}, "a\n").error, IsEmpty());
  EXPECT_EQ(run_shell("{ seq 100000 | \"$TALLY\" top 10000 -q; echo \"status $?\" >&2; } | head -n 1").error,
            "status 0\n");
}

}  // namespace
}  // namespace tally::test
