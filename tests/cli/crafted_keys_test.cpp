// Keys that somebody made who knows the seed, and what a stream does who draws its own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "crafted_keys.hpp"
#include "key_report.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using Flags = std::vector<std::string>;

constexpr std::uint64_t seed = 499850701945;
constexpr std::size_t num_crafted = 32;

std::string lines_of(const std::vector<std::string>& keys) {
  std::string lines;
  for (const std::string& key : keys) lines += key + '\n';
  return lines;
}

const std::vector<std::string>& crafted() {
  static const std::vector<std::string> keys = keys_of_one_digest(num_crafted, seed);
  return keys;
}

Flags joined(Flags flags, const Flags& more) {
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

const std::vector<Flags>& streams() {
  static const std::vector<Flags> all{
      {"uniq"},
      {"uniq", "--approximate", "--keys", "100", "-p", "1e-9"},
      {"uniq", "--may-repeat"},
      {"over", "1"},
      {"over", "2", "--keys", "100"},
      {"over", "2", "--window", "1h", "--memory", "64KiB"},
      {"over", "2", "--sum", "1", "-f", "1", "--memory", "64KiB", "--skip-bad"},
      {"top", "5"},
      {"kmers", "-k", "3", "-L", "1"}};
  return all;
}

// Two sequences for kmers, and two lines for the others.
const std::string any_input = ">ACGTC\nACGTC\n";

TEST(CraftedKeys, AreManyOfOneDigestUnderTheirSeedAndUnderNoOther) {
  for (const std::uint64_t their_seed : {seed, std::uint64_t{0}, ~std::uint64_t{0}}) {
    const std::vector<std::string> keys = keys_of_one_digest(num_crafted, their_seed);
    ASSERT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), num_crafted);
    for (const std::string& key : keys) {
      EXPECT_EQ(hash_key(key, their_seed), hash_key(keys[0], their_seed));
      EXPECT_EQ(key == keys[0], hash_key(key, their_seed + 1) == hash_key(keys[0], their_seed + 1));
    }
  }
}

TEST(CraftedKeys, UniqPrintsThemAllUnlessItIsToldTheirSeed) {
  const std::string input = lines_of(crafted());
  for (const Flags& flags : std::vector<Flags>{{"uniq"},
                                               {"uniq", "--keyed"},
                                               {"uniq", "--may-repeat"},
                                               {"uniq", "-a", "--keys", "100", "-p", "1e-9"}}) {
    EXPECT_EQ(run_tally(joined(flags, {"-q"}), input).output, input) << flags.back();
    if (flags.back() == "--keyed") continue;
    const CommandResult told = run_tally(joined(flags, {"--seed", std::to_string(seed)}), input);
    EXPECT_EQ(told.output, crafted()[0] + '\n');
    EXPECT_THAT(told.error, HasSubstr("unless keys are chosen against the seed"));
  }
  EXPECT_THAT(run_tally({"uniq", "--keyed"}, input).error,
              AllOf(HasSubstr("exact, except with probability 2^-96 for any two keys; "),
                    Not(HasSubstr("chosen against"))));
}

TEST(CraftedKeys, OverCountsTheBytesOfKeysBesideTheirDigests) {
  for (const Flags& how : std::vector<Flags>{{}, {"--keys", "1000"}, {"--memory", "64KiB"}}) {
    const Flags told = joined({"--exact", "--seed", std::to_string(seed)}, how);
    // No line comes twice, and all have one digest.
    const KeyReport once = run_for_keys(joined({"over", "20"}, told), lines_of(crafted()));
    EXPECT_EQ(once.summary["exact"]["num_distinct_keys"], num_crafted);
    EXPECT_EQ(once.summary["exact"]["num_keys_over_threshold"], 0);
    EXPECT_EQ(once.summary["exact"]["num_false_reports"], 1);
    EXPECT_THAT(once.error,
                AllOf(HasSubstr("1 falsely"), HasSubstr("unless keys are chosen against the seed")));
    // Two lines come 1000 times each, and one of them is taken for the other.
    std::string often;
    for (int i = 0; i < 1000; ++i) often += crafted()[0] + '\n' + crafted()[1] + '\n';
    const KeyReport twice = run_for_keys(joined({"over", "500"}, told), often);
    EXPECT_EQ(twice.keys.size() + twice.summary["exact"]["num_missed"].get<std::size_t>(), 2U);
    EXPECT_EQ(twice.summary["exact"]["num_missed"], 1);
    EXPECT_THAT(twice.error, HasSubstr("1 of them missed"));
    // Under a seed of its own it errs in nothing.
    const KeyReport own = run_for_keys(joined({"over", "500", "--exact"}, how), often);
    EXPECT_EQ(own.keys.size(), 2U);
    EXPECT_EQ(own.summary["exact"]["num_missed"], 0);
  }
}

TEST(CraftedKeys, TopCountsTheBytesOfKeysBesideTheirDigests) {
  const Flags told{"top", "--exact", "--seed", std::to_string(seed)};
  const KeyReport report = run_for_keys(told, lines_of(crafted()));
  EXPECT_EQ(report.summary["exact"]["num_distinct_keys"], num_crafted);
  EXPECT_EQ(report.summary["exact"]["num_outside_bounds"], 1);
  EXPECT_EQ(report.summary["exact"]["greatest_overcount"], num_crafted - 1);
  const KeyReport own = run_for_keys({"top", "100", "--exact"}, lines_of(crafted()));
  EXPECT_EQ(own.keys.size(), num_crafted);
  EXPECT_EQ(own.summary["exact"]["num_outside_bounds"], 0);
}

TEST(CraftedKeys, EveryStreamDrawsItsSeedAndSaysIt) {
  for (const Flags& stream : streams()) {
    const auto summary = [&](const Flags& flags) {
      const KeyReport report = run_for_keys(joined(stream, flags), any_input);
      EXPECT_LE(report.exit_code, 1) << report.error;
      EXPECT_THAT(report.error,
                  HasSubstr(report.summary.contains("seed") ? "seed " + report.summary["seed"].dump()
                                                            : std::string("keyed hash")));
      return report.summary;
    };
    const auto first = summary({});
    EXPECT_EQ(first["hash"], "xxh3-128");
    EXPECT_NE(first["seed"], summary({})["seed"]) << stream[0];
    EXPECT_EQ(summary({"--seed", first["seed"].dump()})["seed"], first["seed"]);
    const auto keyed = summary({"--keyed"});
    EXPECT_EQ(keyed["hash"], "highwayhash-128");
    EXPECT_FALSE(keyed.contains("seed"));
    EXPECT_NE(keyed["key_id"], summary({"--keyed"})["key_id"]);
  }
}

TEST(CraftedKeys, KeyedIsRefusedWhereItsSecretWouldBeNeededAgain) {
  TemporaryDirectory directory;
  const std::string secret = directory.write("secret", std::string(32, 's'));
  const auto refused = [&](const Flags& arguments, const std::string& named) {
    const CommandResult result = run_tally(arguments, any_input);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.output, IsEmpty());
    EXPECT_THAT(result.error,
                AllOf(StartsWith("tally " + arguments[0] + ": "), HasSubstr("--keyed"), HasSubstr(named)));
  };
  for (const Flags& stream : streams()) {
    refused(joined(stream, {"--keyed", "--seed", "1"}), "--seed");
    refused(joined(stream, {"--keyed", "--key-file", secret}), "--key-file");
  }
  refused({"kmers", "-k", "3", "-s", "10", "--keyed", "-o", directory / "x"}, "--key-file");
  EXPECT_EQ(directory.num_files(), 1U);
}

TEST(CraftedKeys, AFilterOfKmersKeepsTheSeedUnderWhichFiltersMerge) {
  TemporaryDirectory directory;
  for (const char* name : {"a", "b"})
    EXPECT_EQ(run_tally({"kmers", "-q", "-k", "3", "-s", "10", "-o", directory / name}, any_input).exit_code,
              0);
  EXPECT_EQ(read_file(directory / "a"), read_file(directory / "b"));
  EXPECT_THAT(run_tally({"info", directory / "a"}).output, HasSubstr("seed " + std::to_string(seed)));
}

}  // namespace
}  // namespace tally::test
