// Nodes that tell each other what they hold over a real Redis server, and what may happen to them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "random.hpp"
#include "running_command.hpp"
#include "running_redis.hpp"
#include "tally/filters/counting_bloom_filter.hpp"
#include "tally/summaries/directory_summary.hpp"

namespace tally::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Flags = std::vector<std::string>;

std::string key_of(const std::string& owner, int i) { return owner + "-key-" + std::to_string(i); }

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

  json answer() {
    const std::string line = command_.read_line();
    if (line.empty()) throw std::runtime_error(name_ + " says nothing; " + command_.read_error_line(100));
    return json::parse(line);
  }
  json status() {
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
      const json peers = answer().at("peers");
      num_named += static_cast<int>(std::count(peers.begin(), peers.end(), owner));
    }
    return num_named;
  }

 private:
  static Flags arguments(const std::string& address, const std::string& name, const Flags& flags) {
    Flags all{TALLY_COMMAND, "node", name,          "--json", "--redis", address,
              "--interval",  "50ms", "--heartbeat", "100ms",  "--keys",  "2000"};
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
bool have_converged(const Nodes& nodes) {
  std::vector<json> all;
  for (NodeProcess* node : nodes) all.push_back(node->status());
  for (const json& one : all) {
    if (one.at("pending_changes") != 0 || one.at("sequence") == 0 || !one.at("is_connected")) return false;
    for (const json& other : all) {
      if (other.at("name") == one.at("name")) continue;
      bool has_it = false;
      for (const json& peer : other.at("peers")) {
        has_it = has_it || (peer.at("name") == one.at("name") && peer.at("epoch") == one.at("epoch") &&
                            peer.at("sequence") == one.at("sequence") && peer.at("is_current"));
      }
      if (!has_it) return false;
    }
  }
  return true;
}

::testing::AssertionResult converge(const Nodes& nodes) {
  if (comes_true([&] { return have_converged(nodes); })) return ::testing::AssertionSuccess();
  auto failure = ::testing::AssertionFailure();
  for (NodeProcess* node : nodes) failure << node->status().dump() << "\n";
  return failure;
}

class Node : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_redis()) GTEST_SKIP() << "redis-server is not installed (script/packages.txt)";
  }
};

TEST_F(Node, KnowsTheKeysOfTheOthersWithoutAFalseNegative) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b"), c(redis, "c", {"--kind", "dleft"});
  const Nodes all{&a, &b, &c};
  for (NodeProcess* node : all) node->add_keys(0, 1000);
  ASSERT_TRUE(converge(all));
  for (NodeProcess* node : all) {
    for (const NodeProcess* other : all) {
      if (other == node) continue;
      EXPECT_EQ(node->num_missed(other->name(), 0, 1000), 0) << node->name() << " of " << other->name();
      EXPECT_LT(node->num_named(other->name(), 5000, 6000),
                40);  // 10 are expected at full load, here is half of it
    }
  }
}

TEST_F(Node, TellsOfRemovesAndOfWhatCameAfterThem) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b");
  a.add_keys(0, 1000);
  ASSERT_TRUE(converge({&a, &b}));
  a.remove_keys(0, 500);
  a.add_keys(1000, 1300);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 500, 1300), 0);
  EXPECT_LT(b.num_named("a", 0, 500), 25);
  EXPECT_GT(a.status().at("sequence"), 1);
}

TEST_F(Node, ThatIsKilledAndStartsWithOtherKeysIsFollowed) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b");
  auto c = std::make_unique<NodeProcess>(redis, "c");
  c->add_keys(0, 500);
  ASSERT_TRUE(converge({&a, &b, c.get()}));
  c->command().send(SIGKILL);
  EXPECT_EQ(a.num_missed("c", 0, 500), 0);  // what was last heard stays
  c = std::make_unique<NodeProcess>(redis, "c");
  c->add_keys(1000, 1500);
  ASSERT_TRUE(converge({&a, &b, c.get()}));
  for (NodeProcess* node : {&a, &b}) {
    EXPECT_EQ(node->num_missed("c", 1000, 1500), 0);
    EXPECT_LT(node->num_named("c", 0, 500), 25);
  }
}

TEST_F(Node, ThatStartsWithItsClockSetBackIsFollowed) {
  const RunningRedis redis;
  NodeProcess b(redis, "b");
  auto a = std::make_unique<NodeProcess>(redis, "a", Flags{"--epoch", "1000000"});
  a->add_keys(0, 500);
  ASSERT_TRUE(converge({a.get(), &b}));
  a->command().send(SIGKILL);
  (void)a->command().wait();
  a = std::make_unique<NodeProcess>(redis, "a", Flags{"--epoch", "7"});
  a->add_keys(1000, 1500);
  ASSERT_TRUE(converge({a.get(), &b}));
  EXPECT_GT(a->status().at("epoch"), 1000000);
  EXPECT_EQ(b.num_missed("a", 1000, 1500), 0);
  EXPECT_LT(b.num_named("a", 0, 500), 25);
}

TEST_F(Node, OutlivesTheServer) {
  RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b"), c(redis, "c");
  const Nodes all{&a, &b, &c};
  a.add_keys(0, 500);
  ASSERT_TRUE(converge(all));
  redis.kill_now();
  for (NodeProcess* node : all) ASSERT_TRUE(comes_true([&] { return !node->status().at("is_connected"); }));
  EXPECT_EQ(b.num_missed("a", 0, 500), 0);
  a.remove_keys(0, 250);
  b.add_keys(0, 500);
  redis.start();
  ASSERT_TRUE(converge(all));
  EXPECT_EQ(c.num_missed("a", 250, 500), 0);
  EXPECT_EQ(c.num_missed("b", 0, 500), 0);
  EXPECT_LT(b.num_named("a", 0, 250), 20);
  EXPECT_EQ(c.status().at("num_connections_lost"), 1);
  EXPECT_THAT(c.command().read_error_line(), HasSubstr("trying again"));
  EXPECT_THAT(c.command().read_error_line(), HasSubstr("connected"));
}

TEST_F(Node, SlowGivesUpAServerThatIsSilent) {
  RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b");
  ASSERT_TRUE(converge({&a, &b}));
  redis.send(SIGSTOP);
  ASSERT_TRUE(comes_true([&] { return !a.status().at("is_connected"); }, std::chrono::seconds(30)));
  EXPECT_THAT(a.command().read_error_line(), HasSubstr("does not answer"));
  redis.send(SIGCONT);
  a.add_keys(0, 100);
  ASSERT_TRUE(comes_true([&] { return have_converged({&a, &b}); }, std::chrono::seconds(40)));
  EXPECT_EQ(b.num_missed("a", 0, 100), 0);
}

TEST_F(Node, EndsAtASignalWhileNobodyReadsItsAnswers) {
  const RunningRedis redis;
  NodeProcess a(redis, "a");
  ASSERT_TRUE(a.wait_for(0));
  std::string questions;
  for (int i = 0; i < 3000; ++i) questions += "?" + key_of("nobody", i) + "\n";
  a.command().write(questions);
  (void)a.answer();  // the others are more than a pipe holds
  int num_signals = 0;
  ASSERT_TRUE(comes_true([&] {
    a.command().send(SIGTERM);
    return ++num_signals == 20;
  }));
  EXPECT_EQ(a.command().wait().exit_code, 128 + SIGTERM);
}

TEST_F(Node, MayStartBeforeTheServer) {
  RunningRedis redis;
  redis.kill_now();
  NodeProcess a(redis, "a"), b(redis, "b");
  a.add_keys(0, 500);
  EXPECT_FALSE(a.status().at("is_connected"));
  redis.start();
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 500), 0);
}

TEST_F(Node, ThatWasStoppedAndCutOffMissesMessagesAndAsksForThem) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b");
  a.add_keys(0, 500);
  ASSERT_TRUE(converge({&a, &b}));
  const std::uint64_t num_requests = b.status().at("requests_sent");
  const std::uint64_t sequence = a.status().at("sequence");
  b.command().send(SIGSTOP);
  redis.call({"CLIENT", "KILL", "TYPE", "pubsub"});
  for (int i = 500; i < 1000; i += 100) {
    a.add_keys(i, i + 100);
    ASSERT_TRUE(a.wait_for(0));
  }
  EXPECT_GE(a.status().at("sequence"), sequence + 2);
  b.command().send(SIGCONT);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 1000), 0);
  EXPECT_GT(b.status().at("requests_sent"), num_requests);
  EXPECT_GE(a.status().at("answers_sent"), 1);
}

TEST_F(Node, RefusesWhatIsNoMessageAndSaysSoOnce) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b");
  NodeProcess stranger(redis, "stranger", {"--seed", "99"});
  stranger.add_keys(0, 10);
  a.add_keys(0, 500);
  ASSERT_TRUE(converge({&a, &b}));
  const std::string huge(100'000, '\xff');
  for (int i = 0; i < 50; ++i) {
    redis.call({"PUBLISH", "tally:default:summary:noise", "garbage"});
    redis.call({"PUBLISH", "tally:default:summary:noise", huge});
    redis.call({"PUBLISH", "tally:default:summary:", ""});
    redis.call({"PUBLISH", "tally:default:summary:a", huge});
    redis.call({"PUBLISH", "tally:default:summary:two words", "garbage"});
    redis.call({"PUBLISH", "tally:default:request:a", "garbage"});
  }
  ASSERT_TRUE(comes_true([&] { return b.status().at("messages_refused") >= 250 + 1; }));
  ASSERT_TRUE(comes_true([&] { return a.status().at("messages_refused") >= 300 + 1; }));
  a.add_keys(500, 600);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 600), 0);
  EXPECT_TRUE(b.who_may_have(key_of("stranger", 1)).empty());
  EXPECT_EQ(b.status().at("peers").size(), 1);

  b.command().close_input();
  const CommandResult result = b.command().wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.error, HasSubstr("'stranger': seed is 99 there and 499850701945 here"));
  EXPECT_LT(std::count(result.error.begin(), result.error.end(), '\n'), 10) << result.error;
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// "tally", the seed of every command that is not told another.
constexpr std::uint64_t default_seed = 0x74616c6c79;

TEST_F(Node, TakesNoMessageFromTheChannelOfAnother) {
  const RunningRedis redis;
  NodeProcess a(redis, "a");
  DirectorySummary<CountingBloomFilter<>> directory({.num_counters = 20'000, .num_hashes = 7}, default_seed,
                                                    {.publisher = "honest", .epoch = 5});
  (void)directory.insert(std::string_view("key"));
  const std::string message = text_of(directory.publish());
  ASSERT_TRUE(a.wait_for(0));
  redis.call({"PUBLISH", "tally:default:summary:other", message});
  ASSERT_TRUE(comes_true([&] { return a.status().at("messages_refused") == 1; }));
  EXPECT_TRUE(a.who_may_have("key").empty());
  redis.call({"PUBLISH", "tally:default:summary:honest", message});
  ASSERT_TRUE(comes_true([&] { return a.who_may_have("key") == std::set<std::string>{"honest"}; }));
}

// A forger's, or one of a clock that was set centuries ahead: no later one can be begun.
TEST_F(Node, ThatIsSaidToHaveAnEpochBeyondAllOthersIsFollowedAgain) {
  const RunningRedis redis;
  NodeProcess b(redis, "b");
  DirectorySummary<CountingBloomFilter<>> forger({.num_counters = 20'000, .num_hashes = 7}, default_seed,
                                                 {.publisher = "a", .epoch = ~std::uint64_t{0} - 1});
  (void)forger.insert(std::string_view("forged"));
  ASSERT_TRUE(b.wait_for(0));
  redis.call({"PUBLISH", "tally:default:summary:a", text_of(forger.publish())});
  ASSERT_TRUE(comes_true([&] { return b.who_may_have("forged").contains("a"); }));
  NodeProcess a(redis, "a");
  a.add_keys(0, 100);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 100), 0);
  EXPECT_TRUE(b.who_may_have("forged").empty());
}

TEST_F(Node, AnswersAFloodOfRequestsOnceAnInterval) {
  const RunningRedis redis;
  NodeProcess a(redis, "a");
  a.add_keys(0, 500);
  ASSERT_TRUE(a.wait_for(0));
  const BloomShape shape{.num_bits = 20'000, .num_hashes = 7};
  const std::string request = text_of(
      request_message({.publisher = "a", .version = {}, .digest = 1, .published_at = summary_time_now()},
                      layout_of(shape, DefaultScheme::file_id, default_seed)));
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) redis.call({"PUBLISH", "tally:default:request:a", request});
  ASSERT_TRUE(comes_true([&] { return a.status().at("messages_received") >= 1000; }));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const double num_answers = a.status().at("answers_sent");
  EXPECT_GE(num_answers, 1);
  EXPECT_LE(num_answers, elapsed.count() / 0.05 + 1);
}

TEST_F(Node, OutlivesAMessageThatIsTooLong) {
  const RunningRedis redis;
  NodeProcess a(redis, "a", {"--max-message", "64KiB"}), b(redis, "b", {"--max-message", "64KiB"});
  a.add_keys(0, 500);
  ASSERT_TRUE(converge({&a, &b}));
  const std::string huge(1'000'000, 'x');
  redis.call({"PUBLISH", "tally:default:summary:noise", huge});
  ASSERT_TRUE(comes_true([&] { return b.status().at("num_connections_lost") == 1; }));
  a.add_keys(500, 600);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 600), 0);
  EXPECT_THAT(b.command().read_error_line(), HasSubstr("more than"));
}

TEST_F(Node, TakesNoMorePeersThanItMay) {
  const RunningRedis redis;
  NodeProcess a(redis, "a", {"--max-peers", "1"}), b(redis, "b"), c(redis, "c");
  ASSERT_TRUE(converge({&b, &c}));
  ASSERT_TRUE(comes_true([&] { return a.status().at("messages_refused") >= 1; }));
  EXPECT_EQ(a.status().at("peers").size(), 1);
  EXPECT_THAT(a.command().read_error_line(), HasSubstr("max_peers"));
}

TEST_F(Node, ForgetsAPeerThatIsSilent) {
  const RunningRedis redis;
  NodeProcess a(redis, "a", {"--forget", "600ms"}), b(redis, "b");
  b.add_keys(0, 10);
  ASSERT_TRUE(converge({&a, &b}));
  b.command().send(SIGKILL);
  ASSERT_TRUE(comes_true([&] { return a.status().at("peers").empty(); }));
  EXPECT_TRUE(a.who_may_have(key_of("b", 1)).empty());
  EXPECT_THAT(a.command().read_error_line(), HasSubstr("'b' has been silent for 600ms: forgotten"));
}

TEST_F(Node, EndsWhenALaterOneTakesItsName) {
  const RunningRedis redis;
  NodeProcess first(redis, "a", {"--epoch", "5"}), b(redis, "b");
  ASSERT_TRUE(converge({&first, &b}));
  NodeProcess second(redis, "a", {"--epoch", "6"});
  second.add_keys(0, 10);
  const CommandResult result = first.command().wait();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("another node is called 'a'"));
  ASSERT_TRUE(converge({&second, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 10), 0);
}

TEST_F(Node, TwentyOfThemFindEachOther) {
  const RunningRedis redis;
  std::vector<std::unique_ptr<NodeProcess>> owners;
  Nodes all;
  for (int i = 0; i < 20; ++i) {
    owners.push_back(std::make_unique<NodeProcess>(redis, "n" + std::to_string(i)));
    all.push_back(owners.back().get());
    all.back()->add_keys(0, 50);
  }
  ASSERT_TRUE(converge(all));
  for (NodeProcess* node : all) EXPECT_EQ(node->num_missed(node->name() == "n7" ? "n8" : "n7", 0, 50), 0);
}

// Three nodes hold keys that stay, and keys that come and go. Whatever is killed or cut off: they converge,
// and until then a node that was not killed goes on to name the others' keys that stay.
TEST_F(Node, ConvergesAfterAnythingAndIsAtMostStaleUntilThen) {
  constexpr int num_nodes = 3, num_staying = 200, num_rounds = 24;
  RunningRedis redis;
  Random random(1);
  std::vector<std::unique_ptr<NodeProcess>> owners(num_nodes);
  std::vector<int> next_key(num_nodes);
  std::vector<std::vector<std::pair<int, int>>> held(num_nodes);  // ranges of keys
  const auto start = [&](std::size_t i) {
    owners[i] = std::make_unique<NodeProcess>(redis, "n" + std::to_string(i));
    owners[i]->add_keys(0, num_staying);
    next_key[i] = 1000;
    held[i] = {{0, num_staying}};
  };
  const auto change = [&] {
    for (std::size_t i = 0; i < num_nodes; ++i) {
      const int first = next_key[i];
      next_key[i] = first + 1 + static_cast<int>(random.below(30));
      owners[i]->add_keys(first, next_key[i]);
      if (random.below(2) == 0) {
        owners[i]->remove_keys(first, next_key[i]);
      } else {
        held[i].emplace_back(first, next_key[i]);
      }
    }
  };
  const auto all = [&] {
    Nodes nodes;
    for (const auto& owner : owners) nodes.push_back(owner.get());
    return nodes;
  };
  for (std::size_t i = 0; i < num_nodes; ++i) start(i);
  ASSERT_TRUE(converge(all()));
  for (int round = 0; round < num_rounds; ++round) {
    change();
    const std::size_t victim = random.below(num_nodes);
    const std::uint64_t event = random.below(6);
    std::optional<std::size_t> reborn;
    if (event == 0) {
      owners[victim]->command().send(SIGKILL);
      if (random.below(2) == 0) (void)owners[victim]->command().wait();
      start(victim);
      reborn = victim;
    } else if (event == 1) {
      redis.kill_now();
      change();
      redis.start();
    } else if (event == 2) {
      redis.call({"CLIENT", "KILL", "TYPE", random.below(2) == 0 ? "pubsub" : "normal"});
    } else if (event == 3) {
      owners[victim]->command().send(SIGSTOP);
      redis.call({"CLIENT", "KILL", "TYPE", "pubsub"});
      change();
      owners[victim]->command().send(SIGCONT);
    } else if (event == 4) {
      redis.send(SIGSTOP);
      change();
      redis.send(SIGCONT);
    }
    for (std::size_t i = 0; i < num_nodes; ++i) {
      for (std::size_t j = 0; j < num_nodes; ++j) {
        if (i == j || reborn == i || reborn == j) continue;
        ASSERT_EQ(owners[i]->num_missed(owners[j]->name(), 0, num_staying), 0) << round << ": " << event;
      }
    }
    ASSERT_TRUE(converge(all())) << round << ": " << event;
    for (std::size_t i = 0; i < num_nodes; ++i) {
      const std::size_t j = (i + 1) % num_nodes;
      for (const auto& [first, last] : held[j]) {
        ASSERT_EQ(owners[i]->num_missed(owners[j]->name(), first, last), 0) << round << ": " << event;
      }
    }
  }
}

TEST_F(Node, GroupsDoNotHearEachOther) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b"), other(redis, "other", {"--group", "default2"});
  other.add_keys(0, 10);
  ASSERT_TRUE(converge({&a, &b}));
  ASSERT_TRUE(other.wait_for(0));
  ASSERT_TRUE(a.wait_for(1));
  EXPECT_EQ(a.status().at("peers").size(), 1);
  EXPECT_EQ(other.status().at("peers").size(), 0);
}

TEST_F(Node, ConnectsByPortWithAPassword) {
  const RunningRedis redis({"--requirepass", "s3:cr@t"}, true);
  const std::string place = "127.0.0.1:" + std::to_string(redis.port());
  NodeProcess a("redis://default:s3%3acr%40t@" + place, "a"), b("redis://:s3%3Acr%40t@" + place + "/0", "b");
  a.add_keys(0, 100);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 100), 0);

  NodeProcess wrong("redis://:no@" + place, "wrong"), without(place, "without");
  EXPECT_THAT(wrong.command().read_error_line(), HasSubstr("WRONGPASS"));
  EXPECT_THAT(without.command().read_error_line(), HasSubstr("NOAUTH"));
}

// The user of docs/node.md.
TEST_F(Node, NeedsFewPermissions) {
  const RunningRedis redis;
  redis.call({"ACL", "SETUSER", "tally", "on", ">secret", "resetkeys", "resetchannels", "-@all", "+auth",
              "+ping", "+publish", "+subscribe", "+psubscribe"});
  redis.call({"ACL", "SETUSER", "tally", "&tally:default:*", "&tally:default:summary:*"});
  const std::string address = "unix://tally:secret@" + redis.socket();
  NodeProcess a(address, "a"), b(address, "b"), other(address, "other", {"--group", "other"});
  a.add_keys(0, 100);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 100), 0);
  EXPECT_THAT(other.command().read_error_line(), HasSubstr("NOPERM"));
}

// With the intervals of the command, as it ends before them.
Flags tally_node(const RunningRedis& redis, const Flags& flags) {
  Flags all{"node", "x", "--redis", "unix://" + redis.socket()};
  all.insert(all.end(), flags.begin(), flags.end());
  return all;
}

TEST_F(Node, PublishesWhatIsPendingBeforeItEnds) {
  const RunningRedis redis;
  NodeProcess a(redis, "a");
  ASSERT_TRUE(a.wait_for(0));
  EXPECT_EQ(
      run_tally(tally_node(redis, {"--interval", "30m", "--share", "99%"}), "+k1\n+k2\n+k3\n-k3").exit_code,
      0);
  ASSERT_TRUE(comes_true([&] { return a.who_may_have("k2").contains("x"); }));
  EXPECT_TRUE(a.who_may_have("k1").contains("x"));
  EXPECT_TRUE(a.who_may_have("k3").empty());
}

TEST_F(Node, BeginsWithAFilterFile) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  NodeProcess b(redis, "b", {"--seed", "5"});
  const std::string dleft = directory / "dleft", counting = directory / "counting", bits = directory / "bits";
  ASSERT_EQ(
      run_tally({"build", "-o", dleft, "--kind", "dleft", "-n", "100", "--seed", "5"}, "k1\nk2\n").exit_code,
      0);
  ASSERT_EQ(
      run_tally({"build", "-o", counting, "--kind", "counting-bloom", "-n", "100", "--seed", "5"}, "k1\nk3\n")
          .exit_code,
      0);
  ASSERT_EQ(run_tally({"build", "-o", bits, "-n", "100"}, "k1\n").exit_code, 0);
  EXPECT_EQ(run_tally(tally_node(redis, {"--load", dleft}), "-k1\n").exit_code, 0);
  ASSERT_TRUE(comes_true([&] { return b.who_may_have("k2").contains("x"); }));
  EXPECT_TRUE(b.who_may_have("k1").empty());
  EXPECT_EQ(run_tally(tally_node(redis, {"--load", counting}), "").exit_code, 0);
  ASSERT_TRUE(comes_true([&] { return b.who_may_have("k3").contains("x") && b.who_may_have("k2").empty(); }));
  const CommandResult result = run_tally(tally_node(redis, {"--load", bits}), "");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("kind bloom"));
}

TEST_F(Node, StaysIfItIsToldTo) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b", {"--stay"});
  b.add_keys(0, 10);
  b.command().close_input();
  ASSERT_TRUE(comes_true([&] { return a.num_missed("b", 0, 10) == 0; }));
  b.command().send(SIGTERM);
  const CommandResult result = b.command().wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.error, IsEmpty());
}

TEST_F(Node, AnswersInLinesWithTabs) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b");
  for (NodeProcess* node : {&a, &b}) node->say("+tab\there");
  ASSERT_TRUE(converge({&a, &b}));
  CommandResult result = run_tally(tally_node(redis, {}), "!wait 2 20s\n?tab\there\n?none\n?\n!status\n");
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_THAT(result.output,
              ::testing::StartsWith("!wait\tdone\t2\ntab\there\ta b\nnone\t\n\t\n!status\tname=x\t"));
  EXPECT_THAT(result.output, HasSubstr("\n!peer\tname=a\t"));
  result = run_tally(tally_node(redis, {"-z"}), std::string("!wait 2 20s\0?tab\there\0", 23));
  EXPECT_EQ(result.output, std::string("!wait\tdone\t2\0tab\there\ta b\0", 26));
  result = run_tally(tally_node(redis, {}), "!wait 2 20s\n!wait 3 100ms\n");
  EXPECT_EQ(result.output, "!wait\tdone\t2\n!wait\tlate\t2\n");
}

TEST_F(Node, SaysWhatItRefused) {
  const RunningRedis redis;
  CommandResult result = run_tally(tally_node(redis, {}), "+a\n-b\n-b\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, HasSubstr("2 removes and insertions were refused"));
  for (const char* line : {"a key", "", "!", "!stop", "!wait x", "!wait 1 2 3", "!wait -1"}) {
    result = run_tally(tally_node(redis, {}), std::string("+a\n") + line + "\n+b\n");
    EXPECT_EQ(result.exit_code, 1) << line;
    EXPECT_THAT(result.error, HasSubstr("line 2: '" + std::string(line) + "' is no command")) << line;
  }
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "+" + std::to_string(i) + "\n";
  result = run_tally(tally_node(redis, {"--kind", "dleft", "--keys", "100"}), many);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, HasSubstr("the filter is full"));
}

TEST(NodeFlags, AnEndWithoutTheServerIsAnError) {
  const CommandResult result =
      run_tally({"node", "x", "--redis", "/no/such/socket", "--linger", "100ms"}, "+a\n+b\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("Redis at /no/such/socket: No such file or directory; trying again"));
  EXPECT_THAT(result.error, HasSubstr("has not taken what changed last: 2 changes"));
}

TEST(NodeFlags, ThatAreWrongAreNamed) {
  const auto error_of = [](const Flags& flags) {
    const CommandResult result = run_tally(flags, "");
    EXPECT_EQ(result.exit_code, 2) << flags.back();
    EXPECT_THAT(result.output, IsEmpty());
    return result.error;
  };
  for (const char* address :
       {"", "redis://", "redis://:@host", "redis://user@host", "redis://:%4@host", "redis://:%zz@host",
        "host:", "host:0", "host:65536", "host:x", "http://host", "rediss://host", "[::1", "[::1]x",
        "redis://host/3", "unix://relative", "unix://"}) {
    EXPECT_THAT(error_of({"node", "x", "--redis", address}), HasSubstr("; give redis://")) << address;
  }
  EXPECT_THAT(error_of({"node", "x", "--redis", "redis://:secret@host/3"}),
              ::testing::Not(HasSubstr("secret")));
  EXPECT_THAT(error_of({"node", "x", "--redis", "/" + std::string(107, 'a')}), HasSubstr("107 are the most"));
  EXPECT_THAT(error_of({"node", "two words"}), HasSubstr("NAME: 'two words' is no name"));
  EXPECT_THAT(error_of({"node", "x", "--group", "a:b"}), HasSubstr("--group: 'a:b' is no name"));
  EXPECT_THAT(error_of({"node", "x", "--keys", "1G"}), HasSubstr("--max-message"));
  EXPECT_THAT(error_of({"node", "x", "--forget", "10s"}), HasSubstr("--forget"));
  EXPECT_THAT(error_of({"node", "x", "--num-positions", "1000"}), HasSubstr("--num-hashes"));
  EXPECT_THAT(error_of({"node", "x", "--epoch", "0"}), HasSubstr("--epoch"));
}

}  // namespace
}  // namespace tally::test
