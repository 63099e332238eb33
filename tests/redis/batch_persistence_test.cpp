// The journal of writers is a part of a key: in files, on replicas, and in copies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "append_only_file.hpp"
#include "packed_items.hpp"
#include "running_module.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class RedisBatchFiles : public WithModule {};

const std::vector<std::string> all_keys{"grows", "counts", "window", "keys", "top", "forgets"};

/// Two writers with batches on every kind of key, some sent twice; `from` is the number of the first batch.
void send_batches(RunningModule& redis, std::uint64_t from) {
  redis({"TALLY.CREATE", "grows", "--kind", "dleft", "--keys", "100", "--max-doublings", "6", "--seed", "1"});
  redis({"TALLY.OVERCREATE", "counts", "2", "SEED", "1"});
  redis({"TALLY.OVERCREATE", "window", "2", "WINDOW", "1h", "MEMORY", "64KiB", "SEED", "1"});
  redis({"TALLY.OVERCREATE", "keys", "2", "KEYS", "2000"});
  redis({"TOPK.RESERVE", "top", "5", "20", "3", "0.9"});
  redis({"TALLY.CREATE", "forgets", "--kind", "bloom", "--keys", "100", "--seed", "1"});
  for (std::uint64_t i = from; i < from + 8; ++i) {
    for (const std::string writer : {"ann", "bob"}) {
      const int first = static_cast<int>(i) * 70 + (writer == "ann" ? 0 : 30);
      const std::string digests = packed_keys("item", first, 100);
      const std::uint64_t oldest = i < 4 ? 1 : i - 3;
      for (int sent = 0; sent < 2; ++sent) {
        redis(batch("grows", i, oldest, {"ADD", digests}, writer));
        redis(batch("counts", i, oldest, {"OVER", "2", digests}, writer));
        redis(batch("window", i, oldest, {"OVER", "2", digests}, writer));
        redis(batch("keys", i, oldest, {"OVER", "2", digests}, writer));
        redis(batch("top", i, oldest, {"TOP", "a", "3", "item" + std::to_string(first), "2"}, writer));
        redis(batch("forgets", i, oldest, {"ADD", digests}, writer));
      }
      redis(batch("grows", i, i, {"ADD", digests}, writer));  // drops replies, and changes nothing else
    }
  }
  const std::string other = "other" + std::to_string(from);
  redis(batch("forgets", 1, 1, {"ADD", packed({"x"})}, other));
  redis({"TALLY.ENDWRITER", "forgets", other});
  redis({"TALLY.PACKED", "grows", "REMOVE", packed_keys("item", 0, 30)});
}

std::vector<std::string> states(RunningModule& redis) {
  std::vector<std::string> all;
  for (const std::string& key : all_keys) {
    all.push_back(redis.digest(key) + redis({"TALLY.WRITERS", key}));
  }
  return all;
}

class RedisBatchAppendOnlyFile : public WithModule, public testing::WithParamInterface<const char*> {};

TEST_P(RedisBatchAppendOnlyFile, BatchesSurviveKillBeforeAndAfterARewriteAndASnapshot) {
  if (IsSkipped()) return;
  RunningModule redis(
      {"--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", GetParam()});
  send_batches(redis, 1);
  EXPECT_THAT(redis({"TALLY.INFO", "grows"}), HasSubstr("+doublings, :3"));
  const std::vector<std::string> before = states(redis);
  redis.kill_and_restart();
  EXPECT_EQ(states(redis), before);
  ASSERT_TRUE(rewrites_append_only_file(redis));
  redis.kill_and_restart();
  EXPECT_EQ(states(redis), before);
  redis({"DEBUG", "RELOAD"});
  EXPECT_EQ(states(redis), before);
  EXPECT_EQ(redis(batch("counts", 10, 9, {"OVER", "2", packed({"a"})}, "ann")),
            "-GAP 8 is the last batch of this writer here; send 9 next");
  EXPECT_EQ(redis(batch("top", 8, 8, {"TOP", "a", "3"}, "bob")), "[]");
  send_batches(redis, 9);
  const std::vector<std::string> after = states(redis);
  redis.kill_and_restart();
  EXPECT_EQ(states(redis), after);
}

INSTANTIATE_TEST_SUITE_P(WithPreamble, RedisBatchAppendOnlyFile, testing::Values("yes", "no"),
                         [](const auto& test) { return std::string(test.param); });

TEST_F(RedisBatchFiles, AReplicaIsEqualAfterTheFirstCopyAndAfterMoreBatches) {
  RunningModule master({"--repl-diskless-sync-delay", "0"});
  send_batches(master, 1);
  RunningModule replica({"--replicaof", "127.0.0.1 " + std::to_string(master.port())},
                        {"MAX-KEY-BYTES", "1"});
  ASSERT_TRUE(follows_its_master(replica));
  EXPECT_EQ(states(replica), states(master));
  send_batches(master, 9);
  ASSERT_EQ(master({"WAIT", "1", "10000"}), ":1");
  EXPECT_EQ(states(replica), states(master));
  EXPECT_THAT(master({"TALLY.INFO", "grows"}), HasSubstr("+doublings, :4"));
  // The replica becomes the master, and knows which batches it has.
  const Words last = batch("counts", 16, 16, {"OVER", "2", packed_keys("item", 1150, 100)}, "bob");
  const std::string reply = master(last);
  replica({"REPLICAOF", "NO", "ONE"});
  EXPECT_EQ(replica(last), reply);
  EXPECT_THAT(replica(batch("counts", 18, 18, {"OVER", "2", packed({"a"})}, "bob")), StartsWith("-GAP 16 "));
}

/// A replica must never have counted a batch without its record.
TEST_F(RedisBatchFiles, ABatchAndItsRecordAreOneTransaction) {
  RunningModule redis({"--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no"});
  redis({"TALLY.CREATE", "f", "--kind", "dleft", "--keys", "100", "--max-doublings", "6", "--seed", "1"});
  redis(batch("f", 1, 1, {"ADD", packed_keys("item", 0, 300)}));
  const std::filesystem::path directory =
      std::filesystem::path(redis.socket()).parent_path() / "appendonlydir";
  std::string file;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().string().find(".incr.aof") != std::string::npos) file = read_file(entry.path());
  }
  std::vector<std::string> names;
  for (const char* const name : {"MULTI", "TALLY.PACKED", "TALLY.GROW", "TALLY.RECORD", "EXEC"}) {
    for (std::size_t at = file.find(name); at != std::string::npos; at = file.find(name, at + 1)) {
      names.push_back(std::to_string(1'000'000'000 + at) + name);
    }
  }
  std::sort(names.begin(), names.end());
  for (std::string& name : names) name.erase(0, 10);
  ASSERT_GE(names.size(), 6u);
  EXPECT_EQ(names.front(), "MULTI");
  EXPECT_EQ(names[1], "TALLY.PACKED");
  EXPECT_EQ(names[2], "TALLY.GROW");
  EXPECT_EQ(names[names.size() - 2], "TALLY.RECORD");
  EXPECT_EQ(names.back(), "EXEC");
}

TEST_F(RedisBatchFiles, CopiesAndDumpsHaveTheWriters) {
  RunningModule redis;
  send_batches(redis, 1);
  for (const std::string& key : all_keys) {
    const std::string before = redis.digest(key);
    const std::string writers = redis({"TALLY.WRITERS", key});
    EXPECT_THAT(writers, HasSubstr("\"ann\", :8"));
    const auto expect_same = [&](const std::string& name) {
      EXPECT_EQ(redis.digest(name), before) << key;
      EXPECT_EQ(redis({"TALLY.WRITERS", name}), writers) << key;
    };
    EXPECT_EQ(redis({"COPY", key, "copy"}), ":1");
    expect_same("copy");
    EXPECT_EQ(redis({"RENAME", "copy", "renamed"}), "+OK");
    expect_same("renamed");
    EXPECT_EQ(redis({"RESTORE", "restored", "0", redis.call({"DUMP", key}).text}), "+OK");
    expect_same("restored");
    redis({"DEL", "renamed", "restored"});
    const long long with = redis.integer({"MEMORY", "USAGE", key});
    for (const char* const writer : {"ann", "bob"}) redis({"TALLY.ENDWRITER", key, writer});
    EXPECT_NE(redis.digest(key), before) << key;
    EXPECT_LT(redis.integer({"MEMORY", "USAGE", key}), with - 400) << key;
  }
}

TEST_F(RedisBatchFiles, AnExportDoesNotHaveTheWriters) {
  RunningModule redis;
  redis({"TALLY.CREATE", "f", "--kind", "bloom", "--keys", "100", "--seed", "1"});
  redis({"TALLY.PACKED", "f", "ADD", packed({"a"})});
  const std::string before = redis({"TALLY.EXPORT", "f", "0"});
  redis({"TALLY.CREATE", "g", "--kind", "bloom", "--keys", "100", "--seed", "1"});
  redis(batch("g", 1, 1, {"ADD", packed({"a"})}));
  EXPECT_EQ(redis({"TALLY.EXPORT", "g", "0"}), before);
  EXPECT_NE(redis.digest("g"), redis.digest("f"));
}

std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

/// Payloads of DUMP from the module before it had writers.
TEST_F(RedisBatchFiles, ASnapshotOfVersion1StillLoads) {
  RunningModule redis;
  const std::string filter = from_hex(
      "0781b5a965c9f8a5b40105c3404c40980954414c4c59464931010080000189544010030d0a0100c001800000c1800601000620"
      "03c013400000024004e02a000020a03317876302b185aa48009d2e837b56442557669a2c3d4d59d7d3022005200100c0080000"
      "0002008001000000080000010080800000100000000000000000000a00eca06aabb134ed28");
  const std::string list = from_hex(
      "0781b5a965cada29900105c33340400954414c4c59544b3102008000000480060000c00f01cdcc40000aec3fbd60303bee2a9d"
      "c9e8201b400007bbc4546f9cd7810d0240e805c340504080198954414c4c590d0a0100070001002000bd60303bee2a9dc90400"
      "800000022006002020194007400000034004e00a000001e00a134000c0370068400c20000f05695ab87651e66a57dbd0c9e4f8"
      "807205c30920010000e0130001000005c31a4048010200e005000001a00ee00707c000e007170161624019010000000a00b700"
      "94403a6e7b01");
  EXPECT_EQ(redis({"RESTORE", "f", "0", filter}), "+OK");
  EXPECT_EQ(redis({"RESTORE", "t", "0", list}), "+OK");
  EXPECT_EQ(redis.digest("f"), "[+ae574ecea0fa02d3818873562bb013b65f24d8b0]");
  EXPECT_EQ(redis.digest("t"), "[+fae423928da7789fecd13d50c6d0819d0df2b612]");
  EXPECT_EQ(redis({"TALLY.QUERY", "f", "a", "b", "c"}), "[:1, :1, :0]");
  EXPECT_EQ(redis({"TOPK.LIST", "t", "WITHCOUNT"}), "[\"a\", :2, \"b\", :1]");
  EXPECT_EQ(redis({"TALLY.WRITERS", "f"}), "[]");
  EXPECT_EQ(redis(batch("f", 1, 1, {"ADD", packed({"c"})})), "[:1, :0]");
  redis({"DEBUG", "RELOAD"});
  EXPECT_EQ(redis({"TALLY.WRITERS", "f"}), "[[\"w\", :1, :1]]");
}

TEST_F(RedisBatchFiles, DamagedWritersAndRecordsAreRefusedAndChangeNothing) {
  RunningModule redis({"--appendonly", "yes", "--aof-use-rdb-preamble", "no"});
  redis({"TALLY.OVERCREATE", "k", "1", "SEED", "1"});
  for (std::uint64_t i = 1; i <= 3; ++i)
    redis(batch("k", i, 1, {"OVER", "1", packed_keys("x", 3 * static_cast<int>(i), 3)}));
  redis(batch("k", 1, 1, {"OVER", "1", packed({"y"})}, "second"));
  ASSERT_TRUE(rewrites_append_only_file(redis));
  const std::vector<Words> loads = commands_of_append_only_file(redis, "TALLY.LOADWRITERS");
  ASSERT_EQ(loads.size(), 1u);
  const std::string blob = loads[0][2];
  redis({"TALLY.OVERCREATE", "l", "1", "SEED", "1"});
  redis({"TALLY.PACKED", "l", "OVER", "1", packed_keys("x", 3, 9)});
  redis({"TALLY.PACKED", "l", "OVER", "1", packed({"y"})});
  const std::string before = redis.digest("l");
  for (std::size_t i = 0; i < blob.size(); ++i) {
    std::string damaged = blob;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_THAT(redis({"TALLY.LOADWRITERS", "l", damaged}), StartsWith("-ERR received bad data: ")) << i;
    if (i == 0) continue;  // no bytes are an empty journal
    EXPECT_THAT(redis({"TALLY.LOADWRITERS", "l", blob.substr(0, i)}), StartsWith("-ERR received bad data: "));
  }
  expect_replies(redis,
                 {{{"TALLY.LOADWRITERS", "none", blob}, "-ERR the key does not exist; create it first"},
                  {{"TALLY.RECORD", "l", "w", "1", "1", "abc"},
                   "-ERR the reply has 3 bytes; must be 4 bytes for each of up to 65538 numbers"},
                  {{"TALLY.RECORD", "l", "w", "2", "1", "abcd"},
                   "-GAP 0 is the last batch of this writer here; send 1 next"}});
  EXPECT_EQ(redis.digest("l"), before);
  EXPECT_EQ(redis({"TALLY.LOADWRITERS", "l", blob}), "+OK");
  EXPECT_EQ(redis.digest("l"), redis.digest("k"));
  EXPECT_EQ(redis({"TALLY.LOADWRITERS", "l", blob}),
            "-ERR the key has writers; load them into a key without");
  EXPECT_EQ(redis({"TALLY.RECORD", "l", "w", "4", "2", "abcd"}), "+OK");
  EXPECT_EQ(redis({"TALLY.WRITERS", "l"}), "[[\"second\", :1, :1], [\"w\", :4, :3]]");
}

}  // namespace
}  // namespace tally::test
