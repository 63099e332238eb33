// The memory of the values comes from the server: it counts it, and `maxmemory` limits it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "running_module.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::StartsWith;

class RedisMemory : public WithModule {};

const Words long_steps{"MAX-STEP-BYTES", "10000000000"};
constexpr double sketch_bytes = 4194304.0 * 4 * 4;
constexpr std::uint64_t margin_bytes = std::uint64_t{512} << 10;
const std::string out_of_memory = "-OOM command not allowed when used memory > 'maxmemory'.";

/// A number of INFO.
std::uint64_t info(RunningModule& redis, const std::string& field) {
  const std::string text = redis.call({"INFO", "everything"}).text;
  const std::size_t at = text.find("\n" + field + ":");
  if (at == std::string::npos) throw std::runtime_error("INFO has no " + field);
  return std::stoull(text.substr(at + field.size() + 2));
}

double used(RunningModule& redis) { return static_cast<double>(info(redis, "used_memory")); }

/// From now on, the server has memory for small things only.
void leave_little_memory(RunningModule& redis, std::uint64_t bytes = margin_bytes) {
  const std::string limit = std::to_string(info(redis, "used_memory") + bytes);
  ASSERT_EQ(redis({"CONFIG", "SET", "maxmemory", limit}), "+OK");
}
void leave_no_memory(RunningModule& redis) { ASSERT_EQ(redis({"CONFIG", "SET", "maxmemory", "1"}), "+OK"); }

std::string joined(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += word.substr(0, 30) + " ";
  return line;
}

TEST_F(RedisMemory, TheServerCountsASketchUntilItIsDeleted) {
  RunningModule redis({}, long_steps);
  redis({"CMS.INITBYDIM", "warm", "100", "4"});
  const double before = used(redis);
  ASSERT_EQ(redis({"CMS.INITBYDIM", "sketch", "4194304", "4"}), "+OK");
  EXPECT_THAT(used(redis) - before, AllOf(Gt(0.98 * sketch_bytes), Lt(1.02 * sketch_bytes)));
  redis({"DEL", "sketch"});
  EXPECT_THAT(used(redis) - before, AllOf(Gt(-0.02 * sketch_bytes), Lt(0.02 * sketch_bytes)));
}

TEST_F(RedisMemory, TheServerCountsAFilterOfEveryFamily) {
  RunningModule redis({}, long_steps);
  const std::vector<Words> rows{{"BF.RESERVE", "key", "0.001", "10000000"},
                                {"CF.RESERVE", "key", "5000000"},
                                {"TOPK.RESERVE", "key", "10", "1000000", "7", "0.9"},
                                {"TALLY.CREATE", "key", "--kind", "dleft", "--keys", "5000000"},
                                {"TALLY.OVERINSERT", "key", "3", "MEMORY", "32MiB", "ITEMS", "a"}};
  for (const Words& row : rows) {
    const double before = used(redis);
    ASSERT_FALSE(redis(row).starts_with("-")) << joined(row);
    const auto bytes = static_cast<double>(redis.integer({"MEMORY", "USAGE", "key"}));
    EXPECT_GT(bytes, 4e6) << joined(row);
    // jemalloc rounds sizes up by less than a quarter.
    EXPECT_THAT(used(redis) - before, AllOf(Gt(0.97 * bytes), Lt(1.27 * bytes))) << joined(row);
    redis({"DEL", "key"});
    EXPECT_LT(used(redis) - before, 0.02 * bytes) << joined(row);
  }
}

/// Commands that make a key which takes more than a megabyte.
std::vector<Words> creations(RunningModule& redis) {
  redis({"BF.RESERVE", "large", "0.001", "5000000"});
  const std::string header = redis.call({"BF.SCANDUMP", "large", "0"}).elements.at(1).text;
  redis({"DEL", "large"});
  return {{"BF.RESERVE", "new", "0.001", "10000000"},
          {"BF.INSERT", "new", "CAPACITY", "10000000", "ITEMS", "a"},
          {"BF.LOADCHUNK", "new", "1", header},
          {"CF.RESERVE", "new", "5000000"},
          {"CF.INSERT", "new", "CAPACITY", "5000000", "ITEMS", "a"},
          {"CF.INSERTNX", "new", "CAPACITY", "5000000", "ITEMS", "a"},
          {"CMS.INITBYDIM", "new", "4194304", "4"},
          {"CMS.INITBYPROB", "new", "0.000001", "0.01"},
          {"TOPK.RESERVE", "new", "10", "1000000", "7", "0.9"},
          {"TALLY.CREATE", "new", "--kind", "dleft", "--keys", "5000000"},
          {"TALLY.CREATE", "new", "--kind", "bloom", "--keys", "10000000"},
          {"TALLY.MERGE", "new", "filter"},
          {"TALLY.OVERINSERT", "new", "3", "MEMORY", "32MiB", "ITEMS", "a"},
          {"TALLY.OVERINSERT", "new", "3", "KEYS", "10000000", "ITEMS", "a"},
          {"TALLY.OVERINSERT", "new", "3", "WINDOW", "1m", "ITEMS", "a"},
          {"TALLY.LOADEMPTY", "new", header},
          {"TALLY.LOADCHUNK", "new", "1", header}};
}

/// Keys of every family, and commands after which the key in them takes more than another megabyte, in all or at least for
/// as long as they run.
std::vector<Words> fill(RunningModule& redis) {
  redis({"BF.RESERVE", "chain", "0.000001", "1000", "EXPANSION", "10000"});
  for (int i = 0; redis.integer({"BF.CARD", "chain"}) < 1000; ++i) {
    redis({"BF.ADD", "chain", "key" + std::to_string(i)});
  }
  redis({"CMS.INITBYDIM", "sketch", "262144", "4"});
  redis({"TOPK.RESERVE", "list", "10", "100", "7", "0.9"});
  redis({"TALLY.CREATE", "filter", "--kind", "dleft", "--keys", "1000000", "--max-doublings", "3"});
  return {{"BF.ADD", "chain", "new"},
          {"CMS.MERGE", "sketch", "1", "sketch"},
          {"TOPK.ADD", "list", std::string(2 << 20, 'x')},
          {"TOPK.INCRBY", "list", std::string(2 << 20, 'x'), "5"},
          {"TALLY.GROW", "filter"},
          {"TALLY.MERGE", "filter", "filter"}};
}

TEST_F(RedisMemory, WhatDoesNotFitBelowMaxmemoryIsRefusedAndChangesNothing) {
  RunningModule redis({}, long_steps);
  const std::vector<Words> growths = fill(redis);
  const std::vector<Words> made = creations(redis);
  for (const Words& words : made) {
    leave_little_memory(redis);
    EXPECT_EQ(redis(words), out_of_memory) << joined(words);
    EXPECT_EQ(redis({"EXISTS", "new"}), ":0") << joined(words);
    redis({"CONFIG", "SET", "maxmemory", "0"});
  }
  for (const Words& words : growths) {
    leave_little_memory(redis);
    const std::string digest = redis.digest(words[1]);
    EXPECT_EQ(redis(words), out_of_memory) << joined(words);
    EXPECT_EQ(redis.digest(words[1]), digest) << joined(words);
    redis({"CONFIG", "SET", "maxmemory", "0"});
  }
  EXPECT_EQ(redis({"PING"}), "+PONG");
  // With memory, all of them do what they say.
  for (const Words& words : made) {
    EXPECT_FALSE(redis(words).starts_with("-")) << joined(words);
    EXPECT_EQ(redis({"DEL", "new"}), ":1") << joined(words);
  }
  for (const Words& words : growths) EXPECT_FALSE(redis(words).starts_with("-")) << joined(words);
}

TEST_F(RedisMemory, AChainThatCannotGrowKeepsItsKeysAndGrowsLater) {
  RunningModule redis({}, long_steps);
  redis({"BF.RESERVE", "bloom", "0.000001", "1000", "EXPANSION", "10000"});
  redis({"CF.RESERVE", "cuckoo", "1000", "EXPANSION", "8192"});
  leave_little_memory(redis);
  for (const std::string family : {"BF", "CF"}) {
    const std::string key = family == "BF" ? "bloom" : "cuckoo";
    int num_keys = 0;
    while (num_keys < 2000 && redis({family + ".ADD", key, "key" + std::to_string(num_keys)}) == ":1")
      ++num_keys;
    EXPECT_THAT(num_keys, AllOf(Gt(900), Lt(1100))) << family;
    const std::string digest = redis.digest(key);
    EXPECT_EQ(redis({family + ".ADD", key, "another"}), out_of_memory);
    EXPECT_EQ(redis({family + ".INSERT", key, "ITEMS", "another", "yet another"}),
              family == "BF" ? "[" + out_of_memory + ", " + out_of_memory + "]" : "[:-1, :-1]");
    EXPECT_EQ(redis.digest(key), digest);
    for (int i = 0; i < num_keys; ++i) {
      ASSERT_EQ(redis({family + ".EXISTS", key, "key" + std::to_string(i)}), ":1") << family;
    }
  }
  redis({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(redis({"BF.ADD", "bloom", "another"}), ":1");
  EXPECT_EQ(redis({"CF.ADD", "cuckoo", "another"}), ":1");
}

TEST_F(RedisMemory, AFilterThatCannotGrowRefusesItemsAsFull) {
  RunningModule redis({}, long_steps);
  redis({"TALLY.CREATE", "filter", "--kind", "dleft", "--keys", "400000", "--max-doublings", "3"});
  const long long bytes = redis.integer({"MEMORY", "USAGE", "filter"});
  leave_little_memory(redis);
  constexpr int batch = 5000;
  std::string reply;
  for (int i = 0; i < 800000 && reply.find("full") == std::string::npos; i += batch) {
    reply = redis(with_keys({"TALLY.ADD", "filter"}, "item", i, batch));
    ASSERT_FALSE(reply.starts_with("-")) << reply;
  }
  EXPECT_THAT(reply, HasSubstr("+full"));
  EXPECT_EQ(redis.integer({"MEMORY", "USAGE", "filter"}), bytes);
  redis({"CONFIG", "SET", "maxmemory", "0"});
  reply = redis(with_keys({"TALLY.ADD", "filter"}, "more", 0, batch));
  EXPECT_EQ(reply.find("full"), std::string::npos);
  EXPECT_GT(redis.integer({"MEMORY", "USAGE", "filter"}), bytes);
}

TEST_F(RedisMemory, BeyondMaxmemoryCommandsThatTakeMemoryAreRefused) {
  RunningModule redis({}, long_steps);
  std::vector<Words> rows = fill(redis);
  redis({"CF.ADD", "cuckoo", "a"});
  redis({"TALLY.OVER", "counts", "3", "a"});
  for (const Words& words : creations(redis)) rows.push_back(words);
  const std::vector<Words> small{{"BF.ADD", "chain", "a"},           {"BF.MADD", "chain", "a", "b"},
                                 {"CF.ADD", "cuckoo", "a"},          {"CF.ADDNX", "cuckoo", "b"},
                                 {"CMS.INCRBY", "sketch", "a", "1"}, {"TOPK.ADD", "list", "a"},
                                 {"TALLY.ADD", "filter", "a"},       {"TALLY.OVER", "counts", "3", "a"}};
  rows.insert(rows.end(), small.begin(), small.end());
  std::vector<std::string> digests;
  for (const Words& words : rows) digests.push_back(redis.digest(words[1]));
  leave_no_memory(redis);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_THAT(redis(rows[i]), StartsWith("-OOM")) << joined(rows[i]);
    EXPECT_EQ(redis.digest(rows[i][1]), digests[i]) << joined(rows[i]);
  }
  EXPECT_EQ(redis({"CF.DEL", "cuckoo", "a"}), ":1");
  EXPECT_EQ(redis({"PING"}), "+PONG");
}

TEST_F(RedisMemory, AServerThatEvictsMakesRoom) {
  RunningModule redis({"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"});
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(redis({"CMS.INITBYDIM", "sketch" + std::to_string(i), "4194304", "2"}), "+OK");
  }
  EXPECT_EQ(redis({"CMS.INITBYDIM", "too large", "4194304", "7"}), out_of_memory);
  redis({"SET", "key", "value"});  // evicts first
  EXPECT_LT(used(redis), 101e6 * 1.05);
  EXPECT_GT(info(redis, "evicted_keys"), 0U);
}

TEST_F(RedisMemory, MaxmemoryDoesNotLimitLoadsAndReplicas) {
  RunningModule master({"--repl-diskless-sync-delay", "0"}, long_steps);
  (void)fill(master);
  RunningModule replica({"--replicaof", "127.0.0.1 " + std::to_string(master.port()), "--maxmemory", "1mb"});
  ASSERT_TRUE(follows_its_master(replica));
  EXPECT_EQ(master({"BF.ADD", "chain", "new"}), ":1");
  EXPECT_EQ(master({"TALLY.GROW", "filter"}), "+OK");
  EXPECT_EQ(master({"CMS.INITBYDIM", "second sketch", "262144", "4"}), "+OK");
  ASSERT_EQ(master({"WAIT", "1", "10000"}), ":1");
  const Words keys{"chain", "sketch", "list", "filter", "second sketch"};
  std::vector<std::string> digests;
  for (const std::string& key : keys) {
    digests.push_back(master.digest(key));
    EXPECT_EQ(replica.digest(key), digests.back()) << key;
  }
  leave_no_memory(master);
  ASSERT_EQ(master({"DEBUG", "RELOAD"}), "+OK");
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(master.digest(keys[i]), digests[i]) << keys[i];
}

/// Otherwise the filter would grow a second time when its master grows it.
TEST_F(RedisMemory, AClientThatWritesToAReplicaDoesNotGrowItsFilters) {
  RunningModule master({"--repl-diskless-sync-delay", "0"});
  master({"TALLY.CREATE", "filter", "--kind", "dleft", "--keys", "1000", "--max-doublings", "3"});
  RunningModule replica(
      {"--replicaof", "127.0.0.1 " + std::to_string(master.port()), "--replica-read-only", "no"});
  ASSERT_TRUE(follows_its_master(replica));
  const long long bytes = replica.integer({"MEMORY", "USAGE", "filter"});
  const Words words = with_keys({"TALLY.ADD", "filter"}, "item", 0, 4000);
  EXPECT_THAT(replica(words), HasSubstr("+full"));
  EXPECT_EQ(replica.integer({"MEMORY", "USAGE", "filter"}), bytes);
  EXPECT_EQ(master(words).find("full"), std::string::npos);
  ASSERT_EQ(master({"WAIT", "1", "10000"}), ":1");
  EXPECT_EQ(replica.integer({"MEMORY", "USAGE", "filter"}), master.integer({"MEMORY", "USAGE", "filter"}));
}

TEST_F(RedisMemory, ASnapshotIsSavedAndLoadedWithoutASecondCopy) {
  const std::vector<std::vector<Words>> rows{
      {{"CMS.INITBYDIM", "key", "4194304", "4"}, {"CMS.INCRBY", "key", "a", "5"}},
      {{"TOPK.RESERVE", "key", "50", "4194304", "4", "0.9"}, {"TOPK.ADD", "key", "a", "b"}},
      {{"TALLY.OVERINSERT", "key", "3", "MEMORY", "64MiB", "ITEMS", "a", "a"}},
      {{"TALLY.OVERINSERT", "key", "3", "WINDOW", "1h", "MEMORY", "64MiB", "ITEMS", "a", "a"}},
      {{"TALLY.OVERINSERT", "key", "3", "KEYS", "27500000", "ITEMS", "a", "a"}}};
  for (const std::vector<Words>& row : rows) {
    RunningModule redis({}, long_steps);
    const double before = used(redis);
    for (const Words& words : row) ASSERT_FALSE(redis(words).starts_with("-")) << joined(words);
    const auto bytes = static_cast<double>(redis.integer({"MEMORY", "USAGE", "key"}));
    ASSERT_GT(bytes, 40e6) << joined(row[0]);
    const double peak_before = static_cast<double>(info(redis, "used_memory_peak")) - before;
    EXPECT_LT(peak_before, 1.1 * bytes) << joined(row[0]);
    const std::string digest = redis.digest("key");
    ASSERT_EQ(redis({"SAVE"}), "+OK");
    ASSERT_EQ(redis({"DEBUG", "RELOAD"}), "+OK");
    EXPECT_EQ(redis.digest("key"), digest) << joined(row[0]);
    // While it loads, the server notes its peak after every 2 MiB.
    const double peak = static_cast<double>(info(redis, "used_memory_peak")) - before;
    RecordProperty("peak_bytes_" + row[0][0], std::to_string(peak / bytes));
    EXPECT_THAT(peak, AllOf(Gt(0.95 * bytes), Lt(1.1 * bytes))) << joined(row[0]);
  }
}

TEST_F(RedisMemory, RestoreRefusesWhatIsLargerThanMaxKeyBytes) {
  RunningModule redis({}, long_steps);
  redis({"BF.RESERVE", "bloom", "0.001", "10000"});
  redis({"CF.RESERVE", "cuckoo", "10000"});
  redis({"CMS.INITBYDIM", "sketch", "10000", "4"});
  redis({"TOPK.RESERVE", "list", "10", "1000", "7", "0.9"});
  redis({"TALLY.CREATE", "filter", "--kind", "dleft", "--keys", "10000"});
  redis({"TALLY.OVERINSERT", "counts", "3", "MEMORY", "16KiB", "ITEMS", "a"});
  redis({"CMS.INITBYDIM", "small", "100", "4"});
  const Words keys{"bloom", "cuckoo", "sketch", "list", "filter", "counts"};
  std::vector<std::string> dumps;
  for (const std::string& key : keys) dumps.push_back(redis.call({"DUMP", key}).text);
  const std::string small = redis.call({"DUMP", "small"}).text;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(redis({"RESTORE", "restored " + keys[i], "0", dumps[i]}), "+OK") << keys[i];
    EXPECT_EQ(redis.digest("restored " + keys[i]), redis.digest(keys[i])) << keys[i];
  }
  redis.kill_and_restart({"MAX-KEY-BYTES", "4096"});
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(redis({"RESTORE", keys[i], "0", dumps[i]}), "-ERR Bad data format") << keys[i];
    EXPECT_EQ(redis({"EXISTS", keys[i]}), ":0") << keys[i];
  }
  EXPECT_EQ(redis({"RESTORE", "small", "0", small}), "+OK");
  EXPECT_EQ(redis({"PING"}), "+PONG");
}

TEST_F(RedisMemory, RestoreRefusesWhatDoesNotFitBelowMaxmemory) {
  RunningModule redis({}, long_steps);
  redis({"CMS.INITBYDIM", "sketch", "4194304", "2"});  // compresses well in a dump
  const std::string dump = redis.call({"DUMP", "sketch"}).text;
  redis({"DEL", "sketch"});
  leave_little_memory(redis, 16 * margin_bytes);  // for the dump
  EXPECT_EQ(redis({"RESTORE", "sketch", "0", dump}), "-ERR Bad data format");
  EXPECT_EQ(redis({"EXISTS", "sketch"}), ":0");
  redis({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(redis({"RESTORE", "sketch", "0", dump}), "+OK");
}

}  // namespace
}  // namespace tally::test
