#pragma once

#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "running_command.hpp"
#include "running_redis.hpp"

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
  return comes_true([&] {
    return primary.call({"INFO", "replication"}).find("state=online") != std::string::npos;
  });
}

/// Redis Sentinel for the master "tally", which is `primary` at first: processes of redis-server, on free ports of this machine.
/// A server counts as down after half a second.
class RunningSentinels {
 public:
  /// Most of them must agree. `settings` are more lines of their files.
  RunningSentinels(const RunningRedis& primary, int number, const std::string& settings = "") {
    if (!has_replica(primary)) throw std::runtime_error("the primary has no replica");
    for (int i = 0; i < number; ++i) start(primary, number / 2 + 1, settings);
    for (const std::uint16_t port : ports_) {
      const auto knows_all = [&] {
        const std::string about = call(port, {"SENTINEL", "MASTER", "tally"});
        return number_after(about, "num-slaves") >= 1 &&
               number_after(about, "num-other-sentinels") == number - 1;
      };
      if (!comes_true(knows_all)) throw std::runtime_error("a sentinel does not find the others");
    }
  }

  const std::vector<std::uint16_t>& ports() const { return ports_; }
  /// "host:port,host:port"
  std::string hosts() const {
    std::string text;
    for (const std::uint16_t port : ports_)
      text += (text.empty() ? "" : ",") + ("127.0.0.1:" + std::to_string(port));
    return text;
  }
  void kill_now(std::size_t i) { processes_.at(i)->send(SIGKILL); }

 private:
  void start(const RunningRedis& primary, int quorum, const std::string& settings) {
    const std::uint16_t port = free_port();
    const std::string name = "sentinel" + std::to_string(port);
    std::ostringstream file;
    file << "port " << port << "\nbind 127.0.0.1\ndir " << directory_ / ""
         << "\nlogfile " << directory_ / (name + ".log") << "\nsentinel monitor tally 127.0.0.1 "
         << primary.port() << " " << quorum
         << "\nsentinel down-after-milliseconds tally 500\nsentinel failover-timeout tally 3000\n"
         << settings << "\n";
    ports_.push_back(port);
    processes_.push_back(std::make_unique<RunningCommand>(std::vector<std::string>{
        redis_server(), directory_.write(name + ".conf", file.str()), "--sentinel"}));
  }

  static std::string call(std::uint16_t port, std::vector<std::string> words) {
    words.insert(words.begin(), {"timeout", "2", "redis-cli", "-p", std::to_string(port)});
    return run_program(std::move(words)).output;
  }
  static int number_after(const std::string& lines, const std::string& field) {
    const std::size_t at = lines.find(field + "\n");
    return at == std::string::npos ? -1 : std::atoi(lines.c_str() + at + field.size() + 1);
  }

  TemporaryDirectory directory_;
  std::vector<std::uint16_t> ports_;
  std::vector<std::unique_ptr<RunningCommand>> processes_;
};

}  // namespace tally::test
