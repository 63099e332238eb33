// TALLY.*: filters of every kind, against exact counts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "running_module.hpp"
#include "tally/shapes/filter_kind.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class RedisFilter : public WithModule {};

/// The options of a structure of every kind, for a few thousand items.
const std::vector<std::pair<std::string, Words>> all_kinds_made{
    {"bloom", {"--kind", "bloom", "--keys", "3000", "--scheme", "enhanced-double-cubic"}},
    {"blocked", {"kind", "blocked-bloom", "keys", "3000", "false-positive-rate", "0.1%"}},
    {"counting", {"KIND", "COUNTING-BLOOM", "KEYS", "3K", "THRESHOLD", "3"}},
    {"threshold", {"--threshold", "3", "--keys", "3000", "--kind", "threshold"}},
    {"dleft",
     {"--kind", "dleft", "--keys", "3000", "--false-positive-rate", "0.001", "--max-doublings", "3"}},
    {"sketch", {"--epsilon", "0.001", "--total-count", "1000000"}},
    {"compact", {"--kind", "compact-dleft", "--unique-keys", "--keys", "3000"}},
    {"blocked counting", {"--kind", "blocked-counting-bloom", "--memory", "64KiB"}},
    {"recommended", {"--keys", "3000", "--deletes", "--counts"}},
};

Words create_words(const std::string& key, const Words& options) {
  Words words{"TALLY.CREATE", key};
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

void create_all(RunningModule& redis) {
  for (const auto& [key, options] : all_kinds_made)
    ASSERT_EQ(redis(create_words(key, options)), "+OK") << key;
}

/// The value of a field of a map, which RESP2 replies as an array.
RedisReply field(RunningModule& redis, const Words& words, const std::string& name) {
  const RedisReply reply = redis.call(words);
  for (std::size_t i = 0; i + 1 < reply.elements.size(); i += 2) {
    if (reply.elements[i].text == name) return reply.elements[i + 1];
  }
  throw std::runtime_error(words[0] + " has no field " + name + ": " + reply.shown());
}

TEST_F(RedisFilter, EveryKindIsCreatedPlannedAndDescribedByTheSameOptions) {
  RunningModule redis;
  create_all(redis);
  for (const auto& [key, options] : all_kinds_made) {
    Words plan{"TALLY.PLAN"};
    plan.insert(plan.end(), options.begin(), options.end());
    const std::string planned = field(redis, plan, "options").text;
    EXPECT_EQ(field(redis, {"TALLY.INFO", key}, "options").text, planned) << key;
    EXPECT_EQ(field(redis, {"TALLY.INFO", key}, "bytes").text, field(redis, plan, "bytes").text) << key;
    // The options that it shows make the same structure.
    Words again{"TALLY.CREATE", "again " + key};
    std::string word;
    for (const char c : planned + " ") {
      if (c != ' ') {
        word += c;
        continue;
      }
      again.push_back(word);
      word.clear();
    }
    again.insert(again.end(), {"--seed", field(redis, {"TALLY.INFO", key}, "seed").text});
    EXPECT_EQ(redis(again), "+OK") << planned;
    EXPECT_EQ(redis.digest("again " + key), redis.digest(key)) << planned;
  }
}

TEST_F(RedisFilter, APlanSaysWhatWouldBeMadeAndWhy) {
  RunningModule redis;
  const Words words{"TALLY.PLAN", "--keys", "1M", "--false-positive-rate", "1%"};
  const std::string kind = field(redis, words, "kind").text;
  EXPECT_THAT(kind, HasSubstr("bloom"));
  EXPECT_EQ(field(redis, words, "keys").shown(), ":1000000");
  const double bits = std::stod(field(redis, words, "bits per key").text);
  EXPECT_GT(bits, 9);
  EXPECT_LT(bits, 16);
  EXPECT_LE(std::stod(field(redis, words, "false positive rate").text), 0.01);
  EXPECT_FALSE(field(redis, words, "reason").text.empty());
  EXPECT_EQ(redis({"DBSIZE"}), ":0");
}

TEST_F(RedisFilter, ArgumentErrorsNameTheOptionTheValueAndTheFix) {
  RunningModule redis;
  const auto error = [](const std::string& text) { return "-ERR " + text; };
  const std::string arity = "-ERR wrong number of arguments for 'TALLY.CREATE' command";
  expect_replies(
      redis,
      {{{"SET", "string", "x"}, "+OK"},
       {{"TALLY.CREATE", "f", "--keys", "1000"}, "+OK"},
       {{"TALLY.CREATE", "f", "--keys", "1000"},
        error("the key exists; delete it first, or give another name")},
       {{"TALLY.CREATE", "string", "--keys", "10"},
        error("the key exists; delete it first, or give another name")},
       {{"TALLY.CREATE", "g"}, arity},
       {{"TALLY.CREATE", "g", "--colour", "red"},
        error("'--colour' is not an option; give those of 'tally plan' or 'tally build', such as --keys "
              "1000000")},
       {{"TALLY.CREATE", "g", "--keys"}, error("--keys: its value is missing")},
       {{"TALLY.CREATE", "g", "--keys", "1", "KEYS", "2"}, error("--keys: it is given twice; give it once")},
       {{"TALLY.CREATE", "g", "--keys", "many"},
        error("--keys: 'many' is not a number such as 5000, 10M or 1e6")},
       {{"TALLY.CREATE", "g", "--keys", "0"}, error("--keys: '0' is too small; must be at least 1")},
       {{"TALLY.CREATE", "g", "--keys", "-5"},
        error("--keys: '-5' is negative; give a number such as 5000, 10M or 1e6")},
       {{"TALLY.CREATE", "g", "--keys", "1.5"},
        error("--keys: '1.5' is not a whole number; give a number such as 5000, 10M or 1e6")},
       {{"TALLY.CREATE", "g", "--keys", "3x"},
        error("--keys: '3x' has an unknown unit; give a number such as 5000, 10M or 1e6")},
       {{"TALLY.CREATE", "g", "--keys", "1e30"}, error("--keys: '1e30' is too large; must be below 2^64")},
       {{"TALLY.CREATE", "g", "--keys", "nan"},
        error("--keys: 'nan' is not a number such as 5000, 10M or 1e6")},
       {{"TALLY.CREATE", "g", "--false-positive-rate", "2"},
        error("--false-positive-rate: '2' is out of range; give a rate above 0 and below 1, such as 1%, 0.01 "
              "or "
              "1e-3")},
       {{"TALLY.CREATE", "g", "--memory", "1Q"},
        error("--memory: '1Q' has an unknown unit; give a size such as 64MiB, 1.5GB or 65536")},
       {{"TALLY.CREATE", "g", "--kind", "cuckoo"},
        error("--kind: 'cuckoo' is not one of: bloom, blocked-bloom, counting-bloom, threshold, dleft, "
              "count-min, "
              "compact-dleft, blocked-counting-bloom")},
       {{"TALLY.CREATE", "g", "--deletes"},
        error("--keys: it is missing; give the number of distinct keys, or --memory, or --kind and an exact "
              "shape")},
       {{"TALLY.CREATE", "g", "--keys", "9", "--memory", "1K", "--false-positive-rate", "1%"},
        error("--false-positive-rate: it follows from --keys and --memory; leave one of the three out")},
       {{"TALLY.CREATE", "g", "--kind", "bloom", "--keys", "9", "--deletes"},
        error("--deletes: a planned bloom structure does not have this option; leave it out")},
       {{"TALLY.CREATE", "g", "--num-positions", "640"},
        error("--num-positions and --num-hashes define a shape together; give all of them, or --keys or "
              "--memory "
              "instead")},
       {{"TALLY.CREATE", "g", "--kind", "compact-dleft", "--keys", "9"},
        error("--unique-keys: a compact-dleft filter is planned for keys that are in it once at a time; give "
              "this "
              "option if they are, or give --kind dleft, or an exact shape")},
       {{"TALLY.CREATE", "g", "--width", "10", "--depth", "2", "--keys", "9"},
        error("--keys: an exact shape of a count-min structure does not have this option; leave it out")},
       {{"TALLY.ADD", "none", "a"}, error("the key does not exist; create it with TALLY.CREATE")},
       {{"TALLY.ADD", "string", "a"}, shown_wrong_type},
       {{"TALLY.QUERY", "string", "a"}, shown_wrong_type},
       {{"TALLY.ADD", "f"}, "-ERR wrong number of arguments for 'TALLY.ADD' command"},
       {{"TALLY.INFO", "f", "x"}, "-ERR wrong number of arguments for 'TALLY.INFO' command"},
       {{"TALLY.CREATE", "bloom", "--kind", "bloom", "--keys", "100"}, "+OK"},
       {{"TALLY.REMOVE", "bloom", "a"},
        error("a bloom structure cannot remove items; create the key with --kind and one of counting-bloom, "
              "dleft, "
              "compact-dleft, blocked-counting-bloom")},
       {{"TALLY.COUNT", "bloom", "a"},
        error("a bloom structure cannot count items; create the key with --kind and one of counting-bloom, "
              "threshold, dleft, count-min, compact-dleft, blocked-counting-bloom")},
       {{"TALLY.GROW", "bloom"},
        error("a bloom structure cannot grow; create the key with --kind and one of dleft")},
       {{"TALLY.MERGE", "bloom", "none"}, error("a source does not exist; name existing keys")},
       {{"EXISTS", "g"}, ":0"}});
  EXPECT_THAT(redis({"TALLY.CREATE", "g", "--kind", "bloom", "--scheme", "x", "--keys", "9"}),
              StartsWith("-ERR "));
  EXPECT_THAT(
      redis({"TALLY.CREATE", "g", "--kind", "bloom", "--keys", "1T"}),
      testing::AllOf(StartsWith("-ERR the structure is too large: it takes 1"),
                     HasSubstr(" bytes; must be at most 268435456, the module's option MAX-KEY-BYTES")));
  redis({"TALLY.CREATE", "other", "--kind", "bloom", "--keys", "100"});
  EXPECT_THAT(redis({"TALLY.MERGE", "bloom", "other"}),
              testing::AllOf(StartsWith("-ERR the keys differ: "), HasSubstr("--seed")));
}

TEST_F(RedisFilter, RepliesAreThoseOfTheClientsProtocol) {
  RunningModule redis;
  create_all(redis);
  expect_replies(redis, {{{"TALLY.ADD", "bloom", "a", "a", ""}, "[+new, +seen, +new]"},
                         {{"TALLY.QUERY", "bloom", "a", "b"}, "[:1, :0]"},
                         {{"TALLY.ADD", "threshold", "a", "a"}, "[+new, +seen]"},
                         {{"TALLY.QUERY", "threshold", "a"}, "[:0]"},
                         {{"TALLY.ADD", "threshold", "a", "b"}, "[+reached, +new]"},
                         {{"TALLY.QUERY", "threshold", "a", "b"}, "[:1, :0]"},
                         {{"TALLY.COUNT", "threshold", "a", "b"}, "[+>=3, :1]"},
                         {{"TALLY.ADD", "dleft", "a", "a", "b"}, "[+new, +seen, +new]"},
                         {{"TALLY.COUNT", "dleft", "a", "b", "c"}, "[:2, :1, :0]"},
                         {{"TALLY.REMOVE", "dleft", "a", "c"}, "[+removed, +refused]"},
                         {{"TALLY.COUNT", "dleft", "a"}, "[:1]"},
                         {{"TALLY.ADD", "sketch", "a", "a"}, "[+new, +seen]"},
                         {{"TALLY.COUNT", "sketch", "a", "b"}, "[:2, :0]"}});
  Words many{"TALLY.ADD", "counting"};
  many.insert(many.end(), 20, "x");
  const RedisReply reply = redis.call(many);
  EXPECT_EQ(reply.elements.front().shown(), "+saturated");  // states after the whole batch
  EXPECT_EQ(redis({"TALLY.COUNT", "counting", "x"}), "[+>=15]");
  EXPECT_EQ(redis({"TALLY.REMOVE", "counting", "x"}), "[+saturated]");
  EXPECT_EQ(field(redis, {"TALLY.INFO", "dleft"}, "refused removals").shown(), ":1");
  EXPECT_EQ(field(redis, {"TALLY.STATS", "dleft"}, "items").shown(), ":2");
  redis({"HELLO", "3"});
  expect_replies(redis,
                 {{{"TALLY.QUERY", "bloom", "a", "b"}, "[#t, #f]"}, {{"TALLY.COUNT", "dleft", "a"}, "[:1]"}});
  EXPECT_EQ(redis.call({"TALLY.INFO", "dleft"}).type, '%');
  EXPECT_EQ(redis.call({"TALLY.STATS", "sketch"}).type, '%');
  EXPECT_EQ(field(redis, {"TALLY.STATS", "bloom"}, "load").type, ',');
}

/// Every client adds, counts and removes items of its own and common ones, in batches.
TEST_F(RedisFilter, CountsAreNeverBelowTheTruthWithSeveralClientsAtOnce) {
  RunningModule redis;
  create_all(redis);
  constexpr int num_clients = 3;
  const std::vector<std::string> with_removal{"counting", "dleft", "blocked counting", "recommended"};
  using Counts = std::map<std::string, std::map<std::string, int>>;
  std::vector<Counts> exact(num_clients);
  std::vector<std::thread> clients;
  for (int client = 0; client < num_clients; ++client) {
    clients.emplace_back([&, client] {
      RedisConnection connection(redis.socket());
      std::mt19937 random(static_cast<unsigned>(client));
      Counts& counts = exact[static_cast<std::size_t>(client)];
      for (int round = 0; round < 30; ++round) {
        for (const auto& [key, options] : all_kinds_made) {
          Words words{"TALLY.ADD", key};
          for (int i = 0; i < 40; ++i) {
            const bool is_common = key != "compact" && random() % 4 == 0;
            words.push_back(is_common ? "common" + std::to_string(random() % 300)
                                      : std::to_string(client) + ":" + std::to_string(random() % 600));
            if (key == "compact" && counts[key][words.back()] > 0) words.pop_back();
            else ++counts[key][words.back()];
          }
          const RedisReply added = connection.call(words);
          for (const RedisReply& outcome : added.elements) EXPECT_NE(outcome.text, "full") << key;
        }
        for (const std::string& key : with_removal) {
          Words words{"TALLY.REMOVE", key};
          for (auto& [item, count] : counts[key]) {
            if (count == 0 || words.size() > 12 || random() % 3 != 0) continue;
            words.push_back(item);
            --count;
          }
          if (words.size() == 2) continue;
          for (const RedisReply& result : connection.call(words).elements) EXPECT_NE(result.text, "refused");
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  for (const auto& [key, options] : all_kinds_made) {
    std::map<std::string, int> truth;
    for (const Counts& counts : exact) {
      if (!counts.contains(key)) continue;
      for (const auto& [item, count] : counts.at(key)) truth[item] += count;
    }
    Words query{"TALLY.QUERY", key};
    Words count{"TALLY.COUNT", key};
    for (const auto& [item, number] : truth) {
      query.push_back(item);
      count.push_back(item);
    }
    const RedisReply answers = redis.call(query);
    const RedisReply counted = redis.call(count);
    std::size_t num_exact = 0;
    std::size_t i = 0;
    for (const auto& [item, number] : truth) {
      const int least = key == "threshold" ? 3 : 1;
      if (number >= least) {
        EXPECT_EQ(answers.elements.at(i).text, "1") << key << " " << item;
      }
      if (counted.type == '*' && counted.elements[i].type == ':') {
        EXPECT_GE(std::stoi(counted.elements[i].text), number) << key << " " << item;
        num_exact += std::stoi(counted.elements[i].text) == number ? 1 : 0;
      }
      ++i;
    }
    if (counted.type == '*' && key != "threshold") {
      EXPECT_GT(num_exact, truth.size() * 9 / 10) << key;
    }
  }
}

TEST_F(RedisFilter, ADLeftFilterGrowsWhenItIsFullUpToTheLimitAndRefusesBeyondIt) {
  RunningModule redis({}, {"MAX-KEY-BYTES", "20000"});
  redis({"TALLY.CREATE", "f", "--kind", "dleft", "--keys", "1000", "--max-doublings", "10"});
  const std::string bytes = field(redis, {"TALLY.INFO", "f"}, "bytes").text;
  std::size_t num_full = 0;
  std::vector<std::string> held;
  for (int first = 0; first < 30000; first += 1000) {
    const Words words = with_keys({"TALLY.ADD", "f"}, "key", first, 1000);
    const RedisReply reply = redis.call(words);
    for (std::size_t i = 0; i < 1000; ++i) {
      if (reply.elements.at(i).text == "full") ++num_full;
      else held.push_back(words[i + 2]);
    }
  }
  EXPECT_GT(num_full, 10000u);
  EXPECT_GT(held.size(), 3000u);
  const long long now = redis.integer({"MEMORY", "USAGE", "f"});
  EXPECT_GT(now, std::stoll(bytes));
  EXPECT_LE(std::stoll(field(redis, {"TALLY.INFO", "f"}, "bytes").text), 20000);
  EXPECT_GT(std::stoll(field(redis, {"TALLY.INFO", "f"}, "bytes after growth").text), 20000);
  EXPECT_THAT(redis({"TALLY.GROW", "f"}), HasSubstr("MAX-KEY-BYTES"));
  Words query{"TALLY.QUERY", "f"};
  query.insert(query.end(), held.begin(), held.end());
  for (const RedisReply& answer : redis.call(query).elements) EXPECT_EQ(answer.text, "1");
}

TEST_F(RedisFilter, AMergeTakesAllSourcesOrNone) {
  RunningModule redis;
  for (const std::string key : {"a", "b", "c"}) {
    redis({"TALLY.CREATE", key, "--kind", "counting-bloom", "--keys", "100", "--seed", "7"});
    redis({"TALLY.ADD", key, key, "all"});
  }
  redis({"TALLY.CREATE", "other", "--kind", "counting-bloom", "--keys", "100", "--seed", "8"});
  EXPECT_EQ(redis({"TALLY.MERGE", "sum", "a", "b", "c"}), "+OK");
  EXPECT_EQ(redis({"TALLY.COUNT", "sum", "a", "b", "c", "all"}), "[:1, :1, :1, :3]");
  const std::string before = redis.digest("a");
  EXPECT_THAT(redis({"TALLY.MERGE", "a", "b", "other"}), StartsWith("-ERR the keys differ"));
  EXPECT_EQ(redis.digest("a"), before);
  EXPECT_EQ(redis({"TALLY.MERGE", "a", "a", "b"}), "+OK");
  EXPECT_EQ(redis({"TALLY.COUNT", "a", "a", "b", "all"}), "[:2, :1, :3]");
  EXPECT_EQ(redis({"COMMAND", "GETKEYS", "TALLY.MERGE", "x", "y", "z"}), "[\"x\", \"y\", \"z\"]");
}

void work(RunningModule& redis, int first) {
  for (const auto& [key, options] : all_kinds_made) {
    redis(with_keys({"TALLY.ADD", key}, "item", first, 900));
    if (key != "compact") redis(with_keys({"TALLY.ADD", key}, "item", first, 500));
    redis(with_keys({"TALLY.REMOVE", key}, "item", first + 450, 200));
  }
}

std::vector<std::string> digests(RunningModule& redis) {
  std::vector<std::string> all;
  for (const auto& [key, options] : all_kinds_made) all.push_back(redis.digest(key));
  all.push_back(redis.digest("grown"));
  all.push_back(redis.digest("merged"));
  return all;
}

void fill(RunningModule& redis) {
  create_all(redis);
  work(redis, 0);
  redis({"TALLY.CREATE", "grown", "--kind", "dleft", "--keys", "500", "--max-doublings", "5"});
  redis(with_keys({"TALLY.ADD", "grown"}, "item", 0, 3000));
  redis({"TALLY.MERGE", "merged", "sketch"});
  redis({"TALLY.MERGE", "merged", "sketch", "merged"});
  EXPECT_GE(std::stoi(field(redis, {"TALLY.INFO", "grown"}, "doublings").text), 2);
}

TEST_F(RedisFilter, EveryKindSurvivesKillInASnapshotAndInAnAppendOnlyFile) {
  RunningModule redis({"--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no"});
  fill(redis);
  const std::vector<std::string> before = digests(redis);
  redis.kill_and_restart();
  EXPECT_EQ(digests(redis), before);
  ASSERT_TRUE(rewrites_append_only_file(redis));
  redis.kill_and_restart();
  EXPECT_EQ(digests(redis), before);
  redis({"DEBUG", "RELOAD"});  // a snapshot, and back
  EXPECT_EQ(digests(redis), before);
  for (const auto& [key, options] : all_kinds_made) {
    EXPECT_EQ(redis({"COPY", key, "copy of " + key}), ":1");
    EXPECT_EQ(redis.digest("copy of " + key), redis.digest(key)) << key;
    const RedisReply bytes = redis.call({"DUMP", key});
    EXPECT_EQ(redis({"RESTORE", "restored " + key, "0", bytes.text}), "+OK");
    EXPECT_EQ(redis.digest("restored " + key), redis.digest(key)) << key;
  }
}

TEST_F(RedisFilter, AReplicaIsEqualThroughWritesGrowthAndMerges) {
  RunningModule master({"--repl-diskless-sync-delay", "0"});
  RunningModule replica({"--replicaof", "127.0.0.1 " + std::to_string(master.port())},
                        {"MAX-KEY-BYTES", "1"});
  ASSERT_TRUE(follows_its_master(replica));
  fill(master);
  work(master, 2000);
  ASSERT_EQ(master({"WAIT", "1", "10000"}), ":1");
  EXPECT_EQ(digests(replica), digests(master));
}

}  // namespace
}  // namespace tally::test
