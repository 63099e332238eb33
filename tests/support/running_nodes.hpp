#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "json_schema.hpp"
#include "running_command.hpp"
#include "running_redis.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/summaries/directory_summary.hpp"

namespace tally::test {

using Flags = std::vector<std::string>;
using Json = nlohmann::json;

/// "tally", the default seed of every command.
inline constexpr std::uint64_t default_seed = 0x74616c6c79;

/// What a stranger can publish: messages of a directory that is nowhere.
using Forger = DirectorySummary<CountingBloomFilter<>>;
inline Forger forger_of(const std::string& name, std::uint64_t epoch = 0,
                        const std::optional<MessageKey>& key = {}, std::uint64_t num_counters = 20'000,
                        const KeyHasher& hasher = default_seed) {
  Forger forger({.num_counters = num_counters, .num_hashes = 7}, hasher,
                {.publisher = name, .epoch = epoch, .key = key});
  (void)forger.insert(std::string_view("forged"));
  return forger;
}

inline std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline void publish_as(const RunningRedis& redis, const std::string& name,
                       const std::vector<std::byte>& message) {
  redis.call({"PUBLISH", "tally:default:summary:" + name, text_of(message)});
}

/// The user `tally` with the password `secret`, who may do what docs/node.md says that a node needs, but not ask for the ROLE.
inline void add_user_of_nodes(const RunningRedis& redis) {
  redis.call({"ACL", "SETUSER", "tally", "on", ">secret", "resetkeys", "resetchannels", "-@all", "+auth",
              "+ping", "+publish", "+subscribe", "+psubscribe", "+set", "+getrange", "+expire"});
  redis.call(
      {"ACL", "SETUSER", "tally", "&tally:default:*", "&tally:default:summary:*", "~tally:default:copy:*"});
}

inline std::string key_of(const std::string& owner, int i) { return owner + "-key-" + std::to_string(i); }

/// `tally node NAME` at a server, with intervals that suit a test.
class NodeProcess {
 public:
  NodeProcess(const RunningRedis& redis, std::string name, const Flags& flags = {})
      : name_(std::move(name)), command_(arguments("unix://" + redis.socket(), name_, flags)) {}
  NodeProcess(const std::string& address, std::string name, const Flags& flags = {})
      : name_(std::move(name)), command_(arguments(address, name_, flags)) {}

  const std::string& name() const { return name_; }
  RunningCommand& command() { return command_; }

  void add_keys(int first, int last) { change('+', first, last); }
  void remove_keys(int first, int last) { change('-', first, last); }
  void say(const std::string& line) { command_.write(line + "\n"); }

  Json answer() {
    const std::string line = command_.read_line();
    if (line.empty()) throw std::runtime_error(name_ + " says nothing; " + command_.read_error_line(100));
    Json json = Json::parse(line);
    EXPECT_EQ(JsonSchema::of_the_command().check("node", json).errors, std::vector<std::string>());
    return json;
  }
  Json status() {
    say("!status");
    return answer().at("status");
  }
  std::set<std::string> who_may_have(const std::string& key) {
    say("?" + key);
    return answer().at("peers").get<std::set<std::string>>();
  }
  bool wait_for(int num_peers) {
    say("!wait " + std::to_string(num_peers) + " 20s");
    return answer().at("wait").at("is_over");
  }

  /// Whether it writes a line like this to standard error. The lines before that one are passed over.
  ::testing::AssertionResult reports(const ::testing::Matcher<const std::string&>& expected) {
    auto failure = ::testing::AssertionFailure() << name_ << " only reports:\n";
    for (std::string line; !(line = command_.read_error_line()).empty(); failure << line)
      if (expected.Matches(line)) return ::testing::AssertionSuccess();
    return failure;
  }

  /// How many of the keys first ... last of `owner` are not named as its own.
  int num_missed(const std::string& owner, int first, int last) {
    return (last - first) - num_named(owner, first, last);
  }
  int num_named(const std::string& owner, int first, int last) {
    std::string questions;
    for (int i = first; i < last; ++i) questions += "?" + key_of(owner, i) + "\n";
    command_.write(questions);
    int num_named = 0;
    for (int i = first; i < last; ++i) {
      const Json peers = answer().at("peers");
      num_named += static_cast<int>(std::count(peers.begin(), peers.end(), owner));
    }
    return num_named;
  }

 private:
  static Flags arguments(const std::string& address, const std::string& name, const Flags& flags) {
    Flags all{TALLY_COMMAND, "node", name,          "--json", "--redis", address,
              "--interval",  "50ms", "--heartbeat", "100ms",  "--quiet"};
    if (std::ranges::find(flags, "--keys") == flags.end()) all.insert(all.end(), {"--keys", "2000"});
    all.insert(all.end(), flags.begin(), flags.end());
    return all;
  }
  void change(char verb, int first, int last) {
    std::string lines;
    for (int i = first; i < last; ++i) lines += verb + key_of(name_, i) + "\n";
    command_.write(lines);
  }

  std::string name_;
  RunningCommand command_;
};

using Nodes = std::vector<NodeProcess*>;

/// Every node has published all it holds, and every other holds that version.
inline bool have_converged(const Nodes& nodes) {
  std::vector<Json> all;
  for (NodeProcess* node : nodes) all.push_back(node->status());
  for (const Json& one : all) {
    if (one.at("pending_changes") != 0 || one.at("sequence") == 0 || !one.at("is_connected")) return false;
    for (const Json& other : all) {
      if (other.at("name") == one.at("name")) continue;
      bool has_it = false;
      for (const Json& peer : other.at("peers")) {
        has_it = has_it || (peer.at("name") == one.at("name") && peer.at("epoch") == one.at("epoch") &&
                            peer.at("sequence") == one.at("sequence") && peer.at("is_current"));
      }
      if (!has_it) return false;
    }
  }
  return true;
}

inline ::testing::AssertionResult converge(const Nodes& nodes) {
  if (comes_true([&] { return have_converged(nodes); })) return ::testing::AssertionSuccess();
  auto failure = ::testing::AssertionFailure();
  for (NodeProcess* node : nodes) failure << node->status().dump() << "\n";
  return failure;
}

/// A test that is left out where there is no Redis server. Its nodes have only the sockets that it gives them.
class Node : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_redis()) GTEST_SKIP() << "redis-server is not installed (script/packages.txt)";
    for (const char* const variable : {"RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"}) ::unsetenv(variable);
  }
};

}  // namespace tally::test
