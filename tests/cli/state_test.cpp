// --state of over and top: two runs that share a state file do what one run does.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "key_report.hpp"
#include "key_streams.hpp"
#include "random.hpp"
#include "running_command.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

using Flags = std::vector<std::string>;

CommandResult run_with_state(Flags flags, const std::string& input, const std::string& path) {
  flags.insert(flags.end(), {"-q", "--state", path});
  return run_tally(flags, input);
}

std::vector<std::string> cut(const std::string& input, const std::vector<double>& shares) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (const double share : shares) {
    const std::size_t end =
        input.find('\n', static_cast<std::size_t>(share * static_cast<double>(input.size()))) + 1;
    parts.push_back(input.substr(begin, end - begin));
    begin = end;
  }
  parts.push_back(input.substr(begin));
  return parts;
}

/// Lines "time key weight".
std::string timed_lines(std::size_t length, std::size_t num_keys, std::uint64_t seed) {
  Random random(seed);
  std::string text;
  std::uint64_t time = 1'700'000'000;
  for (const std::string& key : split_keys(zipf_lines(length, num_keys, 1.0, seed))) {
    time += random.below(3);
    text += std::to_string(time - random.below(4)) + '\t' + key + '\t' + std::to_string(random.below(1000)) +
            '\n';
  }
  return text;
}

const std::vector<std::vector<double>> all_cuts{{0.0}, {0.001}, {0.3}, {0.77}, {0.999}, {0.2, 0.21, 0.9}};

// A part may be empty, and then the command has nothing to print. Only the first run is given the seed; the state stores
// it.
void expect_one_run(const Flags& flags, const std::string& input, bool joins_output,
                    const std::vector<std::vector<double>>& cuts = all_cuts) {
  Flags quiet = flags;
  quiet.insert(quiet.end(), {"-q", one_seed});
  const CommandResult whole = run_tally(quiet, input);
  ASSERT_EQ(whole.exit_code, 0) << whole.error;
  for (const std::vector<double>& shares : cuts) {
    TemporaryDirectory directory;
    const std::string path = directory / "state";
    std::string output;
    for (const std::string& part : cut(input, shares)) {
      Flags these = flags;
      if (!std::filesystem::exists(path)) these.emplace_back(one_seed);
      const CommandResult result = run_with_state(these, part, path);
      ASSERT_LE(result.exit_code, 1) << result.error;
      output = joins_output ? output + result.output : result.output;
    }
    ASSERT_TRUE(output == whole.output) << flags[0] << " " << flags[1] << ", cut at " << shares[0];
    EXPECT_EQ(directory.num_files(), 1u);
  }
}

TEST(State, OverReportsInPartsWhatItReportsInOneRun) {
  const std::string input = zipf_lines(100'000, 40'000, 1.0, 1);
  for (const Flags& flags :
       std::vector<Flags>{{"over", "1"},
                          {"over", "3", "-c"},
                          {"over", "2", "--keys", "10K", "-p", "10%"},
                          {"over", "5", "--keys", "5K", "-p", "20%", "--update", "conservative"},
                          {"over", "2", "--memory", "16KiB"},
                          {"over", "2", "--memory", "4KiB"}}) {
    expect_one_run(flags, input, true);
  }
}

TEST(State, OverDoesWithGenerationsToo) {
  // 65,536 keys are counted exactly, the next in a filter for 16 times as many, and then in a second one.
  std::string input;
  for (int i = 0; i < 1'200'000; ++i) input += std::to_string(i) + '\n';
  for (int i = 0; i < 1'200'000; i += 7) input += std::to_string(i) + '\n';
  for (const Flags& flags : std::vector<Flags>{{"over", "2", "-p", "10%"},
                                               {"over", "2", "-p", "10%", "--update", "conservative"}}) {
    expect_one_run(flags, input, true, {{0.03}, {0.5, 0.97}});
  }
}

TEST(State, OverDoesWithSumsAndWindowsToo) {
  const std::string input = timed_lines(40'000, 5'000, 2);
  for (const Flags& flags : std::vector<Flags>{
           {"over", "5000", "-f", "2", "--sum", "3", "--memory", "64KiB", "-c"},
           {"over", "20", "-f", "2", "--time", "1", "--window", "10m", "--memory", "64KiB", "-c"},
           {"over", "5000", "-f", "2", "--sum", "3", "--time", "1", "--window", "7m", "--slots", "3",
            "--memory", "1MiB"}}) {
    expect_one_run(flags, input, true);
  }
}

TEST(State, TopAnswersInPartsAsInOneRun) {
  const std::string input = timed_lines(40'000, 15'000, 3);
  for (const Flags& flags : std::vector<Flags>{
           {"top", "100", "-f", "2", "-e", "--memory", "64KiB"},
           {"top", "100", "-f", "2", "-e", "--method", "space-saving", "--memory", "64KiB"},
           {"top", "-f", "2", "-e", "--share", "1%", "--sum", "3"},
           {"top", "50", "-f", "2", "-e", "--time", "1", "--window", "30m", "--memory", "300KiB"},
           {"top", "50", "-f", "2", "-e", "--time", "1", "--window", "30m", "--method", "space-saving",
            "--memory", "300KiB"}}) {
    expect_one_run(flags, input, false);
  }
}

TEST(State, TopGoesOnWithItsIntervals) {
  const std::string input = "0\ta\n5\ta\n12\tb\n13\tb\n14\tb\n39\tc\n";
  TemporaryDirectory directory;
  const Flags flags{"top", "1", "--time", "1", "-f", "2", "--interval", "10s"};
  EXPECT_EQ(run_with_state(flags, "0\ta\n5\ta\n", directory / "s").output, "2\ta\n");
  EXPECT_EQ(run_with_state(flags, "12\tb\n13\tb\n14\tb\n39\tc\n", directory / "s").output,
            "2\ta\n\n3\tb\n\n3\tb\n");
}

TEST(State, TheSummaryIsOfAllRunsTogether) {
  TemporaryDirectory directory;
  const Flags flags{"over", "2", "--state", directory / "s"};
  (void)run_for_keys(flags, "a\nb\na\n");
  const KeyReport second = run_for_keys(flags, "b\nc\n");
  EXPECT_EQ(second.keys, std::vector<std::string>{"b"});
  EXPECT_EQ(second.summary["num_lines"], 5);
  EXPECT_EQ(second.summary["num_reported"], 2);
  EXPECT_EQ(second.summary["num_distinct_keys_estimate"], 3);
  EXPECT_THAT(second.error, HasSubstr("resuming from"));
}

TEST(State, AnInterruptWritesTheStateOfTheLinesSoFar) {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    TemporaryDirectory directory;
    RunningCommand command({TALLY_COMMAND, "over", "2", "--line-buffered", "-q", "--state", directory / "s"});
    command.write("a\nb\na\n");
    EXPECT_EQ(command.read_line(), "a\n");
    command.send(signal_number);
    EXPECT_EQ(command.wait().exit_code, 0);
    EXPECT_EQ(run_with_state({"over", "2"}, "a\nb\n", directory / "s").output, "b\n");
  }
}

TEST(State, AnErrorInTheInputLeavesTheStateAsItWas) {
  TemporaryDirectory directory;
  const Flags flags{"over", "5", "-f", "1", "--sum", "2", "--memory", "16KiB"};
  EXPECT_EQ(run_with_state(flags, "a\t3\n", directory / "s").exit_code, 1);
  const std::string before = read_file(directory / "s");
  EXPECT_EQ(run_with_state(flags, "a\t1\na\tx\n", directory / "s").exit_code, 2);
  EXPECT_EQ(read_file(directory / "s"), before);
  EXPECT_EQ(directory.num_files(), 1u);
  EXPECT_EQ(run_with_state(flags, "a\t2\n", directory / "s").output, "a\n");
}

/// Lines from the first to the one before the last, keys that come some times each.
std::string squares(std::uint64_t first, std::uint64_t last) {
  std::string text;
  for (std::uint64_t i = first; i < last; ++i) text += std::to_string(i * i % 3001) + '\n';
  return text;
}

// Written by version 0.1.0 after the first 4000 of these lines: it knows nothing of how often counts were what.
TEST(State, OneOfAnOlderVersionGoesOn) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("state", read_file(TALLY_TEST_DATA_DIR "/golden/over-3.state"));
  const Flags flags{"over", "3", "--memory", "16KiB", "--seed", "7"};
  Flags quiet = flags;
  quiet.emplace_back("-q");
  const std::string start = run_tally(quiet, squares(0, 4000)).output;
  const std::string whole = run_tally(quiet, squares(0, 9000)).output;
  Flags with_state = flags;
  with_state.insert(with_state.end(), {"--state", path});
  const CommandResult rest = run_tally(with_state, squares(4000, 9000));
  EXPECT_EQ(rest.exit_code, 0) << rest.error;
  EXPECT_EQ(start + rest.output, whole);
  EXPECT_THAT(rest.error, HasSubstr("the number of false reports is unknown"));
}

TEST(State, OtherOptionsAreRefusedByName) {
  TemporaryDirectory directory;
  const std::string path = directory / "s";
  const std::string secret = directory.write("key", std::string(32, 'x'));
  const auto refused = [&](const Flags& first, const Flags& second, const std::string& named) {
    std::filesystem::remove(path);
    // Not the default memory, whose state would be large.
    const auto in_little = [](Flags flags) {
      const bool in_window = std::find(flags.begin(), flags.end(), "--window") != flags.end();
      const bool sums = std::find(flags.begin(), flags.end(), "--sum") != flags.end();
      if (in_window || sums) flags.insert(flags.end(), {"--memory", "512KiB"});
      return flags;
    };
    EXPECT_LE(run_with_state(in_little(first), "1\ta\t2\n", path).exit_code, 1);
    const std::string before = read_file(path);
    const CommandResult result = run_with_state(in_little(second), "1\ta\t2\n", path);
    EXPECT_EQ(result.exit_code, 2) << named;
    EXPECT_THAT(result.error, AllOf(HasSubstr("--state"), HasSubstr(named))) << named;
    EXPECT_EQ(read_file(path), before);
  };
  refused({"over", "2"}, {"over", "3"}, "with N 2, but now it is 3");
  refused({"over", "2"}, {"over", "2", "--seed", "5"}, "seed");
  refused({"over", "2"}, {"over", "2", "--key-file", secret}, "hash");
  refused({"over", "2"}, {"over", "2", "-f", "2"}, "--fields not given, but now it is 2");
  refused({"over", "2"}, {"over", "2", "-d", ";"}, "--delimiter");
  refused({"over", "2"}, {"over", "2", "--keys", "10"}, "--keys");
  refused({"over", "2"}, {"over", "2", "--memory", "1MiB"}, "--memory");
  refused({"over", "2"}, {"over", "2", "--update", "conservative"}, "--update");
  refused({"over", "2"}, {"over", "2", "--window", "1m"}, "by another command");
  refused({"over", "2"}, {"top", "2"}, "by another command");
  refused({"over", "2", "--window", "1m"}, {"over", "2", "--window", "2m"}, "--window 1m, but now it is 2m");
  refused({"over", "2", "--window", "1m"}, {"over", "2", "--window", "1m", "--slots", "5"}, "--slots");
  refused({"over", "2", "--window", "1m"}, {"over", "2", "--window", "1m", "--time", "1"}, "--time");
  refused({"over", "2", "--sum", "1"}, {"over", "2", "--sum", "3"}, "--sum");
  refused({"top", "2"}, {"top", "2", "--method", "space-saving"}, "--method");
  refused({"top", "2"}, {"top", "2", "--memory", "1MiB"}, "candidates");
  refused({"top", "2", "--window", "1m"}, {"top", "2", "--window", "1h"}, "--window");
  EXPECT_LE(run_with_state({"top", "3"}, "1\ta\t2\n", path).exit_code, 2);
}

TEST(State, KeepsTheSeedThatItWasBegunWith) {
  for (const Flags& flags : std::vector<Flags>{{"over", "2", "--keys", "1000"},
                                               {"over", "9", "--sum", "2", "-f", "1", "--memory", "64KiB"},
                                               {"top", "2", "--memory", "64KiB"}}) {
    TemporaryDirectory directory;
    const auto seed_of_run = [&](const std::string& name, const Flags& more = {}) {
      Flags all = flags;
      all.insert(all.end(), {"--state", directory / name});
      all.insert(all.end(), more.begin(), more.end());
      const KeyReport report = run_for_keys(all, "a\t9\nb\t1\n");
      EXPECT_LE(report.exit_code, 1) << report.error;
      return report.summary["seed"].get<std::uint64_t>();
    };
    const std::uint64_t drawn = seed_of_run("one");
    EXPECT_EQ(seed_of_run("one"), drawn);
    EXPECT_EQ(seed_of_run("one", {"--seed", std::to_string(drawn)}), drawn);
    EXPECT_NE(seed_of_run("two"), drawn);
    EXPECT_EQ(seed_of_run("three", {"--seed", "7"}), 7u);
    EXPECT_EQ(seed_of_run("three"), 7u);
  }
}

TEST(State, KeepsNoSecretOfAKeyedHash) {
  TemporaryDirectory directory;
  for (const Flags& flags :
       std::vector<Flags>{{"over", "2"}, {"over", "2", "--window", "1m"}, {"top", "2"}}) {
    Flags keyed = flags;
    keyed.emplace_back("--keyed");
    const CommandResult result = run_with_state(keyed, "a\n", directory / "s");
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.error, AllOf(HasSubstr("--keyed and --state"), HasSubstr("--key-file")));
  }
  EXPECT_EQ(directory.num_files(), 0u);
}

TEST(State, AKeyedHashGoesOnUnderItsKey) {
  TemporaryDirectory directory;
  const std::string secret = directory.write("key", std::string(32, 'x'));
  for (const Flags& flags :
       std::vector<Flags>{{"over", "2", "--keys", "10", "--key-file", secret},
                          {"over", "2", "--window", "1h", "--memory", "64KiB", "--key-file", secret}}) {
    std::filesystem::remove(directory / "s");
    EXPECT_EQ(run_with_state(flags, "a\n", directory / "s").exit_code, 1);
    EXPECT_EQ(run_with_state(flags, "a\n", directory / "s").output, "a\n");
  }
}

std::string with_checksum(std::string bytes) {
  const std::string_view body(bytes.data(), bytes.size() - 8);
  const std::uint64_t checksum = hash_key(body, 0).low;
  std::memcpy(bytes.data() + bytes.size() - 8, &checksum, 8);
  return bytes;
}

const std::vector<Flags>& small_states() {
  static const std::vector<Flags> flags{
      {"top", "2", one_seed, "--method", "space-saving"},
      {"over", "2", one_seed, "--memory", "4KiB"},
      {"over", "2", one_seed, "--window", "1m", "--slots", "1", "--memory", "8KiB"},
      {"top", "2", one_seed, "--memory", "64KiB"}};
  return flags;
}

TEST(State, WhatWasCutOrDamagedAnywhereIsRefused) {
  for (const Flags& flags : small_states()) {
    TemporaryDirectory directory;
    (void)run_with_state(flags, "a\na\nb\nb\nc\n", directory / "s");
    const std::string good = read_file(directory / "s");
    ASSERT_GT(good.size(), 100u);
    // Every 16th byte of the first state, and about 8 of the others: the fuzzer tries them all.
    const std::size_t step = flags == small_states()[0] ? 16 : good.size() / 8;
    for (std::size_t at = 0; at < good.size(); at += step) {
      std::string flipped = good;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
      for (const std::string& bad : {flipped, good.substr(0, at)}) {
        const CommandResult result = run_with_state(flags, "a\n", directory.write("bad", bad));
        ASSERT_EQ(result.exit_code, 2) << flags[0] << " at " << at;
        ASSERT_THAT(result.error, HasSubstr("bad as a state: "));
        ASSERT_EQ(read_file(directory / "bad"), bad);
      }
    }
    EXPECT_EQ(run_with_state(flags, "a\n", directory.write("bad", good + "x")).exit_code, 2);
  }
}

// Whoever repairs the checksum may get wrong answers, and nothing worse.
TEST(State, DamageUnderARightChecksumIsSurvived) {
  Random random(1);
  for (const Flags& flags : small_states()) {
    TemporaryDirectory directory;
    (void)run_with_state(flags, "a\na\nb\nb\nc\n", directory / "s");
    const std::string good = read_file(directory / "s");
    std::size_t num_refused = 0;
    for (int trial = 0; trial < 24; ++trial) {
      std::string bad = good;
      // Most parameters and lengths stand in the beginning.
      const std::size_t at =
          random.below(trial % 2 == 0 ? bad.size() - 8 : std::min<std::size_t>(700, bad.size() - 8));
      bad[at] = static_cast<char>(random.below(3) == 0 ? 0xff : random.next());
      const CommandResult result =
          run_with_state(flags, "a\nd\n", directory.write("bad", with_checksum(bad)));
      ASSERT_TRUE(result.exit_code >= 0 && result.exit_code <= 2) << flags[0] << " at " << at << result.error;
      num_refused += result.exit_code == 2;
    }
    EXPECT_GT(num_refused, 8u);
  }
}

TEST(State, WhatIsNoFileIsRefused) {
  TemporaryDirectory directory;
  EXPECT_EQ(run_with_state({"over", "2"}, "a\n", "/dev/null").exit_code, 2);
  EXPECT_EQ(run_with_state({"over", "2"}, "a\n", directory / ".").exit_code, 2);
  EXPECT_EQ(run_with_state({"over", "2"}, "a\n", directory / "no/such").exit_code, 2);
  EXPECT_EQ(run_with_state({"over", "2", "--exact"}, "a\n", directory / "s").exit_code, 2);
  EXPECT_EQ(run_with_state({"top", "2", "--exact"}, "a\n", directory / "s").exit_code, 2);
  EXPECT_EQ(directory.num_files(), 0u);
}

}  // namespace
}  // namespace tally::test
