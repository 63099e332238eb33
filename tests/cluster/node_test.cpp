// Nodes on a Redis Cluster: each at a server of its own, and the copies where their keys belong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "running_cluster.hpp"
#include "running_nodes.hpp"

namespace tally::test {
namespace {

TEST(ClusterNodes, AtDifferentServersFindTheCopiesOfEachOther) {
  RunningCluster cluster;
  std::vector<std::unique_ptr<NodeProcess>> owners;
  Nodes all;
  const std::vector<int>& ports = cluster.ports();
  // Of six names, some have their copy at the server where their node is, and most have it elsewhere.
  for (std::size_t i = 0; i < 6; ++i) {
    const std::string address = "127.0.0.1:" + std::to_string(ports.at(i % 3));
    owners.push_back(std::make_unique<NodeProcess>(address, "n" + std::to_string(i)));
    owners.back()->add_keys(0, 200);
    all.push_back(owners.back().get());
  }
  ASSERT_TRUE(converge(all));
  NodeProcess late("127.0.0.1:" + std::to_string(ports.at(0)), "late");
  all.push_back(&late);
  ASSERT_TRUE(converge(all));
  for (std::size_t i = 0; i < owners.size(); ++i) {
    EXPECT_EQ(late.num_missed("n" + std::to_string(i), 0, 200), 0) << i;
  }
}

}  // namespace
}  // namespace tally::test
