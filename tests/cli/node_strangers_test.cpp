// What a node takes from those whom it does not know: garbage, forgeries and floods.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "running_nodes.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;

TEST_F(Node, RefusesWhatIsNoMessageAndSaysSoOnce) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b");
  NodeProcess stranger(redis, "stranger", {"--seed", "99"});
  stranger.add_keys(0, 10);
  a.add_keys(0, 500);
  ASSERT_TRUE(converge({&a, &b}));
  const std::string huge(100'000, '\xff');
  for (int i = 0; i < 50; ++i) {
    redis.call({"PUBLISH", "tally:default:summary:noise", "garbage"});
    redis.call({"PUBLISH", "tally:default:summary:noise", huge});
    redis.call({"PUBLISH", "tally:default:summary:", ""});
    redis.call({"PUBLISH", "tally:default:summary:a", huge});
    redis.call({"PUBLISH", "tally:default:summary:two words", "garbage"});
    redis.call({"PUBLISH", "tally:default:request:a", "garbage"});
  }
  ASSERT_TRUE(comes_true([&] { return b.status().at("messages_refused") >= 250 + 1; }));
  ASSERT_TRUE(comes_true([&] { return a.status().at("messages_refused") >= 300 + 1; }));
  a.add_keys(500, 600);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 600), 0);
  EXPECT_TRUE(b.who_may_have(key_of("stranger", 1)).empty());
  EXPECT_EQ(b.status().at("peers").size(), 1);

  b.command().close_input();
  const CommandResult result = b.command().wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.error, HasSubstr("'stranger': seed is 99 there and 499850701945 here"));
  EXPECT_LT(std::count(result.error.begin(), result.error.end(), '\n'), 10) << result.error;
}

TEST_F(Node, TakesNoMessageFromTheChannelOfAnother) {
  const RunningRedis redis;
  NodeProcess a(redis, "a");
  const auto message = forger_of("honest", 5).publish();
  ASSERT_TRUE(a.wait_for(0));
  publish_as(redis, "other", message);
  ASSERT_TRUE(comes_true([&] { return a.status().at("messages_refused") == 1; }));
  EXPECT_TRUE(a.who_may_have("forged").empty());
  publish_as(redis, "honest", message);
  ASSERT_TRUE(comes_true([&] { return a.who_may_have("forged") == std::set<std::string>{"honest"}; }));
}

// A forger's, or one of a clock that was set centuries ahead: no later one can be begun.
TEST_F(Node, ThatIsSaidToHaveAnEpochBeyondAllOthersIsFollowedAgain) {
  const RunningRedis redis;
  NodeProcess b(redis, "b");
  ASSERT_TRUE(b.wait_for(0));
  publish_as(redis, "a", forger_of("a", ~std::uint64_t{0} - 1).publish());
  ASSERT_TRUE(comes_true([&] { return b.who_may_have("forged").contains("a"); }));
  NodeProcess a(redis, "a");
  a.add_keys(0, 100);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 100), 0);
  EXPECT_TRUE(b.who_may_have("forged").empty());
}

TEST_F(Node, AnswersAFloodOfRequestsOnceAnInterval) {
  const RunningRedis redis;
  NodeProcess a(redis, "a");
  a.add_keys(0, 500);
  ASSERT_TRUE(a.wait_for(0));
  const BloomShape shape{.num_bits = 20'000, .num_hashes = 7};
  const std::string request = text_of(
      request_message({.publisher = "a", .version = {}, .digest = 1, .published_at = summary_time_now()},
                      layout_of(shape, DefaultScheme::file_id, default_seed)));
  const Json before = a.status();
  const auto start = std::chrono::steady_clock::now();
  const auto ask = [&] { redis.call({"PUBLISH", "tally:default:request:a", request}); };
  for (int i = 0; i < 1000; ++i) ask();
  const auto increase = [&](const Json& after, const char* name) {
    return after.at(name).get<std::uint64_t>() - before.at(name).get<std::uint64_t>();
  };
  Json after;
  ASSERT_TRUE(comes_true([&] {
    ask();  // a copy that was on its way may have answered all before
    after = a.status();
    return increase(after, "messages_received") >= 1000 && increase(after, "copies_stored") >= 1;
  }));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_LE(static_cast<double>(increase(after, "copies_stored")), elapsed.count() / 0.05 + 1);
}

// 130 bytes that claim 2.5e8 positions, again and again, of one node and of many.
TEST_F(Node, GivesAMessageOfAFewBytesNoMoreMemoryThanItNeeds) {
  const RunningRedis redis;
  NodeProcess a(redis, "a");
  ASSERT_TRUE(a.wait_for(0));
  constexpr int num_names = 20, num_rounds = 5;
  for (int i = 0; i < num_names; ++i) {
    const std::string name = "n" + std::to_string(i);
    for (int round = 0; round < num_rounds; ++round) {
      // A CountingBloomFilter of that size would take memory here.
      SummaryTable table(
          layout_of(BloomShape{.num_bits = 250'000'000 + static_cast<std::uint64_t>(round), .num_hashes = 7},
                    DefaultScheme::file_id, default_seed));
      table.put(7, 1);
      const auto copy =
          full_message({name, {5, static_cast<std::uint64_t>(round)}, digest_of(table), {}}, table);
      ASSERT_LT(copy.size(), 200u);
      publish_as(redis, name, copy);
    }
  }
  ASSERT_TRUE(comes_true([&] { return a.status().at("messages_received") >= num_names * num_rounds; }));
  const Json status = a.status();
  EXPECT_EQ(status.at("peers").size(), num_names);
  EXPECT_LT(status.at("copies_num_bytes"), 1'000'000);
}

TEST_F(Node, RefusesAShapeThatIsLargerThanItsMemoryAllows) {
  const RunningRedis redis;
  NodeProcess a(redis, "a", {"--max-memory", "100KB"});
  ASSERT_TRUE(a.wait_for(0));
  SummaryTable table(
      layout_of(BloomShape{.num_bits = 1'000'000, .num_hashes = 7}, DefaultScheme::file_id, default_seed));
  table.put(7, 1);
  publish_as(redis, "large", full_message({"large", {5, 1}, digest_of(table), {}}, table));
  ASSERT_TRUE(comes_true([&] { return a.status().at("messages_refused") == 1; }));
  EXPECT_TRUE(a.reports(HasSubstr("must be at most 100000")));
}

TEST_F(Node, GivesNoSlotToAThousandNamesThatSendHeartbeats) {
  const RunningRedis redis;
  NodeProcess a(redis, "a", {"--max-peers", "3"});
  ASSERT_TRUE(a.wait_for(0));
  Forger forger = forger_of("x");
  const SummaryLayout layout = forger.layout();
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "forged" + std::to_string(i);
    publish_as(redis, name, heartbeat_message({name, {5, 1}, 1, summary_time_now()}, layout));
  }
  NodeProcess b(redis, "b"), c(redis, "c");
  b.add_keys(0, 100);
  ASSERT_TRUE(converge({&b, &c}));
  ASSERT_TRUE(
      comes_true([&] { return a.num_missed("b", 0, 100) == 0 && a.status().at("peers").size() == 2; }));
  EXPECT_EQ(a.status().at("messages_refused"), 0);
}

// Full copies are not much harder to forge. Whoever sent one, and is silent since, gives way.
TEST_F(Node, ForgetsSilentStrangersForANewPeer) {
  const RunningRedis redis;
  NodeProcess a(redis, "a", {"--max-peers", "3"}), b(redis, "b");
  b.add_keys(0, 100);
  ASSERT_TRUE(converge({&a, &b}));
  for (const char* name : {"forged1", "forged2"}) publish_as(redis, name, forger_of(name).publish());
  ASSERT_TRUE(comes_true([&] { return a.status().at("peers").size() == 3; }));
  NodeProcess c(redis, "c"), d(redis, "d");
  c.add_keys(0, 100);
  d.add_keys(0, 100);
  ASSERT_TRUE(converge({&b, &c, &d}));
  ASSERT_TRUE(comes_true([&] { return a.num_missed("c", 0, 100) == 0 && a.num_missed("d", 0, 100) == 0; }));
  EXPECT_EQ(a.num_missed("b", 0, 100), 0);
  EXPECT_EQ(a.status().at("strangers_removed"), 2);
}

TEST_F(Node, TakesNoMoreNewPeersASecondThanItMay) {
  const RunningRedis redis;
  NodeProcess a(redis, "a", {"--max-new-peers", "5"});
  ASSERT_TRUE(a.wait_for(0));
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 200; ++i) {
    const std::string name = "forged" + std::to_string(i);
    publish_as(redis, name, forger_of(name).publish());
  }
  ASSERT_TRUE(comes_true([&] { return a.status().at("messages_received") >= 200; }));
  const std::size_t num_peers = a.status().at("peers").size();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_GE(num_peers, 5u);
  EXPECT_LE(static_cast<double>(num_peers), 6 + 5 * elapsed.count());
}

TEST_F(Node, TakesNoMorePeersThanItMay) {
  const RunningRedis redis;
  NodeProcess a(redis, "a", {"--max-peers", "1"}), b(redis, "b"), c(redis, "c");
  ASSERT_TRUE(converge({&b, &c}));
  ASSERT_TRUE(comes_true([&] { return a.status().at("messages_refused") >= 1; }));
  EXPECT_EQ(a.status().at("peers").size(), 1);
  EXPECT_TRUE(a.reports(HasSubstr("max_peers")));
}

}  // namespace
}  // namespace tally::test
