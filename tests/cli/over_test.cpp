#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <numeric>
#include <regex>
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
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

KeyReport over(std::uint64_t threshold, const std::string& input,
               const std::vector<std::string>& flags = {}) {
  std::vector<std::string> arguments{"over", std::to_string(threshold), one_seed};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return run_for_keys(std::move(arguments), input);
}

std::size_t num_missing(const std::vector<std::string>& wanted, const std::vector<std::string>& reported) {
  const std::unordered_set<std::string> set(reported.begin(), reported.end());
  return static_cast<std::size_t>(std::count_if(wanted.begin(), wanted.end(),
                                                [&](const std::string& key) { return !set.contains(key); }));
}

std::size_t num_different(const std::vector<std::string>& keys) {
  return std::unordered_set<std::string>(keys.begin(), keys.end()).size();
}

// What --exact says, against a count of our own.
void expect_exact_part_agrees(const KeyReport& result, const std::string& input, std::uint64_t threshold) {
  const std::vector<std::string> keys = split_keys(input);
  const Counts counts = count_exactly(keys);
  const std::vector<std::string> wanted = keys_over(keys, threshold);
  const std::unordered_set<std::string> reported(result.keys.begin(), result.keys.end());
  const auto num_false = std::count_if(reported.begin(), reported.end(),
                                       [&](const std::string& key) { return counts.at(key) < threshold; });
  const Json& exact = result.summary["exact"];
  EXPECT_EQ(exact["num_distinct_keys"], counts.size());
  EXPECT_EQ(exact["num_keys_over_threshold"], wanted.size());
  EXPECT_EQ(exact["num_false_reports"], num_false);
  EXPECT_EQ(exact["num_missed"], 0);
  EXPECT_EQ(num_missing(wanted, result.keys), 0U);
  EXPECT_EQ(result.summary["num_lines"], keys.size());
  EXPECT_EQ(result.summary["num_reported"], result.keys.size());
  const auto num_repeats = result.keys.size() - num_different(result.keys);
  EXPECT_LE(num_repeats, result.summary["num_possible_repeats"].get<std::size_t>());  // 0 without --memory
}

enum class Prediction : std::uint8_t { both_sides, at_most };

void expect_predicted(const KeyReport& result, Prediction kind) {
  constexpr double num_deviations = 5;  // 6e-7 for a normal law, both sides together
  const Json& exact = result.summary["exact"];
  const double seen = exact["num_early_reports"].get<double>() + exact["num_false_reports"].get<double>();
  const double predicted =
      exact["predicted_early_reports"].get<double>() + exact["predicted_false_reports"].get<double>();
  const double margin = num_deviations * exact["predicted_standard_deviation"].get<double>();
  EXPECT_GT(margin, 0);
  EXPECT_LE(seen, predicted + margin);
  if (kind == Prediction::both_sides) {
    EXPECT_GE(seen, predicted - margin);
  }
  ::testing::Test::RecordProperty("seen", std::to_string(seen));
  ::testing::Test::RecordProperty("predicted", std::to_string(predicted));
  ::testing::Test::RecordProperty("margin", std::to_string(margin));
}

TEST(OverCommand, CountedExactlyReportsEachKeyWhenItGetsThere) {
  const std::string input = zipf_lines(100'000, 20'000, 1.0, 1);
  for (const std::uint64_t threshold : {1, 2, 3, 10, 1000}) {
    const CommandResult result = run_tally({"over", std::to_string(threshold)}, input);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(split_keys(result.output), keys_over(split_keys(input), threshold)) << threshold;
  }
}

TEST(OverCommand, APlannedFilterOfHardlyAnyErrorDoesTheSame) {
  const std::string input = zipf_lines(100'000, 20'000, 1.0, 2);
  const std::vector<std::string> keys = split_keys(input);
  for (const std::uint64_t threshold : {2, 3, 10}) {
    const CommandResult result =
        run_tally({"over", std::to_string(threshold), "--keys", "20K", "-p", "1e-9", one_seed}, input);
    EXPECT_EQ(split_keys(result.output), keys_over(keys, threshold)) << threshold;
  }
}

// A threshold and how the filter is planned. The stream has 39'000 distinct keys or so.
struct PrintedPlan {
  std::uint64_t threshold;
  std::vector<std::string> flags;

  // GoogleTest's word for a parameter; without it the test names would hold its raw bytes.
  friend void PrintTo(const PrintedPlan& plan, std::ostream* out) {
    *out << "over " << plan.threshold;
    for (const std::string& flag : plan.flags) *out << ' ' << flag;
  }
};

class PlannedOver : public ::testing::TestWithParam<PrintedPlan> {
 protected:
  static const std::string& input() {
    static const std::string text = zipf_lines(200'000, 60'000, 1.0, 3);
    return text;
  }
  KeyReport run(const std::string& update) const {
    std::vector<std::string> flags = GetParam().flags;
    flags.insert(flags.end(), {"--exact", "--update", update});
    return over(GetParam().threshold, input(), flags);
  }
};

TEST_P(PlannedOver, PlainUpdateMissesNothingAndErrsAsPredicted) {
  const KeyReport result = run("plain");
  EXPECT_EQ(result.exit_code, 0);
  expect_exact_part_agrees(result, input(), GetParam().threshold);
  expect_predicted(result, Prediction::both_sides);
}

TEST_P(PlannedOver, ConservativeUpdateErrsAtMostAsPredicted) {
  const KeyReport result = run("conservative");
  expect_exact_part_agrees(result, input(), GetParam().threshold);
  expect_predicted(result, Prediction::at_most);
}

INSTANTIATE_TEST_SUITE_P(Plans, PlannedOver,
                         ::testing::Values(PrintedPlan{2, {"--keys", "40K"}},
                                           PrintedPlan{2, {"--keys", "40K", "-p", "10%"}},
                                           PrintedPlan{3, {"--keys", "40K", "-p", "5%"}},
                                           PrintedPlan{10, {"--keys", "40K", "-p", "20%"}},
                                           PrintedPlan{10, {"--keys", "20K", "--memory", "180KiB"}},
                                           PrintedPlan{10, {"--memory", "180KiB", "-p", "20%"}},
                                           PrintedPlan{10, {"--keys", "40K", "--memory", "180KiB"}}));

TEST(OverCommand, SaysWhatItPlanned) {
  const CommandResult result = run_tally({"over", "3", "--keys", "1000", "-p", "1%"}, "a\na\na\n");
  EXPECT_EQ(result.output, "a\n");
  EXPECT_THAT(result.error,
              AllOf(HasSubstr("tally over: planned for 1000 distinct keys"), HasSubstr("k = "),
                    HasSubstr("fewer than 3 times"), HasSubstr("3 lines, about 1 distinct keys")));
}

TEST(OverCommand, UnplannedGoesFromExactCountsToGenerationsAndMissesNothing) {
  // Every fifth key comes twice more after all have come once: its count lies in two generations, or in the
  // exact counts and two generations.
  constexpr int num_keys = 1'300'000;
  std::string input;
  for (int i = 0; i < num_keys; ++i) input += std::to_string(i) + '\n';
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < num_keys; i += 5) input += std::to_string(i) + '\n';
  }
  const KeyReport result = over(3, input, {"--exact"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.summary["num_generations"], 2);
  EXPECT_EQ(result.summary["counted_exactly"], false);
  expect_exact_part_agrees(result, input, 3);
  expect_predicted(result, Prediction::both_sides);
  EXPECT_THAT(result.error, AllOf(HasSubstr("counted the first 65536 distinct keys exactly"),
                                  HasSubstr("planned for 1.05 M"), HasSubstr("generation 2 opened"),
                                  HasSubstr("all generations together")));
}

// The counts, as long as there are any, of lines that all come once.
KeyReport over_distinct(std::uint64_t threshold, int num_keys, const std::vector<std::string>& flags) {
  std::string input;
  for (int i = 0; i < num_keys; ++i) input += std::to_string(i) + '\n';
  return over(threshold, input, flags);
}

TEST(OverCommand, AllGenerationsTogetherKeepTheRateThatWasAsked) {
  constexpr int num_keys = 3'300'000;
  const KeyReport result = over_distinct(2, num_keys, {"-p", "10%"});
  EXPECT_EQ(result.summary["num_generations"], 3);
  EXPECT_LE(result.summary["false_positive_rate_at_most"].get<double>(), 0.1);
  EXPECT_EQ(result.summary["false_positive_rate_planned"], 0.1);
  // Every report is false, and predicted to be: the prediction is within 5 standard deviations of the number of reports.
  const double num_false = result.summary["num_reported"].get<double>();
  EXPECT_LE(num_false, 0.1 * num_keys);
  EXPECT_NEAR(result.summary["num_expected_false_reports"].get<double>(), num_false, 0.03 * num_false);
  EXPECT_THAT(result.error, Not(HasSubstr("warning")));
}

// docs/streams.md says it.
TEST(OverCommand, GenerationsTakeFourTenthsMoreMemoryThanOneFilterOfTheWholeRate) {
  const auto millions_of_counters = [](const std::string& remarks) {
    const std::regex pattern("([0-9.]+) M counters");
    std::vector<double> found;
    for (std::sregex_iterator i(remarks.begin(), remarks.end(), pattern), end; i != end; ++i)
      found.push_back(std::stod(i->str(1)));
    return found;
  };
  const auto of_generations = millions_of_counters(over_distinct(3, 3'300'000, {}).error);
  const auto one_of = [&](const char* num_keys) {
    return millions_of_counters(over_distinct(3, 1, {"--keys", num_keys}).error).at(0);
  };
  ASSERT_EQ(of_generations.size(), 3U);
  EXPECT_NEAR(of_generations[0] / one_of("1048576"), 1.28, 0.01);
  EXPECT_NEAR(std::accumulate(of_generations.begin(), of_generations.end(), 0.0) / one_of("7340032"), 1.40,
              0.01);
}

TEST(OverCommand, ARateThatIsExceededIsSaidEvenToThoseWhoWantQuiet) {
  const KeyReport more_keys = over_distinct(2, 100'000, {"-q", "--keys", "1000", "-p", "1%"});
  EXPECT_THAT(more_keys.error, HasSubstr("warning: planned for a false positive rate of 1%,"));
  EXPECT_GT(more_keys.summary["false_positive_rate_at_most"].get<double>(), 0.01);
  EXPECT_LE(more_keys.summary["false_positive_rate_at_most"].get<double>(), 0.02);
  // However full the filter, what is said is not below what came.
  const KeyReport little_memory = over_distinct(2, 100'000, {"-q", "--memory", "64KiB"});
  EXPECT_THAT(little_memory.error, HasSubstr("warning: planned for a false positive rate of 1%,"));
  EXPECT_GE(little_memory.summary["false_positive_rate_at_most"].get<double>(),
            little_memory.summary["num_reported"].get<double>() / 100'000);
  EXPECT_THAT(over_distinct(2, 1000, {"-q", "--keys", "1000", "-p", "1%"}).error, IsEmpty());
}

TEST(OverCommand, SaysWhichShareOfTheOutputIsFalse) {
  struct Stream {
    std::uint64_t threshold;
    std::string input;
    std::vector<std::string> flags;
  };
  const std::string zipf = zipf_lines(200'000, 100'000, 0.9, 11);
  const std::string flat = zipf_lines(400'000, 200'000, 0.2, 12);
  for (const Stream& stream :
       {Stream{2, zipf, {"--keys", "60K", "-p", "5%"}}, Stream{3, zipf, {"--keys", "60K", "-p", "5%"}},
        Stream{3, zipf, {"--keys", "10K", "-p", "20%"}}, Stream{10, zipf, {"--keys", "30K", "-p", "20%"}},
        Stream{100, zipf, {"--keys", "20K", "-p", "20%"}}, Stream{3, flat, {"-p", "30%"}},
        Stream{4, flat, {"--keys", "60K", "-p", "10%"}}}) {
    std::vector<std::string> flags = stream.flags;
    flags.emplace_back("--exact");
    const KeyReport result = over(stream.threshold, stream.input, flags);
    const double num_false = result.summary["exact"]["num_false_reports"].get<double>();
    const double expected = result.summary["num_expected_false_reports"].get<double>();
    EXPECT_NEAR(expected, num_false, 0.1 * num_false + 5 * std::sqrt(num_false)) << stream.threshold;
    ::testing::Test::RecordProperty("expected_and_false_" + std::to_string(stream.threshold),
                                    std::to_string(expected) + " " + std::to_string(num_false));
    EXPECT_THAT(result.error, HasSubstr("of the reports are expected to be false"));
  }
  const KeyReport exact = over(2, "a\na\n");
  EXPECT_EQ(exact.summary["num_expected_false_reports"], 0);
}

TEST(OverCommand, MemoryIsSplitByWhatTheRateNeeds) {
  // Every key comes twice: all are reported, and the set has to hold them.
  constexpr int num_keys = 40'000;
  std::string input;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < num_keys; ++i) input += std::to_string(i) + '\n';
  }
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"--keys", "40K", "--memory", "800KiB"},
                                             {"--keys", "40K", "--memory", "800KiB", "-p", "1%"},
                                             {"--keys", "40K", "--memory", "800KiB", "-p", "0.01%"}}) {
    const KeyReport result = over(2, input, flags);
    EXPECT_EQ(result.keys.size(), static_cast<std::size_t>(num_keys));
    EXPECT_EQ(num_different(result.keys), static_cast<std::size_t>(num_keys));
    EXPECT_EQ(result.summary["num_possible_repeats"], 0);
    EXPECT_LE(result.summary["false_positive_rate_at_most"].get<double>(),
              flags.back() == "0.01%" ? 1e-4 : 0.01);
    EXPECT_LE(result.summary["memory_bytes"].get<std::uint64_t>(), 800U << 10);
    EXPECT_THAT(result.error, Not(HasSubstr("has room for")));
  }
  const KeyReport less = over(2, input, {"--keys", "40K", "--memory", "500KiB"});
  EXPECT_THAT(less.error,
              AllOf(HasSubstr("the set of reported keys has room for"), HasSubstr("40.0 K"),
                    HasSubstr("of --memory is enough for all of them"), HasSubstr("may be repeats")));
  EXPECT_EQ(num_different(less.keys), static_cast<std::size_t>(num_keys));
}

TEST(OverCommand, KeysRateAndMemoryThatDoNotGoTogetherAreRefusedWithWhatWould) {
  const CommandResult result =
      run_tally({"over", "2", "--keys", "40K", "--memory", "90KiB", "-p", "1%"}, "a\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.output, IsEmpty());
  EXPECT_THAT(result.error, AllOf(StartsWith("tally over: --memory: 90.0 KiB is too little for 40.0 K keys"),
                                  HasSubstr("give at least "), HasSubstr("leave --false-positive-rate out")));
  const std::string enough = result.error.substr(result.error.find("at least ") + 9);
  const std::string bytes = enough.substr(0, enough.find(','));
  EXPECT_EQ(run_tally({"over", "2", "--keys", "40K", "--memory", bytes, "-p", "1%"}, "a\na\n").output, "a\n");
  EXPECT_EQ(run_tally({"over", "2", "--keys", "40K", "--memory", "90KiB"}, "a\na\n").output, "a\n");
}

TEST(OverCommand, SmallStreamsAreCountedExactlyAndSaySo) {
  const KeyReport result = over(2, "a\nb\na\n", {"--exact"});
  EXPECT_THAT(result.keys, ElementsAre("a"));
  EXPECT_EQ(result.summary["counted_exactly"], true);
  EXPECT_EQ(result.summary["false_positive_rate_at_most"], 0);
  EXPECT_EQ(result.summary["num_distinct_keys_estimate"], 2);
  EXPECT_EQ(result.summary["interrupted"], false);
  EXPECT_THAT(result.error, HasSubstr("counted exactly"));
}

TEST(OverCommand, ExitsWithOneWhenNothingGetsThere) {
  for (const char* threshold : {"4", "4294967295", "4G"}) {
    const CommandResult result = run_tally({"over", threshold}, "a\na\na\n");
    EXPECT_EQ(result.exit_code, 1) << threshold;
    EXPECT_THAT(result.output, IsEmpty());
  }
  EXPECT_EQ(run_tally({"over", "4294967295", "--keys", "100"}, "a\na\n").exit_code, 1);
  EXPECT_EQ(run_tally({"over", "1"}, "").exit_code, 1);
}

TEST(OverCommand, RefusesAThresholdThatIsNone) {
  for (const char* threshold :
       {"0", "-1", "nan", "inf", "4294967296", "1.5", "junk", "", "1e99", "18446744073709551616", "3x"}) {
    const CommandResult result = run_tally({"over", "--", threshold}, "a\na\n");
    EXPECT_EQ(result.exit_code, 2) << threshold;
    EXPECT_THAT(result.output, IsEmpty()) << threshold;
    EXPECT_THAT(result.error, AllOf(StartsWith("tally over: "), HasSubstr("threshold"))) << threshold;
  }
  EXPECT_EQ(run_tally({"over"}, "a\n").exit_code, 2);
}

TEST(OverCommand, RefusesFlagsThatContradict) {
  const std::vector<std::vector<std::string>> table{{"--keys", "0"},
                                                    {"--keys", "nan"},
                                                    {"--memory", "0"},
                                                    {"--memory", "-1"},
                                                    {"-p", "0"},
                                                    {"-p", "1"},
                                                    {"-p", "nan"},
                                                    {"--update", "none"},
                                                    {"--key-file", "/nonexistent"},
                                                    {"--seed", "1", "--key-file", "/nonexistent"},
                                                    {"--fields", "0"},
                                                    {"--delimiter", ""},
                                                    {"/nonexistent"}};
  for (std::vector<std::string> flags : table) {
    flags.insert(flags.begin(), {"over", "1"});
    const CommandResult result = run_tally(flags, "a\n");
    EXPECT_EQ(result.exit_code, 2) << flags[2];
    EXPECT_THAT(result.output, IsEmpty()) << flags[2];
    EXPECT_THAT(result.error, StartsWith("tally over: ")) << flags[2];
  }
}

TEST(OverCommand, WithHardlyAnyMemoryMayRepeatAndErrButNeverMisses) {
  const std::string input = zipf_lines(20'000, 5'000, 1.0, 4);
  const std::vector<std::string> keys = split_keys(input);
  for (const std::uint64_t threshold : {1, 2, 10}) {
    for (const char* memory : {"1", "64", "4095"}) {
      const KeyReport result = over(threshold, input, {"--memory", memory});
      EXPECT_EQ(result.exit_code, 2);
      EXPECT_THAT(result.error, HasSubstr("too small; must be at least 4096")) << memory;
    }
    for (const char* memory : {"4096", "10000", "16KiB", "100KiB"}) {
      const KeyReport result = over(threshold, input, {"--memory", memory});
      EXPECT_EQ(num_missing(keys_over(keys, threshold), result.keys), 0U) << threshold << " " << memory;
      const auto num_repeats = result.keys.size() - num_different(result.keys);
      EXPECT_LE(num_repeats, result.summary["num_possible_repeats"].get<std::size_t>());
      if (num_repeats > 0) {
        EXPECT_THAT(result.error, HasSubstr("may be printed again"));
      }
    }
  }
}

TEST(OverCommand, TakesNoMoreMemoryThanItIsGiven) {
  const std::string input = zipf_lines(200'000, 100'000, 0.5, 5);
  for (const std::uint64_t kibibytes : {4U, 16U, 256U, 1024U, 16384U}) {
    const KeyReport result = over(2, input, {"--memory", std::to_string(kibibytes) + "KiB"});
    EXPECT_LE(result.summary["memory_bytes"].get<std::uint64_t>(), kibibytes << 10) << kibibytes;
  }
}

TEST(OverCommand, SaysThatTheErrorGrowsPastTheMemory) {
  const KeyReport result = over(2, zipf_lines(100'000, 100'000, 0.2, 6), {"--memory", "20KiB"});
  EXPECT_THAT(result.error, HasSubstr("more keys than the"));
  EXPECT_GT(result.summary["false_positive_rate_at_most"].get<double>(), 0.1);
}

TEST(OverCommand, PrintsTheCountWithTheKey) {
  EXPECT_EQ(run_tally({"over", "2", "--with-count"}, "a\nb\na\nb\nb\n").output, "2\ta\n2\tb\n");
  EXPECT_EQ(run_tally({"over", "2", "-c", "--keys", "100", "-p", "1e-9"}, "a\nb\na\n").output, "2\ta\n");
}

TEST(OverCommand, PrintsALineOfJsonForEachKeyBinaryOnesToo) {
  using namespace std::string_literals;
  const std::string input = "plain\n\xff\x01z\n\"quoted\\\"\n\xc3\xa9\n\n\x00nul\n"s;
  const CommandResult result = run_tally({"over", "1", "--json"}, input);
  std::vector<Json> lines;
  for (const std::string& line : split_keys(result.output)) lines.push_back(Json::parse(line));
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0], Json({{"key", "plain"}, {"count", 1}}));
  EXPECT_EQ(lines[1], Json({{"key", "\xef\xbf\xbd\x01z"}, {"key_hex", "ff017a"}, {"count", 1}}));
  EXPECT_EQ(lines[2]["key"], "\"quoted\\\"");
  EXPECT_EQ(lines[3]["key"], "\xc3\xa9");
  EXPECT_EQ(lines[4]["key"], "");
  EXPECT_EQ(lines[5]["key"], "\0nul"s);
  EXPECT_EQ(lines[6]["summary"]["num_reported"], 6);
  // Lines end in a newline, whatever ends the keys.
  EXPECT_EQ(split_keys(run_tally({"over", "1", "--json", "-z"}, "a\0b\0"s).output).size(), 3U);
}

TEST(OverCommand, SameSeedSameOutputAndAnotherSeedErrsElsewhere) {
  const std::string input = zipf_lines(100'000, 50'000, 0.8, 7);
  const auto with = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> arguments{"over", "2", "-q", "--keys", "30K", "-p", "10%"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const CommandResult result = run_tally(arguments, input);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(num_missing(keys_over(split_keys(input), 2), split_keys(result.output)), 0U);
    return result.output;
  };
  TemporaryDirectory directory;
  const std::string one = directory.write("one", std::string(32, 'x'));
  const std::string two = directory.write("two", std::string(32, 'y'));
  EXPECT_NE(with({}), with({}));
  EXPECT_EQ(with({"--seed", "5"}), with({"--seed", "0x5"}));
  EXPECT_NE(with({"--seed", "5"}), with({"--seed", "6"}));
  EXPECT_EQ(with({"--key-file", one}), with({"--key-file", one}));
  EXPECT_NE(with({"--key-file", one}), with({"--key-file", two}));
}

TEST(OverCommand, QuietSaysNothingOnStandardError) {
  const std::string input = zipf_lines(20'000, 10'000, 0.5, 8);
  for (std::vector<std::string> flags :
       std::vector<std::vector<std::string>>{{}, {"--memory", "1MiB"}, {"--exact"}}) {
    flags.insert(flags.begin(), {"over", "2", "--quiet"});
    EXPECT_THAT(run_tally(flags, input).error, IsEmpty());
  }
}

TEST(OverCommand, ALineOf100MillionBytesIsAKey) {
  const CommandResult result = run_shell(
      "for i in 1 2; do head -c 100000000 /dev/zero | tr '\\0' x; echo; echo short; done | \"$TALLY\" over 2 "
      "-q | wc -c");
  EXPECT_EQ(result.output, "100000007\n");
  EXPECT_THAT(result.error, IsEmpty());
}

TEST(OverCommand, AClosedPipeEndsItQuietly) {
  const CommandResult result =
      run_shell("{ seq 1000000 2>/dev/null | \"$TALLY\" over 1; echo \"status $?\" >&2; } | head -n 1");
  EXPECT_EQ(result.output, "1\n");
  EXPECT_EQ(result.error, "status 0\n");
}

TEST(OverCommand, AFullDiskIsAnErrorHoweverLittleThereIsToWrite) {
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"over", "2"}, {"over", "2", "--json"}, {"over", "2", "--line-buffered"}}) {
    const CommandResult result = run_tally(flags, "a\na\n", "/dev/full");
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.error, AllOf(HasSubstr("standard output"), HasSubstr("No space left")));
  }
}

TEST(OverCommand, AnInterruptEndsItWithASummary) {
  RunningCommand command({TALLY_COMMAND, "over", "2", "--line-buffered", "--exact"});
  command.write("b\na\na\n");
  EXPECT_EQ(command.read_line(), "a\n");
  command.send(SIGINT);
  const CommandResult result = command.wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.error, AllOf(HasSubstr("interrupted after 3 lines"), HasSubstr("1 reported at 2 times"),
                                  HasSubstr("exact counts: 2 distinct keys")));
}

TEST(OverCommand, AnInterruptOfAnEndlessInputFlushesWhatWasFound) {
  for (const int signal_number : {SIGINT, SIGTERM}) {
    RunningCommand command({TALLY_COMMAND, "over", "3", "-z", "--json", "--keys", "100", "/dev/zero"});
    EXPECT_THAT(command.read_error_line(), HasSubstr("planned for 100"));  // it runs
    usleep(100'000);
    command.send(signal_number);
    const CommandResult result = command.wait();
    EXPECT_EQ(result.exit_code, 0);
    const std::vector<std::string> lines = split_keys(result.output);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(Json::parse(lines[0])["key"], "");
    EXPECT_EQ(Json::parse(lines[1])["summary"]["interrupted"], true);
    EXPECT_THAT(result.error, HasSubstr("interrupted after"));
  }
}

TEST(OverCommand, LineBufferedHandsAKeyOnAtOnce) {
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {}, {"--json"}, {"--with-count"}, {"--keys", "100", "-p", "1e-9"}, {"--threads", "2"}}) {
    std::vector<std::string> arguments{TALLY_COMMAND, "over", "1", "-q", "--line-buffered"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    RunningCommand command(arguments);
    command.write("a\n");
    EXPECT_THAT(command.read_line(), HasSubstr("a"));
    command.write("b\n");
    EXPECT_THAT(command.read_line(), HasSubstr("b"));
    command.close_input();
    EXPECT_EQ(command.wait().exit_code, 0);
  }
}

}  // namespace
}  // namespace tally::test
