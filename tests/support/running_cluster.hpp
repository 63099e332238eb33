#pragma once

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "comes_true.hpp"
#include "command_runner.hpp"
#include "running_command.hpp"

namespace tally::test {

/// Three masters and three replicas with the module, which script/cluster starts and stops.
class RunningCluster {
 public:
  static constexpr int timeout_milliseconds = 1500;

  RunningCluster()
      : script_({TALLY_SOURCE_DIR "/script/cluster", "--build-dir", TALLY_BUILD_DIR, "--timeout",
                 std::to_string(timeout_milliseconds), "sh", "-c",
                 "echo \"$TALLY_CLUSTER_DIR\"; echo $TALLY_CLUSTER_PORTS; cat"}) {
    directory_ = line();
    std::istringstream numbers(line());
    for (int port = 0; numbers >> port;) ports_.push_back(port);
    if (ports_.size() != 6) throw std::runtime_error("script/cluster does not start six servers");
  }
  ~RunningCluster() {
    for (const pid_t id : started_) kill(id, SIGKILL);
    for (const pid_t id : started_) waitpid(id, nullptr, 0);
    script_.close_input();
    script_.wait();
  }

  const std::vector<int>& ports() const { return ports_; }
  std::string url(const std::string& name) const {
    std::string servers;
    for (const int port : ports_)
      servers += (servers.empty() ? "" : ",") + ("127.0.0.1:" + std::to_string(port));
    return "redis://" + servers + "/" + name;
  }

  std::string call(int port, std::vector<std::string> words) const {
    words.insert(words.begin(), {"timeout", "2", "redis-cli", "-p", std::to_string(port)});
    return run_program(std::move(words)).output;
  }

  struct Node {
    std::string id;
    int port = 0;
    bool is_master = false;
    std::string master;  // its id
    int num_slot_ranges = 0;
    bool is_failing = false;
  };
  /// As the server at this port sees them.
  std::vector<Node> nodes(int port) const {
    std::vector<Node> nodes;
    std::istringstream lines(call(port, {"cluster", "nodes"}));
    for (std::string text; std::getline(lines, text);) {
      std::istringstream fields(text);
      const std::vector<std::string> words{std::istream_iterator<std::string>(fields), {}};
      if (words.size() < 8) continue;
      Node node{.id = words[0], .master = words[3]};
      node.port = std::stoi(words[1].substr(words[1].find(':') + 1));
      node.is_master = words[2].find("master") != std::string::npos;
      node.is_failing = words[2].find("fail") != std::string::npos || words[7] != "connected";
      node.num_slot_ranges = static_cast<int>(words.size()) - 8;
      nodes.push_back(node);
    }
    return nodes;
  }
  /// The masters with slots, by a server that answers.
  std::vector<Node> masters(int port) const {
    std::vector<Node> found = nodes(port);
    std::erase_if(found, [](const Node& node) {
      return !node.is_master || node.is_failing || node.num_slot_ranges == 0;
    });
    return found;
  }

  pid_t process_of(int port) const {
    pid_t id = 0;
    std::ifstream(directory_ + "/" + std::to_string(port) + ".pid") >> id;
    return id;
  }
  void send(int port, int signal) const { kill(process_of(port), signal); }
  /// Starts a server: a new one, or one that was killed, which is then empty but still in the cluster.
  void start_server(int port) {
    started_.push_back(spawn_with_pipes({directory_ + "/start", std::to_string(port)}, "/dev/null").id);
    comes_true([&] { return call(port, {"ping"}) == "PONG\n"; });
  }

 private:
  std::string line() {
    std::string text = script_.read_line(120'000);
    if (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  RunningCommand script_;
  std::string directory_;
  std::vector<int> ports_;
  std::vector<pid_t> started_;
};

}  // namespace tally::test
