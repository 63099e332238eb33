#pragma once

#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "number_after.hpp"
#include "running_command.hpp"
#include "running_redis.hpp"
#include "server_port.hpp"

namespace tally::test {

inline std::string host_and_port(const RunningRedis& redis) {
  return "127.0.0.1:" + std::to_string(redis.port());
}

/// The flags of a replica, which catches up at once: a server waits 5 s for more replicas otherwise.
inline std::vector<std::string> replica_of(const RunningRedis& primary) {
  primary.call({"CONFIG", "SET", "repl-diskless-sync-delay", "0"});
  return {"--replicaof", "127.0.0.1 " + std::to_string(primary.port()), "--repl-diskless-sync-delay", "0"};
}

inline bool has_replica(const RunningRedis& primary) {
  return primary.call({"INFO", "replication"}).find("state=online") != std::string::npos;
}
inline bool gets_replica(const RunningRedis& primary) {
  return comes_true([&] { return has_replica(primary); });
}

/// Redis Sentinel for the master "tally", which is `primary` at first: processes of redis-server, on ports of this machine.
/// A server counts as down after half a second.
class RunningSentinels {
 public:
  /// Most of them must agree. `settings` are more lines of their files.
  RunningSentinels(const RunningRedis& primary, int number, const std::string& settings = "") {
    if (!gets_replica(primary)) throw std::runtime_error("the primary has no replica");
    for (int i = 0; i < number; ++i) start(primary, number / 2 + 1, settings);
    for (const ServerPort& port : ports_) {
      const auto knows_all = [&] {
        const std::string about = call(port.number(), {"SENTINEL", "MASTER", "tally"});
        return number_after(about, "num-slaves\n") >= 1 &&
               number_after(about, "num-other-sentinels\n") == number - 1;
      };
      if (!comes_true(knows_all)) throw std::runtime_error("a sentinel does not find the others");
    }
  }

  /// "host:port,host:port"
  std::string hosts() const {
    std::string text;
    for (const ServerPort& port : ports_) text += (text.empty() ? "" : ",") + port.host_and_port();
    return text;
  }
  void kill_now(std::size_t i) { processes_.at(i)->send(SIGKILL); }

 private:
  void start(const RunningRedis& primary, int quorum, const std::string& settings) {
    const std::uint16_t port = ports_.emplace_back().number();
    const std::string name = "sentinel" + std::to_string(port);
    std::ostringstream file;
    file << "port " << port << "\nbind 127.0.0.1\ndir " << directory_ / ""
         << "\nlogfile " << directory_ / (name + ".log") << "\nsentinel monitor tally 127.0.0.1 "
         << primary.port() << " " << quorum
         << "\nsentinel down-after-milliseconds tally 500\nsentinel failover-timeout tally 3000\n"
         << settings << "\n";
    processes_.push_back(std::make_unique<RunningCommand>(std::vector<std::string>{
        redis_server(), directory_.write(name + ".conf", file.str()), "--sentinel"}));
  }

  static std::string call(std::uint16_t port, std::vector<std::string> words) {
    words.insert(words.begin(), {"timeout", "2", "redis-cli", "-p", std::to_string(port)});
    return run_program(std::move(words)).output;
  }

  TemporaryDirectory directory_;
  std::vector<ServerPort> ports_;
  std::vector<std::unique_ptr<RunningCommand>> processes_;
};

}  // namespace tally::test
