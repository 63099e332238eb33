// Nodes that choose their server: from a list, or by Redis Sentinel; and nodes that publish at one server and subscribe to another.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fake_redis.hpp"
#include "http.hpp"
#include "node_fleet.hpp"
#include "running_nodes.hpp"
#include "running_sentinels.hpp"
#include "unserved_port.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string list_of(const std::vector<const RunningRedis*>& servers) {
  std::string text = "redis://";
  for (const RunningRedis* server : servers)
    text += (server == servers.front() ? "" : ",") + host_and_port(*server);
  return text;
}

bool uses(NodeProcess& node, const std::string& server) { return node.status().at("redis") == server; }
bool all_use(const Nodes& nodes, const RunningRedis& server) {
  return comes_true([&] {
    return std::ranges::all_of(nodes, [&](NodeProcess* node) { return uses(*node, host_and_port(server)); });
  });
}

/// Connections to another server than before, of each node.
std::vector<std::uint64_t> num_failovers(const Nodes& nodes) {
  std::vector<std::uint64_t> numbers;
  for (NodeProcess* node : nodes) numbers.push_back(node->status().at("num_failovers"));
  return numbers;
}
std::vector<std::uint64_t> more_by(std::vector<std::uint64_t> numbers, std::uint64_t increase) {
  for (std::uint64_t& number : numbers) number += increase;
  return numbers;
}

constexpr std::chrono::seconds enough{30};

/// Keys that each node adds and removes while something happens to its server.
class Load {
 public:
  explicit Load(Nodes nodes) : nodes_(std::move(nodes)) {}

  void run(std::chrono::milliseconds duration) {
    const auto end = std::chrono::steady_clock::now() + duration;
    do step();
    while (std::chrono::steady_clock::now() < end);
  }
  /// Whether the condition comes true.
  bool run_until(const std::function<bool()>& condition, std::chrono::seconds within) {
    return comes_true(
        [&] {
          step();
          return condition();
        },
        within);
  }

  /// Every other node finds all keys that a node holds, and hardly one of those that it has removed last.
  void expect_exact() const {
    for (NodeProcess* asked : nodes_) {
      for (NodeProcess* owner : nodes_) {
        if (asked == owner) continue;
        EXPECT_EQ(asked->num_missed(owner->name(), first_, next_), 0) << owner->name() << asked->name();
        const int num_removed = std::min(first_, 1000);
        EXPECT_LE(asked->num_named(owner->name(), first_ - num_removed, first_), num_removed / 20 + 5)
            << owner->name() << asked->name();
      }
    }
  }

 private:
  // Three new keys, and one old key less; as many less where a node holds the most.
  void step() {
    const int num_removed = next_ - first_ < most_keys ? 1 : 3;
    for (NodeProcess* node : nodes_) {
      node->add_keys(next_, next_ + 3);
      node->remove_keys(first_, first_ + num_removed);
    }
    next_ += 3;
    first_ += num_removed;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

  static constexpr int most_keys = 1600;  // the nodes are planned for 2000
  Nodes nodes_;
  int first_ = 0, next_ = 0;
};

TEST_F(Node, WithAListFollowsToTheNextServerAndBack) {
  RunningRedis first({}, true), second({}, true);
  const NodeFleet fleet(list_of({&first, &second}), 3);
  const Nodes nodes = fleet.all();
  Load load(nodes);
  load.run(std::chrono::milliseconds(200));
  ASSERT_TRUE(all_use(nodes, first));
  const auto failovers_before = num_failovers(nodes);
  first.kill_now();
  load.run(std::chrono::milliseconds(500));
  ASSERT_TRUE(all_use(nodes, second));
  ASSERT_TRUE(converge(nodes));
  load.expect_exact();
  first.start();
  ASSERT_TRUE(load.run_until([&] { return uses(*nodes[0], host_and_port(first)); }, enough));
  ASSERT_TRUE(all_use(nodes, first));
  ASSERT_TRUE(converge(nodes));
  load.expect_exact();
  EXPECT_EQ(num_failovers(nodes), more_by(failovers_before, 2));
  NodeProcess& node = *nodes[0];
  EXPECT_TRUE(node.reports(AllOf(HasSubstr("Redis at " + host_and_port(first)), HasSubstr("trying again"))));
  EXPECT_TRUE(node.reports(HasSubstr(host_and_port(second) + ": connected")));
  EXPECT_TRUE(node.reports(HasSubstr("moving to " + host_and_port(first))));
  EXPECT_TRUE(node.reports(HasSubstr(host_and_port(first) + ": connected")));
}

TEST_F(Node, WithAListPassesOverAReplicaAndFollowsWhenItBecomesThePrimary) {
  RunningRedis primary({}, true);
  RunningRedis replica(replica_of(primary), true);
  ASSERT_TRUE(gets_replica(primary));
  const NodeFleet fleet(list_of({&replica, &primary}), 2);
  const Nodes nodes = fleet.all();
  Load load(nodes);
  load.run(std::chrono::milliseconds(200));
  ASSERT_TRUE(all_use(nodes, primary));
  ASSERT_TRUE(converge(nodes));
  replica.call({"REPLICAOF", "NO", "ONE"});
  primary.call({"REPLICAOF", "127.0.0.1", std::to_string(replica.port())});
  ASSERT_TRUE(load.run_until([&] { return uses(*nodes[0], host_and_port(replica)); }, enough));
  ASSERT_TRUE(all_use(nodes, replica));
  ASSERT_TRUE(converge(nodes));
  load.expect_exact();
}

// Nobody closes the connection, so the node must find out by itself.
TEST_F(Node, WithAListLeavesAServerThatBecomesAReplica) {
  RunningRedis first({}, true), second({}, true);
  const NodeFleet fleet(list_of({&first, &second}), 2);
  const Nodes nodes = fleet.all();
  ASSERT_TRUE(all_use(nodes, first));
  ASSERT_TRUE(converge(nodes));
  first.call({"REPLICAOF", "127.0.0.1", std::to_string(second.port())});
  nodes[0]->add_keys(0, 500);
  ASSERT_TRUE(all_use(nodes, second));
  ASSERT_TRUE(converge(nodes));
  EXPECT_EQ(nodes[1]->num_missed("n0", 0, 500), 0);
}

TEST_F(Node, ReconnectsWhenACopyIsRefusedByAReplica) {
  RunningRedis redis({}, true), other({}, true);
  const std::string address = "redis://" + host_and_port(redis);  // one, so it looks for no other
  NodeProcess a(address, "a");
  ASSERT_TRUE(converge({&a}));
  redis.call({"REPLICAOF", "127.0.0.1", std::to_string(other.port())});
  NodeProcess b(address, "b");  // it owes its first copy
  EXPECT_TRUE(b.reports(HasSubstr("it has become a replica and takes no copies")));
  redis.call({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(converge({&a, &b}));
}

TEST_F(Node, WithAListOutlivesServersThatAreSilentOrRefuse) {
  const LoopbackSocket silent = LoopbackSocket::listening();
  FakeRedis loading([](const FakeRedis::Words&) { return "-LOADING not yet\r\n"; });
  RunningRedis redis({}, true);
  const UnservedPort dead;
  const std::string list = "redis://" + dead.host_and_port() + "," + loading.host_and_port() +
                           ",127.0.0.1:" + std::to_string(silent.port()) + "," + host_and_port(redis);
  const NodeFleet fleet(list, 2);
  const Nodes nodes = fleet.all();
  nodes[0]->add_keys(0, 500);
  ASSERT_TRUE(all_use(nodes, redis));
  ASSERT_TRUE(converge(nodes));
  EXPECT_EQ(nodes[1]->num_missed("n0", 0, 500), 0);
  // Each looks for the earlier ones again and again. When it does so for the second time, the silent one has taken its 5 s.
  const auto num_searches = [&] { return std::ranges::count(loading.commands(), "PING"); };
  const std::uint64_t num_lost = fleet.sum("num_connections_lost");
  const auto searches_before = num_searches();
  ASSERT_TRUE(comes_true([&] { return num_searches() >= searches_before + 2 * 2; }));
  EXPECT_EQ(fleet.sum("num_connections_lost"), num_lost);
  redis.kill_now();
  EXPECT_TRUE(fleet[0].reports(HasSubstr("Redis at " + host_and_port(redis))));
}

TEST_F(Node, WithAListThatNobodyServesSaysWhyOnceAndDoesNotSpin) {
  const UnservedPort first, second;
  const std::string one = first.host_and_port(), other = second.host_and_port();
  NodeProcess node("redis://" + one + "," + other, "a");
  EXPECT_THAT(node.command().read_error_line(),
              HasSubstr("Redis at " + one + "," + other + ": " + one + ": Connection refused; " + other +
                        ": Connection refused; trying again"));
  const double before = node.command().processor_seconds();
  EXPECT_EQ(node.command().read_error_line(700), "");
  EXPECT_LT(node.command().processor_seconds() - before, 0.2);
  EXPECT_EQ(node.status().at("redis"), nullptr);
}

TEST_F(Node, WithAListNeedsNoPermissionToAskForTheRole) {
  RunningRedis redis({}, true);
  add_user_of_nodes(redis);
  const UnservedPort dead;
  const NodeFleet fleet("redis://tally:secret@" + dead.host_and_port() + "," + host_and_port(redis), 2);
  const Nodes nodes = fleet.all();
  ASSERT_TRUE(all_use(nodes, redis));
  EXPECT_TRUE(converge(nodes));
}

TEST_F(Node, FollowsAFailoverOfSentinelUnderLoad) {
  RunningRedis primary({}, true);
  RunningRedis replica(replica_of(primary), true);
  RunningSentinels sentinels(primary, 1);
  const NodeFleet fleet("sentinel://" + sentinels.hosts() + "/tally", 3);
  const Nodes nodes = fleet.all();
  Load load(nodes);
  load.run(std::chrono::milliseconds(300));
  ASSERT_TRUE(all_use(nodes, primary));
  const auto failovers_before = num_failovers(nodes);
  primary.kill_now();
  ASSERT_TRUE(load.run_until([&] { return uses(*nodes[0], host_and_port(replica)); }, enough));
  ASSERT_TRUE(all_use(nodes, replica));
  load.run(std::chrono::milliseconds(300));
  ASSERT_TRUE(converge(nodes));
  load.expect_exact();
  EXPECT_EQ(num_failovers(nodes), more_by(failovers_before, 1));
}

// Sentinel makes it a replica, which takes it 10 s.
TEST_F(Node, SlowDoesNotFollowAnOldPrimaryThatComesBack) {
  RunningRedis primary({}, true);
  RunningRedis replica(replica_of(primary), true);
  RunningSentinels sentinels(primary, 1);
  const NodeFleet fleet("sentinel://" + sentinels.hosts() + "/tally", 2);
  const Nodes nodes = fleet.all();
  ASSERT_TRUE(all_use(nodes, primary));
  const auto failovers_before = num_failovers(nodes);
  primary.kill_now();
  ASSERT_TRUE(all_use(nodes, replica));
  primary.start();
  Load load(nodes);
  ASSERT_TRUE(load.run_until([&] { return has_replica(replica); }, std::chrono::seconds(60)));
  ASSERT_TRUE(converge(nodes));
  load.expect_exact();
  for (NodeProcess* node : nodes) EXPECT_TRUE(uses(*node, host_and_port(replica)));
  EXPECT_EQ(num_failovers(nodes), more_by(failovers_before, 1));
}

TEST_F(Node, FollowsAFailoverWhenASentinelDiesToo) {
  RunningRedis primary({}, true);
  RunningRedis replica(replica_of(primary), true);
  RunningSentinels sentinels(primary, 3);
  const NodeFleet fleet("sentinel://" + sentinels.hosts() + "/tally", 2);
  const Nodes nodes = fleet.all();
  nodes[0]->add_keys(0, 300);
  ASSERT_TRUE(all_use(nodes, primary));
  ASSERT_TRUE(converge(nodes));
  sentinels.kill_now(0);
  primary.kill_now();
  nodes[0]->add_keys(300, 600);
  ASSERT_TRUE(all_use(nodes, replica));
  ASSERT_TRUE(converge(nodes));
  EXPECT_EQ(nodes[1]->num_missed("n0", 0, 600), 0);
}

std::string array_of_two(const std::string& host, const std::string& port) {
  return "*2\r\n$" + std::to_string(host.size()) + "\r\n" + host + "\r\n$" + std::to_string(port.size()) +
         "\r\n" + port + "\r\n";
}

TEST_F(Node, OutlivesWhateverASentinelAnswers) {
  RunningRedis redis({}, true);
  const std::string right = array_of_two("127.0.0.1", std::to_string(redis.port()));
  const LoopbackSocket silent = LoopbackSocket::listening();
  std::vector<FakeRedis::Answer> answers{
      "*-1\r\n",                                                  // no such master
      "-NOAUTH Authentication required.\r\n",                     //
      std::nullopt,                                               // the connection ends
      ":7\r\n",                                                   //
      "*0\r\n",                                                   //
      "*1\r\n$9\r\n127.0.0.1\r\n",                                //
      "*2\r\n*0\r\n:1\r\n",                                       //
      array_of_two("127.0.0.1", "0"),                             //
      array_of_two("127.0.0.1", "99999"),                         //
      array_of_two("127.0.0.1", "12x"),                           //
      array_of_two("", "6379"),                                   //
      array_of_two("a.name.to.look.up", "6379"),                  //
      array_of_two(std::string("127.0.0.1\0.evil", 15), "6379"),  //
      array_of_two(std::string(100'000, '1'), "6379"),            // longer than an answer may be
      "*2147483647\r\n",                                          //
      "$2147483647\r\n" + std::string(200'000, 'x'),              //
      "garbage\r\n",                                              //
      array_of_two("127.0.0.1", std::to_string(silent.port())) + "+more\r\n+than\r\n+asked\r\n",
      right};
  std::vector<std::unique_ptr<FakeRedis>> fakes;
  const UnservedPort dead;
  std::string hosts = dead.host_and_port();
  hosts += ",127.0.0.1:" + std::to_string(silent.port());
  for (const FakeRedis::Answer& answer : answers) {
    fakes.push_back(std::make_unique<FakeRedis>([answer](const FakeRedis::Words&) { return answer; }));
    hosts += "," + fakes.back()->host_and_port();
  }
  NodeProcess a("sentinel://" + hosts + "/tally", "a"), b("redis://" + host_and_port(redis), "b");
  a.add_keys(0, 100);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_TRUE(uses(a, host_and_port(redis)));
  for (const auto& fake : fakes) {
    EXPECT_EQ(fake->commands(), std::vector<std::string>{"SENTINEL GET-MASTER-ADDR-BY-NAME tally"});
  }
  // The next time, the one that answered is asked first, so none of the others costs time.
  const std::uint64_t num_lost = a.status().at("num_connections_lost");
  redis.call({"CLIENT", "KILL", "TYPE", "pubsub"});
  ASSERT_TRUE(comes_true([&] { return a.status().at("num_connections_lost") > num_lost; }));
  a.add_keys(100, 200);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 200), 0);
  EXPECT_GE(fakes.back()->num_commands(), 2U);
  EXPECT_EQ(fakes.front()->num_commands(), 1U);
}

TEST_F(Node, SaysWhichMasterNoSentinelKnows) {
  RunningRedis primary({}, true);
  RunningRedis replica(replica_of(primary), true);
  RunningSentinels sentinels(primary, 1);
  NodeProcess node("sentinel://" + sentinels.hosts() + "/taly", "a");
  EXPECT_THAT(node.command().read_error_line(),
              AllOf(HasSubstr("Redis at taly of the sentinels " + sentinels.hosts()),
                    HasSubstr("this sentinel knows no master 'taly'; trying again")));
  EXPECT_EQ(node.command().read_error_line(500), "");  // once
  EXPECT_FALSE(node.status().at("is_connected"));
  const UnservedPort dead;
  NodeProcess other("sentinel://" + dead.host_and_port() + "/tally", "b");
  EXPECT_TRUE(other.reports(HasSubstr(dead.host_and_port() + ": Connection refused; trying again")));
}

TEST_F(Node, GivesEachServerItsOwnPassword) {
  RunningRedis primary({"--requirepass", "of-redis", "--masterauth", "of-redis"}, true);
  const TemporaryDirectory directory;
  const std::string of_redis = directory.write("redis", "of-redis\n");
  const std::string of_sentinel = directory.write("sentinel", "of-sentinel\n");
  const std::string master = array_of_two("127.0.0.1", std::to_string(primary.port()));
  FakeRedis sentinel([&](const FakeRedis::Words& words) {
    return words[0] == "AUTH"
               ? (words == FakeRedis::Words{"AUTH", "of-sentinel"} ? "+OK\r\n" : "-WRONGPASS\r\n")
               : master;
  });
  const std::string address = "sentinel://default:@" + sentinel.host_and_port() + "/tally";
  NodeProcess node(address, "a", {"--password-file", of_redis, "--sentinel-password-file", of_sentinel});
  EXPECT_TRUE(comes_true([&] { return uses(node, host_and_port(primary)); }));
  EXPECT_EQ(sentinel.commands().front(), "AUTH of-sentinel");
  const std::uint64_t num_before = sentinel.num_commands();
  NodeProcess without(address, "b", {"--password-file", of_redis});
  EXPECT_TRUE(comes_true([&] { return uses(without, host_and_port(primary)); }));
  EXPECT_EQ(sentinel.commands().at(num_before), "SENTINEL GET-MASTER-ADDR-BY-NAME tally");
}

TEST_F(Node, MayPublishAtThePrimaryAndSubscribeToAReplica) {
  RunningRedis primary({}, true);
  RunningRedis replica(replica_of(primary), true);
  ASSERT_TRUE(gets_replica(primary));
  const std::string near = "redis://" + host_and_port(replica), far = "redis://" + host_and_port(primary);
  NodeProcess a(near, "a", {"--publish-redis", far}), b(near, "b", {"--publish-redis", far}), c(far, "c");
  const Nodes nodes{&a, &b, &c};
  for (NodeProcess* node : nodes) node->add_keys(0, 300);
  ASSERT_TRUE(converge(nodes));
  for (NodeProcess* asked : nodes) {
    for (NodeProcess* owner : nodes) {
      if (asked != owner) {
        EXPECT_EQ(asked->num_missed(owner->name(), 0, 300), 0);
      }
    }
  }
  EXPECT_EQ(a.status().at("redis"), host_and_port(replica));
  EXPECT_EQ(a.status().at("publish_redis"), host_and_port(primary));
  for (RunningRedis* server : {&replica, &primary}) {  // without one of the two, it is not connected
    server->kill_now();
    ASSERT_TRUE(comes_true([&] { return !a.status().at("is_connected"); }));
    a.add_keys(300, 400);
    a.remove_keys(300, 400);
    server->start();
    ASSERT_TRUE(converge(nodes));
  }
  EXPECT_EQ(b.num_missed("a", 0, 300), 0);
}

TEST_F(Node, TakesOnlyServersThatItCanUse) {
  const auto refusal = [](const Flags& flags) {
    Flags all{TALLY_COMMAND, "node", "a"};
    all.insert(all.end(), flags.begin(), flags.end());
    const CommandResult result = run_program(all);
    EXPECT_EQ(result.exit_code, 2);
    return result.error;
  };
  EXPECT_THAT(refusal({"--redis", "rediss://host"}), HasSubstr("use stunnel or a TLS proxy"));
  EXPECT_THAT(refusal({"--publish-redis", "rediss://host"}),
              AllOf(HasSubstr("--publish-redis: "), HasSubstr("use stunnel")));
  EXPECT_THAT(refusal({"--redis", "sentinel://:secret@host"}),
              AllOf(HasSubstr("there is no name of a master"), Not(HasSubstr("secret"))));
  EXPECT_THAT(refusal({"--redis", "h", "--sentinel-password-file", "/dev/null"}),
              HasSubstr("--sentinel-password-file is only for sentinel://"));
}

}  // namespace
}  // namespace tally::test
