// Nodes on a Redis Cluster: each at a server of its own, and the copies where their keys belong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "node_fleet.hpp"
#include "running_cluster.hpp"
#include "running_nodes.hpp"

namespace tally::test {
namespace {

const Flags no_socket{"--api-socket", "none"};

TEST(ClusterNodes, AtDifferentServersFindTheCopiesOfEachOther) {
  RunningCluster cluster;
  NodeFleet fleet;
  const std::vector<int>& ports = cluster.ports();
  // Of six names, some have their copy at the server where their node is, and most have it elsewhere.
  for (std::size_t i = 0; i < 6; ++i) {
    const std::string address = "127.0.0.1:" + std::to_string(ports.at(i % 3));
    fleet.add(address, no_socket).add_keys(0, 200);
  }
  Nodes all = fleet.all();
  ASSERT_TRUE(converge(all));
  NodeProcess late("127.0.0.1:" + std::to_string(ports.at(0)), "late", no_socket);
  all.push_back(&late);
  ASSERT_TRUE(converge(all));
  for (std::size_t i = 0; i < fleet.size(); ++i) {
    EXPECT_EQ(late.num_missed("n" + std::to_string(i), 0, 200), 0) << i;
  }
}

}  // namespace
}  // namespace tally::test
