// What may happen to nodes, to their server and to what is on its way between them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "node_fleet.hpp"
#include "random.hpp"
#include "running_nodes.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;

TEST_F(Node, ThatIsKilledAndStartsWithOtherKeysIsFollowed) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b");
  auto c = std::make_unique<NodeProcess>(redis, "c");
  c->add_keys(0, 500);
  ASSERT_TRUE(converge({&a, &b, c.get()}));
  c->command().send(SIGKILL);
  EXPECT_EQ(a.num_missed("c", 0, 500), 0);  // what was last heard stays
  c = std::make_unique<NodeProcess>(redis, "c");
  c->add_keys(1000, 1500);
  ASSERT_TRUE(converge({&a, &b, c.get()}));
  for (NodeProcess* node : {&a, &b}) {
    EXPECT_EQ(node->num_missed("c", 1000, 1500), 0);
    EXPECT_LT(node->num_named("c", 0, 500), 25);
  }
}

TEST_F(Node, ThatStartsWithItsClockSetBackIsFollowed) {
  const RunningRedis redis;
  NodeProcess b(redis, "b");
  auto a = std::make_unique<NodeProcess>(redis, "a", Flags{"--epoch", "1000000"});
  a->add_keys(0, 500);
  ASSERT_TRUE(converge({a.get(), &b}));
  a->command().send(SIGKILL);
  (void)a->command().wait();
  a = std::make_unique<NodeProcess>(redis, "a", Flags{"--epoch", "7"});
  a->add_keys(1000, 1500);
  ASSERT_TRUE(converge({a.get(), &b}));
  EXPECT_GT(a->status().at("epoch"), 1000000);
  EXPECT_EQ(b.num_missed("a", 1000, 1500), 0);
  EXPECT_LT(b.num_named("a", 0, 500), 25);
}

TEST_F(Node, OutlivesTheServer) {
  RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b"), c(redis, "c");
  const Nodes all{&a, &b, &c};
  a.add_keys(0, 500);
  ASSERT_TRUE(converge(all));
  const std::uint64_t num_lost = c.status().at("num_connections_lost");
  redis.kill_now();
  for (NodeProcess* node : all) ASSERT_TRUE(comes_true([&] { return !node->status().at("is_connected"); }));
  EXPECT_EQ(c.status().at("num_connections_lost"), num_lost + 1) << "attempts that fail do not count";
  EXPECT_EQ(b.num_missed("a", 0, 500), 0);
  a.remove_keys(0, 250);
  b.add_keys(0, 500);
  redis.start();
  ASSERT_TRUE(converge(all));
  EXPECT_EQ(c.num_missed("a", 250, 500), 0);
  EXPECT_EQ(c.num_missed("b", 0, 500), 0);
  EXPECT_LT(b.num_named("a", 0, 250), 20);
  EXPECT_TRUE(c.reports(HasSubstr("trying again")));
  EXPECT_TRUE(c.reports(HasSubstr("connected")));
}

TEST_F(Node, SlowGivesUpAServerThatIsSilent) {
  RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b");
  ASSERT_TRUE(converge({&a, &b}));
  redis.send(SIGSTOP);
  ASSERT_TRUE(comes_true([&] { return !a.status().at("is_connected"); }, std::chrono::seconds(30)));
  EXPECT_TRUE(a.reports(HasSubstr("does not answer")));
  redis.send(SIGCONT);
  a.add_keys(0, 100);
  ASSERT_TRUE(comes_true([&] { return have_converged({&a, &b}); }, std::chrono::seconds(40)));
  EXPECT_EQ(b.num_missed("a", 0, 100), 0);
}

TEST_F(Node, WithoutTheServerWaitsAndDoesNotSpin) {
  RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b");
  ASSERT_TRUE(converge({&a, &b}));
  redis.kill_now();
  ASSERT_TRUE(comes_true([&] { return !a.status().at("is_connected"); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // two heartbeats
  const double before = a.command().processor_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LT(a.command().processor_seconds() - before, 0.2);
}

TEST_F(Node, MayStartBeforeTheServer) {
  RunningRedis redis;
  redis.kill_now();
  NodeProcess a(redis, "a"), b(redis, "b");
  a.add_keys(0, 500);
  EXPECT_FALSE(a.status().at("is_connected"));
  redis.start();
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 500), 0);
}

TEST_F(Node, ThatWasStoppedAndCutOffMissesMessagesAndAsksForThem) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b");
  a.add_keys(0, 500);
  ASSERT_TRUE(converge({&a, &b}));
  const std::uint64_t num_requests = b.status().at("requests_sent");
  const std::uint64_t sequence = a.status().at("sequence");
  b.command().send(SIGSTOP);
  redis.call({"CLIENT", "KILL", "TYPE", "pubsub"});
  for (int i = 500; i < 1000; i += 100) {
    a.add_keys(i, i + 100);
    ASSERT_TRUE(a.wait_for(0));
  }
  EXPECT_GE(a.status().at("sequence"), sequence + 2);
  b.command().send(SIGCONT);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 1000), 0);
  EXPECT_GT(b.status().at("requests_sent"), num_requests);
  EXPECT_GE(a.status().at("copies_stored"), 1);
}

// A message that comes here whole, and one of which the first part is too long already.
TEST_F(Node, OutlivesAMessageThatIsTooLong) {
  for (const std::size_t num_bytes : {100'000, 10'000'000}) {
    const RunningRedis redis;
    NodeProcess a(redis, "a", {"--max-message", "64KiB"}), b(redis, "b", {"--max-message", "64KiB"});
    a.add_keys(0, 500);
    ASSERT_TRUE(converge({&a, &b}));
    const std::uint64_t num_lost = b.status().at("num_connections_lost");
    redis.call({"PUBLISH", "tally:default:summary:noise", std::string(num_bytes, 'x')});
    ASSERT_TRUE(comes_true([&] { return b.status().at("num_connections_lost") > num_lost; })) << num_bytes;
    a.add_keys(500, 600);
    ASSERT_TRUE(converge({&a, &b}));
    EXPECT_EQ(b.num_missed("a", 0, 600), 0);
    EXPECT_TRUE(b.reports(HasSubstr("more than")));
  }
}

TEST_F(Node, ForgetsAPeerThatIsSilent) {
  const RunningRedis redis;
  NodeProcess a(redis, "a", {"--forget", "600ms"}), b(redis, "b");
  b.add_keys(0, 10);
  ASSERT_TRUE(converge({&a, &b}));
  b.command().send(SIGKILL);
  ASSERT_TRUE(comes_true([&] { return a.status().at("peers").empty(); }));
  EXPECT_TRUE(a.who_may_have(key_of("b", 1)).empty());
  EXPECT_TRUE(a.reports(HasSubstr("forgot 'b', which was silent for 600ms")));
}

// Three nodes hold keys that stay, and keys that come and go. Whatever is killed or cut off: they converge,
// and until then a node that was not killed goes on to name the others' keys that stay.
TEST_F(Node, ConvergesAfterAnythingAndIsAtMostStaleUntilThen) {
  constexpr int num_nodes = 3, num_staying = 200, num_rounds = 24;
  RunningRedis redis;
  Random random(1);
  const auto add_staying = [](NodeProcess& node) { node.add_keys(0, num_staying); };
  NodeFleet fleet(redis, num_nodes);
  for (NodeProcess* node : fleet.all()) add_staying(*node);
  std::vector<int> next_key(num_nodes, 1000);
  std::vector<std::vector<std::pair<int, int>>> held(num_nodes, {{0, num_staying}});  // ranges of keys
  const auto change = [&] {
    for (std::size_t i = 0; i < num_nodes; ++i) {
      const int first = next_key[i];
      next_key[i] = first + 1 + static_cast<int>(random.below(30));
      fleet[i].add_keys(first, next_key[i]);
      if (random.below(2) == 0) {
        fleet[i].remove_keys(first, next_key[i]);
      } else {
        held[i].emplace_back(first, next_key[i]);
      }
    }
  };
  ASSERT_TRUE(converge(fleet.all()));
  for (int round = 0; round < num_rounds; ++round) {
    change();
    const std::size_t victim = random.below(num_nodes);
    const std::uint64_t event = random.below(6);
    std::optional<std::size_t> reborn;
    if (event == 0) {
      fleet[victim].command().send(SIGKILL);
      if (random.below(2) == 0) (void)fleet[victim].command().wait();
      add_staying(fleet.replace(victim, redis));
      next_key[victim] = 1000;
      held[victim] = {{0, num_staying}};
      reborn = victim;
    } else if (event == 1) {
      redis.kill_now();
      change();
      redis.start();
    } else if (event == 2) {
      redis.call({"CLIENT", "KILL", "TYPE", random.below(2) == 0 ? "pubsub" : "normal"});
    } else if (event == 3) {
      fleet[victim].command().send(SIGSTOP);
      redis.call({"CLIENT", "KILL", "TYPE", "pubsub"});
      change();
      fleet[victim].command().send(SIGCONT);
    } else if (event == 4) {
      redis.send(SIGSTOP);
      change();
      redis.send(SIGCONT);
    }
    for (std::size_t i = 0; i < num_nodes; ++i) {
      for (std::size_t j = 0; j < num_nodes; ++j) {
        if (i == j || reborn == i || reborn == j) continue;
        ASSERT_EQ(fleet[i].num_missed(fleet[j].name(), 0, num_staying), 0) << round << ": " << event;
      }
    }
    ASSERT_TRUE(converge(fleet.all())) << round << ": " << event;
    for (std::size_t i = 0; i < num_nodes; ++i) {
      const std::size_t j = (i + 1) % num_nodes;
      for (const auto& [first, last] : held[j]) {
        ASSERT_EQ(fleet[i].num_missed(fleet[j].name(), first, last), 0) << round << ": " << event;
      }
    }
  }
}

}  // namespace
}  // namespace tally::test
