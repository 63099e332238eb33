#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "running_nodes.hpp"

namespace tally::test {

/// The nodes n0, n1 and so on.
class NodeFleet {
 public:
  NodeFleet() = default;
  /// All at one server, a RunningRedis or an address.
  template <class Server>
  NodeFleet(const Server& server, int num_nodes, const Flags& flags = {}) {
    for (int i = 0; i < num_nodes; ++i) add(server, flags);
  }

  template <class Server>
  NodeProcess& add(const Server& server, const Flags& flags = {}) {
    nodes_.push_back(std::make_unique<NodeProcess>(server, "n" + std::to_string(size()), flags));
    return *nodes_.back();
  }
  /// Another process with the name of this node, whose process is killed if it has not ended.
  template <class Server>
  NodeProcess& replace(std::size_t i, const Server& server) {
    nodes_.at(i) = std::make_unique<NodeProcess>(server, "n" + std::to_string(i));
    return *nodes_[i];
  }

  std::size_t size() const { return nodes_.size(); }
  NodeProcess& operator[](std::size_t i) const { return *nodes_.at(i); }
  Nodes all() const {
    Nodes all;
    for (const auto& node : nodes_) all.push_back(node.get());
    return all;
  }
  /// Of a number in the status of each.
  std::uint64_t sum(const std::string& field) const {
    std::uint64_t sum = 0;
    for (const auto& node : nodes_) sum += node->status().at(field).get<std::uint64_t>();
    return sum;
  }

 private:
  std::vector<std::unique_ptr<NodeProcess>> nodes_;
};

}  // namespace tally::test
