// Commands with --store on a cluster, against exact counts; and what script/cluster prints.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "running_cluster.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;

class ClusterCommands : public testing::Test {
 protected:
  CommandResult run(std::vector<std::string> words, const std::string& store, std::string_view input) {
    words.insert(words.begin() + 1, {"--store", cluster_.url(store)});
    return run_tally(std::move(words), input);
  }

  RunningCluster cluster_;
};

std::string numbered(const std::string& prefix, int first, int last) {
  std::string lines;
  for (int i = first; i < last; ++i) lines += prefix + std::to_string(i) + "\n";
  return lines;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST_F(ClusterCommands, AFilterHasWhatAllRunsHaveAddedAndNotWhatTheyHaveRemoved) {
  const CommandResult built =
      run({"build", "--kind", "dleft", "-n", "50k", "--seed", "1"}, "carts", numbered("k", 0, 20'000));
  ASSERT_EQ(built.exit_code, 0) << built.error;
  EXPECT_THAT(built.error, HasSubstr("made the store 'carts': 12 shards, each planned for "));
  EXPECT_THAT(built.error, HasSubstr("20000 lines in "));
  const CommandResult again = run({"build", "-n", "50k"}, "carts", "");
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.error,
              HasSubstr("--store: 'carts' exists; add to it with 'tally add --store', or give another name"));
  ASSERT_EQ(run({"add"}, "carts", numbered("k", 10'000, 30'000)).exit_code, 0);
  const CommandResult removed = run({"remove"}, "carts", numbered("k", 0, 5'000));
  EXPECT_EQ(removed.exit_code, 0) << removed.error;
  EXPECT_THAT(removed.error, HasSubstr("removed 5000 keys"));

  // 5000 are gone, 5000 are there once, 10,000 twice, and 10,000 once.
  const std::string there = numbered("k", 5'000, 30'000);
  EXPECT_EQ(run({"query"}, "carts", there).output, there);
  const CommandResult absent =
      run({"query", "-c"}, "carts", numbered("k", 0, 5'000) + numbered("x", 0, 45'000));
  // 1% for 50,000 keys, of which half are there.
  EXPECT_LT(std::stod(absent.output), 50'000 * 0.01 * 25 / 50 + 60);
  EXPECT_GT(std::stod(absent.output), 50);
  std::map<std::string, int> sums;
  for (const std::string& line : lines_of(run({"count"}, "carts", there).output)) {
    const std::size_t tab = line.find('\t');
    const int number = std::stoi(line.substr(tab + 2));
    const int count = std::stoi(line.substr(0, tab));
    EXPECT_GE(count, number >= 10'000 && number < 20'000 ? 2 : 1) << line;
    ++sums["all"];
    sums["too high"] += count > (number >= 10'000 && number < 20'000 ? 2 : 1) ? 1 : 0;
  }
  EXPECT_EQ(sums["all"], 25'000);
  EXPECT_LT(sums["too high"], 25'000 * 0.01);

  const CommandResult refused = run({"remove"}, "carts", numbered("y", 0, 1'000));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.error, HasSubstr("that are certainly not in the store"));
}

TEST_F(ClusterCommands, AFullFilterSaysHowManyKeysItRefused) {
  const CommandResult built =
      run({"build", "--kind", "compact-dleft", "--unique-keys", "-n", "2k", "--shards", "3"}, "small",
          numbered("k", 0, 9'000));
  EXPECT_EQ(built.exit_code, 2);
  EXPECT_THAT(built.error,
              HasSubstr("keys were refused and are not in the store: it is full; make one with more --keys"));
}

TEST_F(ClusterCommands, UniqPrintsEachKeyOnceOverAllRuns) {
  EXPECT_EQ(run({"uniq"}, "seen", numbered("k", 0, 3'000) + numbered("k", 0, 3'000)).output,
            numbered("k", 0, 3'000));
  EXPECT_EQ(run({"uniq"}, "seen", numbered("k", 1'000, 70'000)).output, numbered("k", 3'000, 70'000));
  EXPECT_EQ(run({"uniq", "-z"}, "seen", std::string("k1\0new\0", 7)).output, std::string("new\0", 4));
  EXPECT_EQ(run({"uniq", "--json", "-q"}, "seen", "newer\n").output.substr(0, 16), "{\"key\":\"newer\"}\n");
}

TEST_F(ClusterCommands, TopIsThatOfAllRuns) {
  std::mt19937_64 random(7);
  std::map<std::string, std::uint64_t> counts;
  std::vector<std::string> inputs(3);
  for (std::string& input : inputs) {
    for (int i = 0; i < 60'000; ++i) {
      const double exponent = std::uniform_real_distribution<double>(0, std::log(50'000.0))(random);
      const std::string key = "k" + std::to_string(static_cast<int>(std::exp(exponent)));
      ++counts[key];
      input += key + "\n";
    }
  }
  std::string output;
  for (const std::string& input : inputs) output = run({"top", "20"}, "events", input).output;
  std::vector<std::pair<std::uint64_t, std::string>> expected;
  for (const auto& [key, count] : counts) expected.emplace_back(count, key);
  std::ranges::sort(expected, [](const auto& a, const auto& b) { return a.first > b.first; });
  const std::vector<std::string> printed = lines_of(output);
  ASSERT_EQ(printed.size(), 20U);
  for (std::size_t i = 0; i < 10; ++i) {  // far enough apart
    EXPECT_EQ(printed[i], std::to_string(expected[i].first) + "\t" + expected[i].second);
  }
}

TEST_F(ClusterCommands, TopAsksForNoMoreKeysThanTheStoreHas) {
  ASSERT_EQ(run({"top", "5", "--error", "10%", "--shards", "3"}, "few", "a\n").exit_code, 0);
  const CommandResult result = run({"top", "200"}, "few", "a\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error,
              HasSubstr("K: 'few' has the 100 most frequent keys of each shard; give at most that many"));
}

TEST_F(ClusterCommands, AWindowCountsWhatAllRunsSawLately) {
  EXPECT_EQ(run({"over", "3", "--window", "1h"}, "recent", "a\na\nb\n").output, "");
  EXPECT_EQ(run({"over", "3", "--window", "1h"}, "recent", "a\nb\n").output, "a\n");
  const CommandResult other = run({"over", "3", "--window", "2h"}, "recent", "a\n");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.error,
              HasSubstr("'recent' was made with --window 1h, but now it is 2h; give the same value"));
}

TEST_F(ClusterCommands, TheExampleKnowsWhatTheCommandHasCounted) {
  const CommandResult first = run_program({TALLY_SEEN_BEFORE, cluster_.url("lines")}, "a\nb\na\n");
  EXPECT_EQ(first.output, "a: new\nb: new\na: seen before\n") << first.error;
  EXPECT_EQ(run({"uniq", "-q"}, "lines", "b\nc\n").output, "c\n");
  EXPECT_EQ(run_program({TALLY_SEEN_BEFORE, cluster_.url("lines")}, "c\nd\n").output,
            "c: seen before\nd: new\n");
}

TEST_F(ClusterCommands, AUserNeedsNoPermissionsButThoseOfThePage) {
  for (const int port : cluster_.ports()) {
    EXPECT_EQ(cluster_.call(port, {"acl", "setuser", "writer", "on", ">se:cret", "~hits", "~hits:*",
                                   "+cluster|slots", "+get", "+set", "+wait", "+asking", "+tally.overcreate",
                                   "+tally.batch", "+tally.endwriter"}),
              "OK\n");
  }
  const TemporaryDirectory directory;
  const std::string host = "127.0.0.1:" + std::to_string(cluster_.ports()[1]);
  const std::string password_file = directory.write("password", "se:cret\n");
  const auto count = [&](const std::string& url, std::vector<std::string> more) {
    std::vector<std::string> words{"over", "2", "--store", url, "--patience", "20s"};
    words.insert(words.end(), more.begin(), more.end());
    return run_tally(words, "a\nb\na\n");
  };
  const CommandResult first = count("redis://writer:se%3Acret@" + host + "/hits", {"--wait", "1"});
  EXPECT_EQ(first.output, "a\n") << first.error;
  const CommandResult second = count("redis://writer:@" + host + "/hits", {"--password-file", password_file});
  EXPECT_EQ(second.exit_code, 0) << second.error;
  const CommandResult wrong = count("redis://writer:guess@" + host + "/hits", {});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.error, HasSubstr("Redis at " + host + ": WRONGPASS"));
  EXPECT_EQ(wrong.error.find("guess"), std::string::npos);
  const CommandResult other = count("redis://writer:se%3Acret@" + host + "/others", {});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.error, HasSubstr("the store 'others': NOPERM"));
}

TEST_F(ClusterCommands, TheShardsAreAtAllMasters) {
  ASSERT_EQ(run({"build", "-n", "1M"}, "spread", "a\n").exit_code, 0);
  for (std::size_t i = 0; i < 3; ++i) {
    const int num_keys = std::stoi(cluster_.call(cluster_.ports()[i], {"dbsize"}));
    EXPECT_GE(num_keys, 3) << "of 12 at master " << i;
    EXPECT_LE(num_keys, 6);  // and the description
  }
  EXPECT_THAT(cluster_.call(cluster_.ports()[0], {"-c", "get", "spread"}),
              HasSubstr("tally-store 1\nkind filter\nshards 12\n"));
}

TEST(ClusterScript, ThePrintedCommandsWork) {
  RunningCommand script({TALLY_SOURCE_DIR "/script/cluster", "--build-dir", TALLY_BUILD_DIR});
  std::string commands;
  for (std::string line; line.find("Press Enter") == std::string::npos;) {
    line = script.read_line(120'000);
    ASSERT_FALSE(line.empty()) << commands;
    if (line.starts_with("  ")) commands += line;
  }
  ASSERT_EQ(std::ranges::count(commands, '\n'), 4) << commands;  // PATH, and three
  const CommandResult result = run_program({"sh", "-eu", "-c", commands});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(result.output.starts_with("a\n")) << result.output;
  EXPECT_TRUE(result.output.ends_with("1000\tlogin\n")) << result.output;
  script.write("\n");
  EXPECT_EQ(script.wait().exit_code, 0);
}

TEST(ClusterScript, WrongOptionsAreRefused) {
  const auto error_of = [](std::vector<std::string> words) {
    words.insert(words.begin(), TALLY_SOURCE_DIR "/script/cluster");
    const CommandResult result = run_program(words);
    EXPECT_EQ(result.exit_code, 2);
    return result.error;
  };
  EXPECT_EQ(error_of({"--colour"}), "cluster: unknown option --colour; see --help\n");
  EXPECT_EQ(error_of({"--first-port"}), "cluster: --first-port has no value; see --help\n");
  EXPECT_EQ(error_of({"--first-port", "x"}), "cluster: 'x' is not a number from 1 to 99999\n");
  EXPECT_THAT(error_of({"--first-port", "60000"}), HasSubstr("must be at most 54000"));
}

}  // namespace
}  // namespace tally::test
