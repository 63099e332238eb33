// Nodes that tell each other what they hold over a real Redis server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "command_runner.hpp"
#include "node_fleet.hpp"
#include "running_nodes.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;

TEST_F(Node, KnowsTheKeysOfTheOthersWithoutAFalseNegative) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b"), c(redis, "c", {"--kind", "dleft"});
  const Nodes all{&a, &b, &c};
  for (NodeProcess* node : all) node->add_keys(0, 1000);
  ASSERT_TRUE(converge(all));
  for (NodeProcess* node : all) {
    for (const NodeProcess* other : all) {
      if (other == node) continue;
      EXPECT_EQ(node->num_missed(other->name(), 0, 1000), 0) << node->name() << " of " << other->name();
      EXPECT_LT(node->num_named(other->name(), 5000, 6000),
                40);  // 10 are expected at full load, here is half of it
    }
  }
}

TEST_F(Node, PublishesRemovalsAndLaterInsertions) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b");
  a.add_keys(0, 1000);
  ASSERT_TRUE(converge({&a, &b}));
  a.remove_keys(0, 500);
  a.add_keys(1000, 1300);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 500, 1300), 0);
  EXPECT_LT(b.num_named("a", 0, 500), 25);
  EXPECT_GT(a.status().at("sequence"), 1);
}

TEST_F(Node, TwentyOfThemFindEachOther) {
  const RunningRedis redis;
  const NodeFleet fleet(redis, 20);
  const Nodes all = fleet.all();
  for (NodeProcess* node : all) node->add_keys(0, 50);
  ASSERT_TRUE(converge(all));
  for (NodeProcess* node : all) EXPECT_EQ(node->num_missed(node->name() == "n7" ? "n8" : "n7", 0, 50), 0);
}

TEST_F(Node, GroupsDoNotHearEachOther) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b"), other(redis, "other", {"--group", "default2"});
  other.add_keys(0, 10);
  ASSERT_TRUE(converge({&a, &b}));
  ASSERT_TRUE(other.wait_for(0));
  ASSERT_TRUE(a.wait_for(1));
  EXPECT_EQ(a.status().at("peers").size(), 1);
  EXPECT_EQ(other.status().at("peers").size(), 0);
}

TEST_F(Node, ConnectsByPortWithAPassword) {
  const RunningRedis redis({"--requirepass", "s3:cr@t"}, true);
  const std::string place = "127.0.0.1:" + std::to_string(redis.port());
  NodeProcess a("redis://default:s3%3acr%40t@" + place, "a"), b("redis://:s3%3Acr%40t@" + place + "/0", "b");
  a.add_keys(0, 100);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 100), 0);

  const TemporaryDirectory directory;
  const std::string password = directory.write("password", "s3:cr@t\n");
  NodeProcess c("redis://default:@" + place, "c", {"--password-file", password});
  ASSERT_TRUE(converge({&a, &b, &c}));
  EXPECT_EQ(c.num_missed("a", 0, 100), 0);

  NodeProcess wrong("redis://:no@" + place, "wrong"), without(place, "without");
  EXPECT_TRUE(wrong.reports(HasSubstr("give --password-file")));
  EXPECT_TRUE(wrong.reports(HasSubstr("WRONGPASS")));
  EXPECT_TRUE(without.reports(HasSubstr("NOAUTH")));
}

TEST_F(Node, NeedsFewPermissions) {
  const RunningRedis redis;
  add_user_of_nodes(redis);
  const TemporaryDirectory directory;
  const std::string password = directory.write("password", "secret\n");
  const std::string address = "unix://tally:@" + redis.socket();
  NodeProcess a(address, "a", {"--password-file", password});
  NodeProcess b(address, "b", {"--password-file", password});
  NodeProcess other(address, "other", {"--password-file", password, "--group", "other"});
  a.add_keys(0, 100);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 100), 0);
  EXPECT_TRUE(other.reports(HasSubstr("NOPERM")));
  redis.call({"ACL", "SETUSER", "tally", "-set"});
  NodeProcess c(address, "c", {"--password-file", password});
  EXPECT_TRUE(c.reports(HasSubstr("the user needs SET, GETRANGE and EXPIRE")));
}

}  // namespace
}  // namespace tally::test
