// What full copies cost: each is written once, and read by whoever needs it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>

#include "command_runner.hpp"
#include "http.hpp"
#include "node_fleet.hpp"
#include "running_nodes.hpp"

namespace tally::test {
namespace {

constexpr int num_keys = 20'000;  // 24,000 bytes, and 19,200 in the copy of a full directory
const Flags large{"--keys", "20000"};

NodeFleet full_fleet(const RunningRedis& redis, int num_nodes) {
  NodeFleet fleet(redis, num_nodes, large);
  for (NodeProcess* node : fleet.all()) node->add_keys(0, num_keys);
  return fleet;
}

/// The bytes of full copies that a node has received, by its metrics.
double bytes_of_copies(const std::string& api_socket) {
  const LoopbackSocket client(connect_to_redis(api_socket));
  client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  std::istringstream lines(client.receive());
  double sum = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("tally_node_peer_received_bytes_total{") &&
        line.find("kind=\"full\"") != std::string::npos)
      sum += std::stod(line.substr(line.find('}') + 1));
  }
  return sum;
}

std::uint64_t copy_bytes(NodeProcess& node) {
  return node.status().at("peers").at(0).at("num_bytes").get<std::uint64_t>();
}

TEST_F(Node, ThatJoinsCostsTheCopiesThatItNeedsOnce) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  const NodeFleet fleet = full_fleet(redis, 8);
  ASSERT_TRUE(converge(fleet.all()));
  const double all_copies = 8.0 * static_cast<double>(copy_bytes(fleet[0]));
  // Everybody has other keys than those of the copy that is kept.
  for (NodeProcess* node : fleet.all()) node->add_keys(num_keys, num_keys + 10);
  ASSERT_TRUE(converge(fleet.all()));
  const std::uint64_t stored_before = fleet.sum("copies_stored");
  const std::uint64_t fetched_before = fleet.sum("copies_fetched");
  const std::string api_socket = directory / "joiner.sock";
  NodeProcess joiner(redis, "joiner", {"--keys", "20000", "--api-socket", api_socket});
  Nodes all = fleet.all();
  all.push_back(&joiner);
  ASSERT_TRUE(converge(all));
  EXPECT_EQ(joiner.status().at("copies_fetched"), 8);
  EXPECT_GT(bytes_of_copies(api_socket), all_copies);
  EXPECT_LT(bytes_of_copies(api_socket), 1.1 * all_copies);
  EXPECT_LE(fleet.sum("copies_stored") - stored_before, 8u);
  // Each of the others fetches the copy of the joiner, and no more.
  EXPECT_LE(fleet.sum("copies_fetched") - fetched_before, 8u);
  EXPECT_EQ(joiner.num_missed("n3", 0, 500), 0);
}

TEST_F(Node, OfManyThatStartAtOnceStoresAtMostOneCopyPerVersion) {
  const RunningRedis redis;
  const NodeFleet fleet = full_fleet(redis, 8);
  ASSERT_TRUE(converge(fleet.all()));
  const std::uint64_t num_pairs = 8 * 7;
  // While they load their keys, each makes a few versions.
  const std::uint64_t num_stored = fleet.sum("copies_stored");
  const std::uint64_t num_fetched = fleet.sum("copies_fetched");
  const std::uint64_t num_versions = fleet.sum("versions_sent");
  // The first copy, which is empty, is one more; so is that after a lost connection.
  EXPECT_LE(num_stored, num_versions + 8 + fleet.sum("num_connections_lost"));
  EXPECT_LE(num_fetched, 7 * num_stored);
  EXPECT_GE(num_fetched, num_pairs);
}

// Here the test is the publisher, which answers nothing: what came before the copy is not lost.
TEST_F(Node, AppliesDeltasThatCameWhileItLackedTheCopy) {
  const RunningRedis redis;
  NodeProcess a(redis, "a");
  ASSERT_TRUE(a.wait_for(0));
  Forger x = forger_of("x", 5);
  redis.call({"SET", "tally:default:copy:x", text_of(x.publish())});
  const SummaryLayout layout = x.layout();
  const auto announcement = [&](std::uint64_t sequence, std::uint64_t digest) {
    return stored_message({"x", {5, sequence}, digest, summary_time_now()}, layout);
  };
  const auto first = announcement(1, read_summary_message(x.full()).digest);
  for (const char* key : {"k2", "k3", "k4"}) {
    (void)x.insert(std::string_view(key));
    publish_as(redis, "x", x.publish());
  }
  EXPECT_EQ(a.status().at("peers").size(), 0u);
  publish_as(redis, "x", first);
  ASSERT_TRUE(comes_true([&] { return a.who_may_have("k4").contains("x"); }));
  for (const char* key : {"forged", "k2", "k3"}) EXPECT_TRUE(a.who_may_have(key).contains("x")) << key;
  const Json peer = a.status().at("peers").at(0);
  EXPECT_EQ(peer.at("sequence"), 4);
  EXPECT_TRUE(peer.at("is_current"));
  EXPECT_EQ(a.status().at("copies_fetched"), 1);

  // After a gap, the copy that is there does not lead to what is newest: it is not fetched again.
  (void)x.insert(std::string_view("k5"));
  (void)x.publish();
  (void)x.insert(std::string_view("k6"));
  publish_as(redis, "x", x.publish());
  publish_as(redis, "x", first);
  ASSERT_TRUE(comes_true([&] { return a.status().at("requests_sent") >= 1; }));
  EXPECT_EQ(a.status().at("copies_fetched"), 1);
  EXPECT_TRUE(a.who_may_have("k4").contains("x"));
}

// What a server does that lacks memory, or that somebody flushes.
TEST_F(Node, WhoseCopyTheServerHasLostStoresItAgain) {
  const RunningRedis redis;
  NodeProcess a(redis, "a", large);
  a.add_keys(0, 1000);
  ASSERT_TRUE(a.wait_for(0));
  ASSERT_TRUE(comes_true([&] { return redis.call({"EXISTS", "tally:default:copy:a"}) == ":1\r\n"; }));
  redis.call({"FLUSHALL"});
  NodeProcess b(redis, "b", large);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 1000), 0);
}

TEST_F(Node, LeavesNoCopyOnTheServerForLong) {
  const RunningRedis redis;
  NodeProcess a(redis, "a", large);
  a.add_keys(0, 1000);
  ASSERT_TRUE(a.wait_for(0));
  ASSERT_TRUE(comes_true([&] { return redis.call({"EXISTS", "tally:default:copy:a"}) == ":1\r\n"; }));
  const std::string seconds = redis.call({"TTL", "tally:default:copy:a"});
  EXPECT_GT(std::stoi(seconds.substr(1)), 60);
  EXPECT_LE(std::stoi(seconds.substr(1)), 120);
}

}  // namespace
}  // namespace tally::test
