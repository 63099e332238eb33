// What leaves the server and comes back: dumps, snapshots, the append-only file, replicas; and the module's options.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "running_module.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;

class RedisPersistence : public WithModule {};
class RedisDump : public WithModule {};
class RedisModule : public WithModule {};

/// Keys of every kind: a chain of several filters, one that does not grow, an empty one, a sketch, half of a load.
const std::vector<std::string> all_keys{"chain", "fixed", "empty", "sketch", "half"};

using Chunks = std::vector<std::pair<std::string, std::string>>;  // {position to load it at, bytes}

Chunks dump(RunningModule& redis, const std::string& key) {
  Chunks chunks;
  std::string position = "0";
  for (;;) {
    const RedisReply reply = redis.call({"BF.SCANDUMP", key, position});
    if (reply.elements.size() != 2) throw std::runtime_error("BF.SCANDUMP replies " + reply.shown());
    position = reply.elements[0].text;
    if (position == "0") {
      EXPECT_EQ(reply.elements[1].shown(), "\"\"");
      return chunks;
    }
    chunks.emplace_back(position, reply.elements[1].text);
  }
}

void fill(RunningModule& redis) {
  redis({"BF.RESERVE", "chain", "0.01", "100"});
  redis(with_keys({"BF.MADD", "chain"}, "key", 0, 1000));
  redis({"BF.RESERVE", "fixed", "0.001", "1000", "NONSCALING"});
  redis(with_keys({"BF.INSERT", "fixed", "ITEMS"}, "key", 0, 500));
  redis({"BF.RESERVE", "empty", "0.01", "100"});
  redis({"CMS.INITBYPROB", "sketch", "0.01", "0.01"});
  redis({"CMS.INCRBY", "sketch", "a", "5", "b", "4294967295", "b", "1"});
  const Chunks chunks = dump(redis, "chain");
  for (std::size_t i = 0; i < chunks.size() / 2; ++i) {
    redis({"BF.LOADCHUNK", "half", chunks[i].first, chunks[i].second});
  }
}

/// More of the same, to a server that may have been started again since.
void fill_more(RunningModule& redis) {
  redis(with_keys({"BF.MADD", "chain"}, "more", 0, 1000));
  redis({"BF.ADD", "made by add", "x"});
  redis({"CMS.INCRBY", "sketch", "c", "7"});
  redis({"CMS.INITBYPROB", "merged", "0.01", "0.01"});
  redis({"CMS.MERGE", "merged", "1", "sketch"});
}

std::vector<std::string> digests(RunningModule& redis) {
  std::vector<std::string> all;
  for (const std::string& key : all_keys) all.push_back(redis.digest(key));
  all.push_back(redis.digest("made by add"));
  all.push_back(redis.digest("merged"));
  return all;
}

TEST_F(RedisDump, ALoadedDumpIsEqual) {
  RunningModule redis;
  fill(redis);
  for (const std::string key : {"chain", "fixed", "empty"}) {
    const std::string copy = "copy of " + key;
    for (const auto& [position, bytes] : dump(redis, key)) {
      ASSERT_EQ(redis({"BF.LOADCHUNK", copy, position, bytes}), "+OK");
    }
    EXPECT_EQ(redis.digest(copy), redis.digest(key));
    EXPECT_EQ(redis({"BF.INFO", copy}), redis({"BF.INFO", key}));
    EXPECT_EQ(redis({"COPY", key, "second " + key}), ":1");
    EXPECT_EQ(redis.digest("second " + key), redis.digest(key));
  }
  redis(with_keys({"BF.MADD", "chain"}, "more", 0, 2000));
  redis(with_keys({"BF.MADD", "copy of chain"}, "more", 0, 2000));
  EXPECT_EQ(redis.digest("copy of chain"), redis.digest("chain"));  // it goes on growing in the same way
}

TEST_F(RedisDump, AFilterLargerThanAPieceIsDumpedInSeveral) {
  RunningModule redis;
  redis({"BF.RESERVE", "f", "0.01", "3000000"});
  redis(with_keys({"BF.MADD", "f"}, "key", 0, 1000));
  const Chunks chunks = dump(redis, "f");
  EXPECT_GT(chunks.size(), 3u);
  for (const auto& [position, bytes] : chunks) {
    ASSERT_EQ(redis({"BF.LOADCHUNK", "copy", position, bytes}), "+OK");
  }
  EXPECT_EQ(redis.digest("copy"), redis.digest("f"));
}

TEST_F(RedisDump, APieceThatDoesNotBelongThereIsRefusedAndChangesNothing) {
  RunningModule redis;
  fill(redis);
  const Chunks chunks = dump(redis, "chain");
  ASSERT_GE(chunks.size(), 4u);
  const auto& [header_at, header] = chunks[0];
  for (std::size_t length = 0; length < header.size(); ++length) {
    EXPECT_EQ(redis({"BF.LOADCHUNK", "cut", "1", header.substr(0, length)}), "-ERR received bad data")
        << length;
  }
  for (std::size_t i = 0; i < header.size(); ++i) {
    std::string damaged = header;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    EXPECT_EQ(redis({"BF.LOADCHUNK", "cut", "1", damaged}), "-ERR received bad data") << i;
  }
  ASSERT_EQ(redis({"BF.LOADCHUNK", "k", header_at, header}), "+OK");
  const std::string no_link = "-ERR invalid offset - no link found";
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    const auto& [position, bytes] = chunks[i];
    const std::string before = redis.digest("k");
    std::string damaged = bytes;
    damaged[bytes.size() / 2] = static_cast<char>(damaged[bytes.size() / 2] ^ 1);
    EXPECT_EQ(redis({"BF.LOADCHUNK", "k", header_at, header}), "-ERR received bad data");
    EXPECT_EQ(redis({"BF.LOADCHUNK", "k", position, bytes.substr(1)}), no_link);
    EXPECT_EQ(redis({"BF.LOADCHUNK", "k", position, bytes.substr(0, bytes.size() - 1)}), no_link);
    EXPECT_EQ(redis({"BF.LOADCHUNK", "k", std::to_string(std::stoll(position) + 1), bytes}), no_link);
    EXPECT_EQ(redis({"BF.LOADCHUNK", "k", std::to_string(std::stoll(position) + 1), bytes + "x"}),
              "-ERR invalid chunk - Too big for current filter");
    EXPECT_EQ(redis({"BF.LOADCHUNK", "k", position, damaged}), "-ERR received bad data");
    if (i > 1) {
      EXPECT_EQ(redis({"BF.LOADCHUNK", "k", chunks[i - 1].first, chunks[i - 1].second}), no_link);
    }
    if (i + 1 < chunks.size()) {
      EXPECT_EQ(redis({"BF.LOADCHUNK", "k", chunks[i + 1].first, chunks[i + 1].second}), no_link);
    }
    EXPECT_THAT(redis({"BF.ADD", "k", "x"}), HasSubstr("the value is incomplete"));
    EXPECT_THAT(redis({"BF.EXISTS", "k", "x"}), HasSubstr("the value is incomplete"));
    EXPECT_THAT(redis({"BF.INFO", "k"}), HasSubstr("the value is incomplete"));
    EXPECT_EQ(redis.digest("k"), before);
    ASSERT_EQ(redis({"BF.LOADCHUNK", "k", position, bytes}), "+OK");
  }
  EXPECT_EQ(redis.digest("k"), redis.digest("chain"));
  EXPECT_EQ(redis({"BF.LOADCHUNK", "k", chunks.back().first, chunks.back().second}), no_link);
  EXPECT_EQ(redis.digest("k"), redis.digest("chain"));
  EXPECT_EQ(redis({"EXISTS", "cut"}), ":0");
}

TEST_F(RedisPersistence, ASnapshotSurvivesKill) {
  RunningModule redis;
  fill(redis);
  const Chunks chunks = dump(redis, "chain");
  const std::string half_was_of = redis.digest("chain");
  fill_more(redis);
  const std::vector<std::string> before = digests(redis);
  ASSERT_EQ(redis({"SAVE"}), "+OK");
  redis.kill_and_restart();
  EXPECT_EQ(digests(redis), before);
  EXPECT_EQ(redis({"BF.EXISTS", "chain", "key7"}), ":1");
  EXPECT_EQ(redis({"CMS.QUERY", "sketch", "a", "b"}), "[:5, :4294967295]");
  const RedisReply bytes = redis.call({"DUMP", "chain"});
  ASSERT_EQ(redis({"RESTORE", "restored", "0", bytes.text}), "+OK");
  EXPECT_EQ(redis.digest("restored"), before[0]);
  EXPECT_THAT(redis({"BF.INFO", "half"}), HasSubstr("the value is incomplete"));
  for (std::size_t i = chunks.size() / 2; i < chunks.size(); ++i) {
    ASSERT_EQ(redis({"BF.LOADCHUNK", "half", chunks[i].first, chunks[i].second}), "+OK");
  }
  EXPECT_EQ(redis.digest("half"), half_was_of);
}

class RedisAppendOnlyFile : public WithModule, public testing::WithParamInterface<const char*> {};

TEST_P(RedisAppendOnlyFile, SurvivesKillBeforeAndAfterARewrite) {
  if (IsSkipped()) return;
  RunningModule redis(
      {"--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", GetParam()});
  fill(redis);
  const auto without_rewrite = digests(redis);
  redis.kill_and_restart();
  EXPECT_EQ(digests(redis), without_rewrite);
  redis({"BGREWRITEAOF"});
  ASSERT_TRUE(comes_true([&] {
    const std::string info = redis({"INFO", "persistence"});
    return info.find("aof_rewrite_in_progress:0") != std::string::npos &&
           info.find("aof_rewrite_scheduled:0") != std::string::npos;
  }));
  EXPECT_THAT(redis({"INFO", "persistence"}), HasSubstr("aof_last_bgrewrite_status:ok"));
  redis.kill_and_restart();
  EXPECT_EQ(digests(redis), without_rewrite);
  fill_more(redis);
  const auto with_more = digests(redis);
  redis.kill_and_restart();
  EXPECT_EQ(digests(redis), with_more);
}

INSTANTIATE_TEST_SUITE_P(WithPreamble, RedisAppendOnlyFile, testing::Values("yes", "no"),
                         [](const auto& test) { return std::string(test.param); });

TEST_F(RedisPersistence, AReplicaIsEqualAfterTheFirstCopyAndAfterWrites) {
  RunningModule master({"--repl-diskless-sync-delay", "0"});
  fill(master);
  RunningModule replica({"--replicaof", "127.0.0.1 " + std::to_string(master.port())},
                        {"MAX-KEY-BYTES", "1"});
  ASSERT_TRUE(comes_true([&] {
    return replica({"INFO", "replication"}).find("master_link_status:up") != std::string::npos;
  }));
  EXPECT_EQ(digests(replica), digests(master));
  fill_more(master);
  const Chunks chunks = dump(master, "chain");
  for (const auto& [position, bytes] : chunks) master({"BF.LOADCHUNK", "loaded", position, bytes});
  ASSERT_EQ(master({"WAIT", "1", "10000"}), ":1");
  EXPECT_EQ(digests(replica), digests(master));
  EXPECT_EQ(replica.digest("loaded"), master.digest("chain"));
  EXPECT_THAT(replica({"BF.ADD", "chain", "x"}), HasSubstr("READONLY"));
  EXPECT_EQ(replica({"BF.EXISTS", "chain", "more7"}), ":1");
}

TEST_F(RedisModule, WithoutCompatibleNamesRegistersNoneOfThem) {
  RunningModule redis({}, {"COMPAT", "no"});
  std::vector<std::string> names;
  for (const RedisReply& name : redis.call({"COMMAND", "LIST", "FILTERBY", "MODULE", "tally"}).elements) {
    names.push_back(name.text);
  }
  EXPECT_THAT(names, testing::Not(testing::IsEmpty()));
  EXPECT_THAT(names, testing::Each(testing::StartsWith("TALLY.")));
  EXPECT_THAT(redis({"BF.ADD", "f", "a"}), HasSubstr("unknown command"));
  EXPECT_THAT(redis({"CMS.INITBYDIM", "c", "10", "2"}), HasSubstr("unknown command"));
}

TEST_F(RedisModule, DoesNotLoadWithAnUnknownOption) {
  for (const Words& options :
       {Words{"UNKNOWN", "yes"}, Words{"COMPAT"}, Words{"COMPAT", "perhaps"}, Words{"MAX-KEY-BYTES", "0"}}) {
    const TemporaryDirectory directory;
    Words words = RunningModule::all_flags(
        {"--port", "0", "--save", "", "--unixsocket", directory / "socket"}, options);
    words.insert(words.begin(), {"timeout", "10", "redis-server"});
    const CommandResult result = run_program(words);
    EXPECT_NE(result.exit_code, 0) << options[0];
    EXPECT_THAT(result.output, HasSubstr("tally: cannot read the option " + options[0])) << options[0];
  }
}

}  // namespace
}  // namespace tally::test
