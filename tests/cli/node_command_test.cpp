// The command of a node: what it reads, answers and refuses, and how it begins and ends.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "command_runner.hpp"
#include "running_nodes.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// With the intervals of the command, as it ends before them.
Flags tally_node(const RunningRedis& redis, const Flags& flags) {
  Flags all{"node", "x", "--redis", "unix://" + redis.socket()};
  all.insert(all.end(), flags.begin(), flags.end());
  return all;
}

TEST_F(Node, PublishesWhatIsPendingBeforeItEnds) {
  const RunningRedis redis;
  NodeProcess a(redis, "a");
  ASSERT_TRUE(a.wait_for(0));
  EXPECT_EQ(
      run_tally(tally_node(redis, {"--interval", "30m", "--share", "99%"}), "+k1\n+k2\n+k3\n-k3").exit_code,
      0);
  ASSERT_TRUE(comes_true([&] { return a.who_may_have("k2").contains("x"); }));
  EXPECT_TRUE(a.who_may_have("k1").contains("x"));
  EXPECT_TRUE(a.who_may_have("k3").empty());
}

TEST_F(Node, BeginsWithAFilterFile) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  NodeProcess b(redis, "b", {"--seed", "5"});
  const std::string dleft = directory / "dleft", counting = directory / "counting", bits = directory / "bits";
  ASSERT_EQ(
      run_tally({"build", "-o", dleft, "--kind", "dleft", "-n", "100", "--seed", "5"}, "k1\nk2\n").exit_code,
      0);
  ASSERT_EQ(
      run_tally({"build", "-o", counting, "--kind", "counting-bloom", "-n", "100", "--seed", "5"}, "k1\nk3\n")
          .exit_code,
      0);
  ASSERT_EQ(run_tally({"build", "-o", bits, "-n", "100"}, "k1\n").exit_code, 0);
  EXPECT_EQ(run_tally(tally_node(redis, {"--load", dleft}), "-k1\n").exit_code, 0);
  ASSERT_TRUE(comes_true([&] { return b.who_may_have("k2").contains("x"); }));
  EXPECT_TRUE(b.who_may_have("k1").empty());
  EXPECT_EQ(run_tally(tally_node(redis, {"--load", counting}), "").exit_code, 0);
  ASSERT_TRUE(comes_true([&] { return b.who_may_have("k3").contains("x") && b.who_may_have("k2").empty(); }));
  const CommandResult result = run_tally(tally_node(redis, {"--load", bits}), "");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("kind bloom"));
}

TEST_F(Node, StaysAfterTheEndOfItsInputWithStay) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b", {"--stay"});
  b.add_keys(0, 10);
  b.command().close_input();
  ASSERT_TRUE(comes_true([&] { return a.num_missed("b", 0, 10) == 0; }));
  b.command().send(SIGTERM);
  const CommandResult result = b.command().wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.error, IsEmpty());
}

TEST_F(Node, EndsAtASignalWhileNobodyReadsItsAnswers) {
  const RunningRedis redis;
  NodeProcess a(redis, "a");
  ASSERT_TRUE(a.wait_for(0));
  std::string questions;
  for (int i = 0; i < 3000; ++i) questions += "?" + key_of("nobody", i) + "\n";
  a.command().write(questions);
  (void)a.answer();  // the others are more than a pipe holds
  int num_signals = 0;
  ASSERT_TRUE(comes_true([&] {
    a.command().send(SIGTERM);
    return ++num_signals == 20;
  }));
  EXPECT_EQ(a.command().wait().exit_code, 128 + SIGTERM);
}

TEST_F(Node, AnswersInLinesWithTabs) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b");
  for (NodeProcess* node : {&a, &b}) node->say("+tab\there");
  ASSERT_TRUE(converge({&a, &b}));
  CommandResult result = run_tally(tally_node(redis, {}), "!wait 2 20s\n?tab\there\n?none\n?\n!status\n");
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_THAT(result.output,
              ::testing::StartsWith("!wait\tdone\t2\ntab\there\ta b\nnone\t\n\t\n!status\tname=x\t"));
  EXPECT_THAT(result.output, HasSubstr("\n!peer\tname=a\t"));
  result = run_tally(tally_node(redis, {"-z"}), std::string("!wait 2 20s\0?tab\there\0", 23));
  EXPECT_EQ(result.output, std::string("!wait\tdone\t2\0tab\there\ta b\0", 26));
  result = run_tally(tally_node(redis, {}), "!wait 2 20s\n!wait 3 100ms\n");
  EXPECT_EQ(result.output, "!wait\tdone\t2\n!wait\tlate\t2\n");
}

TEST_F(Node, SaysWhatItRefused) {
  const RunningRedis redis;
  CommandResult result = run_tally(tally_node(redis, {}), "+a\n-b\n-b\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, HasSubstr("2 insertions and removals were refused"));
  for (const char* line : {"a key", "", "!", "!stop", "!wait x", "!wait 1 2 3", "!wait -1"}) {
    result = run_tally(tally_node(redis, {}), std::string("+a\n") + line + "\n+b\n");
    EXPECT_EQ(result.exit_code, 1) << line;
    EXPECT_THAT(result.error, HasSubstr("line 2: '" + std::string(line) + "' is not a command")) << line;
  }
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "+" + std::to_string(i) + "\n";
  result = run_tally(tally_node(redis, {"--kind", "dleft", "--keys", "100"}), many);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, HasSubstr("the filter is full"));
}

TEST(NodeFlags, AnEndWithoutTheServerIsAnError) {
  const CommandResult result = run_tally(
      {"node", "x", "--redis", "/no/such/socket", "--linger", "100ms", "--api-socket", "none"}, "+a\n+b\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("Redis at /no/such/socket: No such file or directory; trying again"));
  EXPECT_THAT(result.error, HasSubstr("did not accept the last 2 changes before the end"));
}

TEST(NodeFlags, ThatAreWrongAreNamed) {
  const auto error_of = [](const Flags& flags) {
    const CommandResult result = run_tally(flags, "");
    EXPECT_EQ(result.exit_code, 2) << flags.back();
    EXPECT_THAT(result.output, IsEmpty());
    return result.error;
  };
  for (const char* address :
       {"redis://", "redis://:@host", "redis://user@host", "redis://:%4@host", "redis://:%zz@host",
        "host:", "host:0", "host:65536", "host:x", "http://host", "rediss://host", "[::1", "[::1]x",
        "redis://host/3", "unix://relative", "unix://"}) {
    EXPECT_THAT(error_of({"node", "x", "--redis", address}), HasSubstr("; give redis://")) << address;
  }
  EXPECT_THAT(error_of({"node", "x", "--redis", "redis://:secret@host/3"}),
              ::testing::Not(HasSubstr("secret")));
  EXPECT_THAT(error_of({"node", "x", "--redis", "/" + std::string(107, 'a')}),
              HasSubstr("the maximum is 107"));
  EXPECT_THAT(error_of({"node", "x", "--redis", ""}), HasSubstr("--redis: the value is empty"));
  EXPECT_THAT(error_of({"node", "two words"}), HasSubstr("NAME: 'two words' is not a valid name"));
  EXPECT_THAT(error_of({"node", "x", "--group", "a:b"}), HasSubstr("--group: 'a:b' is not a valid name"));
  EXPECT_THAT(error_of({"node", "x", "--keys", "1G"}), HasSubstr("--max-message"));
  EXPECT_THAT(error_of({"node", "x", "--forget", "10s"}), HasSubstr("--forget"));
  EXPECT_THAT(error_of({"node", "x", "--num-positions", "1000"}), HasSubstr("--num-hashes"));
  EXPECT_THAT(error_of({"node", "x", "--epoch", "0"}), HasSubstr("--epoch"));
}

}  // namespace
}  // namespace tally::test
