// What a node counts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "http.hpp"
#include "running_nodes.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;

std::string metrics_at(const std::string& path) {
  const LoopbackSocket client(connect_to_redis(path));
  client.send("GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  return client.receive();
}

TEST_F(Node, CountsOnlyCopiesThatTheServerTook) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  redis.call({"ACL", "SETUSER", "default", "-set"});
  NodeProcess node(redis, "a", {"--api-socket", directory / "a.sock"});
  EXPECT_THAT(node.command().read_error_line(), HasSubstr("the user needs SET"));
  EXPECT_EQ(node.status().at("copies_stored"), 0);
  EXPECT_THAT(metrics_at(directory / "a.sock"), HasSubstr("tally_node_sent_bytes_total{kind=\"full\"} 0\n"));
  redis.call({"ACL", "SETUSER", "default", "+set"});
  EXPECT_TRUE(comes_true([&] { return node.status().at("copies_stored") == 1; }));
  EXPECT_THAT(metrics_at(directory / "a.sock"),
              ::testing::Not(HasSubstr("tally_node_sent_bytes_total{kind=\"full\"} 0\n")));
}

TEST_F(Node, CountsNoMessageOfItsOwnAsReceived) {
  const RunningRedis redis;
  NodeProcess node(redis, "a");
  node.add_keys(0, 10);
  // The server sends these heartbeats to the node, too.
  ASSERT_TRUE(comes_true([&] { return node.status().at("heartbeats_sent") >= 5; }));
  EXPECT_EQ(node.status().at("messages_received"), 0);
  EXPECT_EQ(node.status().at("bytes_received"), 0);
  NodeProcess other(redis, "b");
  EXPECT_TRUE(comes_true([&] { return node.status().at("messages_received") > 0; }));
  EXPECT_GT(node.status().at("bytes_received"), 0);
}

TEST_F(Node, CountsNoMoveToAnotherServerAsALostConnection) {
  RunningRedis first({}, true), second({}, true);
  first.kill_now();
  NodeProcess node(
      "redis://127.0.0.1:" + std::to_string(first.port()) + ",127.0.0.1:" + std::to_string(second.port()),
      "a");
  ASSERT_TRUE(comes_true([&] { return node.status().at("is_connected").get<bool>(); }));
  first.start();
  ASSERT_TRUE(comes_true([&] { return node.status().at("num_failovers") == 1; }));
  EXPECT_EQ(node.status().at("num_connections_lost"), 0);
  first.kill_now();
  EXPECT_TRUE(comes_true([&] { return node.status().at("num_connections_lost") == 1; }));
}

TEST_F(Node, HasTheTotalsOfItsMetricsInItsStatusToo) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  NodeProcess node(redis, "a", {"--api-socket", directory / "a.sock"}), other(redis, "b");
  node.add_keys(0, 10);
  ASSERT_TRUE(converge({&node, &other}));
  redis.call({"PUBLISH", "tally:default:summary:stranger", "damaged"});
  ASSERT_TRUE(comes_true([&] { return node.status().at("messages_invalid") == 1; }));
  const Json before = node.status();
  const std::string metrics = metrics_at(directory / "a.sock");
  const Json after = node.status();
  const auto expect_in_status = [&](const std::string& name, std::uint64_t value) {
    ASSERT_TRUE(after.contains(name)) << name;
    EXPECT_LE(before.at(name), value) << name;
    EXPECT_GE(after.at(name), value) << name;
  };
  int num_reasons = 0;
  const std::regex with_reason(R"re(tally_node_messages_refused_total\{reason="([a-z_]+)"\} (\d+))re");
  for (std::sregex_iterator i(metrics.begin(), metrics.end(), with_reason), end; i != end; ++i, ++num_reasons)
    expect_in_status("messages_" + (*i)[1].str(), std::stoul((*i)[2]));
  EXPECT_EQ(num_reasons, 6);
  for (const char* const name :
       {"versions_sent", "copies_stored", "copies_fetched", "heartbeats_sent", "requests_sent",
        "messages_received", "versions_lost", "versions_repaired", "lookups", "lookups_maybe",
        "name_conflicts", "strangers_removed", "changes_refused"}) {
    std::smatch found;
    const std::regex line("\ntally_node_" + std::string(name) + "_total (\\d+)\n");
    ASSERT_TRUE(std::regex_search(metrics, found, line)) << name;
    expect_in_status(name, std::stoul(found[1]));
  }
}

}  // namespace
}  // namespace tally::test
