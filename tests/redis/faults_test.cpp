// What goes wrong around a server: a full disk, a replica that is cut off, keys that expire or are flushed.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "comes_true.hpp"
#include "running_module.hpp"

namespace tally::test {
namespace {

class RedisFaults : public WithModule {};

const std::vector<std::string> all_keys{"bloom", "cuckoo", "sketch", "top", "dleft", "over"};

/// Creates what is missing, and changes every key.
void write(RunningModule& redis, int round) {
  redis({"CMS.INITBYDIM", "sketch", "50", "3"});
  redis({"TOPK.RESERVE", "top", "5", "20", "3", "0.9"});
  redis({"TALLY.CREATE", "dleft", "--kind", "dleft", "--keys", "100", "--max-doublings", "6"});
  redis(with_keys({"BF.MADD", "bloom"}, "key", 30 * round, 50));
  redis(with_keys({"CF.INSERT", "cuckoo", "ITEMS"}, "key", 30 * round, 50));
  redis({"CF.DEL", "cuckoo", "key" + std::to_string(30 * round)});
  redis({"CMS.INCRBY", "sketch", "key" + std::to_string(round), "5"});
  redis(with_keys({"TOPK.ADD", "top"}, "key", round, 20));
  redis(with_keys({"TALLY.ADD", "dleft"}, "key", 30 * round, 50));
  redis({"TALLY.REMOVE", "dleft", "key" + std::to_string(30 * round)});
  redis(with_keys({"TALLY.OVER", "over", "2"}, "key", 30 * round, 50));
}

std::vector<std::string> digests(RunningModule& redis) {
  std::vector<std::string> all;
  for (const std::string& key : all_keys) all.push_back(redis.digest(key));
  return all;
}

std::string status(RunningModule& redis, const std::string& section, const std::string& field) {
  const std::string text = redis.call({"INFO", section}).text;
  const std::size_t at = text.find(field + ":") + field.size() + 1;
  return text.substr(at, text.find('\r', at) - at);
}

void limit_file_size(RunningModule& redis, rlim_t num_bytes) {
  const rlimit limit{num_bytes, RLIM_INFINITY};
  const int pid = std::stoi(status(redis, "server", "process_id"));
  ASSERT_EQ(prlimit(pid, RLIMIT_FSIZE, &limit, nullptr), 0);
}

/// The process that saves is killed when its file becomes too large, as it would be in a quota.
TEST_F(RedisFaults, ASnapshotForWhichThereIsNoRoomChangesNothing) {
  RunningModule redis;
  for (int round = 0; round < 5; ++round) write(redis, round);
  ASSERT_EQ(redis({"SAVE"}), "+OK");
  const auto saved = digests(redis);
  redis({"CMS.INITBYDIM", "large", "50000", "5"});
  limit_file_size(redis, 4096);
  redis({"BGSAVE"});
  ASSERT_TRUE(comes_true([&] { return status(redis, "persistence", "rdb_bgsave_in_progress") == "0"; }));
  EXPECT_EQ(status(redis, "persistence", "rdb_last_bgsave_status"), "err");
  EXPECT_EQ(digests(redis), saved);
  limit_file_size(redis, RLIM_INFINITY);
  redis.kill_and_restart();
  EXPECT_EQ(digests(redis), saved);
  EXPECT_EQ(redis({"EXISTS", "large"}), ":0");
}

TEST_F(RedisFaults, AReplicaThatWasCutOffUnderWritesIsEqualInTheEnd) {
  RunningModule master({"--repl-diskless-sync-delay", "0", "--repl-backlog-size", "16kb"});
  RunningModule replica({"--replicaof", "127.0.0.1 " + std::to_string(master.port())});
  const auto is_up = [&] { return status(replica, "replication", "master_link_status") == "up"; };
  ASSERT_TRUE(comes_true(is_up));
  const int syncs_before = std::stoi(status(master, "stats", "sync_full"));
  for (int round = 0; round < 60; ++round) {
    write(master, round);
    if (round == 25) {
      master({"FLUSHALL"});
    }
    if (round % 20 == 10) {
      if (round == 50) master({"DEBUG", "CHANGE-REPL-ID"});  // so that what the backlog has is not enough
      master({"CLIENT", "KILL", "TYPE", "REPLICA"});
      for (int more = 0; more < 20; ++more) write(master, 1000 + more);
    }
  }
  ASSERT_TRUE(comes_true([&] { return is_up() && master({"WAIT", "1", "1000"}) == ":1"; }));
  EXPECT_EQ(digests(replica), digests(master));
  EXPECT_GT(std::stoi(status(master, "stats", "sync_full")), syncs_before);
  write(master, 61);
  ASSERT_EQ(master({"WAIT", "1", "10000"}), ":1");
  EXPECT_EQ(digests(replica), digests(master)) << "after a write more";
}

TEST_F(RedisFaults, KeysExpireOnMasterAndReplicaAndAreMadeAnew) {
  RunningModule master({"--repl-diskless-sync-delay", "0"});
  RunningModule replica({"--replicaof", "127.0.0.1 " + std::to_string(master.port())});
  ASSERT_TRUE(follows_its_master(replica));
  write(master, 0);
  for (const std::string& key : all_keys) EXPECT_EQ(master({"PEXPIRE", key, "20"}), ":1") << key;
  ASSERT_TRUE(comes_true([&] { return master({"DBSIZE"}) == ":0" && replica({"DBSIZE"}) == ":0"; }));
  EXPECT_EQ(master({"BF.EXISTS", "bloom", "key1"}), ":0");
  write(master, 7);
  ASSERT_EQ(master({"WAIT", "1", "10000"}), ":1");
  EXPECT_EQ(digests(replica), digests(master));
  EXPECT_EQ(replica({"BF.EXISTS", "bloom", "key1"}), ":0");
}

}  // namespace
}  // namespace tally::test
