// What leaves the server and comes back: dumps, snapshots, the append-only file, replicas; and the module's options.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "running_module.hpp"

namespace tally::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RedisPersistence : public WithModule {};
class RedisDump : public WithModule {};
class RedisModule : public WithModule {};

/// Keys of every kind: a chain of several filters, one that does not grow, an empty one, a sketch, half of a load,
/// cuckoo chains that have grown and that have lost keys; lists
/// that are full and empty.
const std::vector<std::string> all_keys{"chain",  "fixed",       "empty", "sketch",   "half",
                                        "cuckoo", "full cuckoo", "top",   "empty top"};

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
  redis({"CF.RESERVE", "cuckoo", "100", "EXPANSION", "2"});
  redis(with_keys({"CF.INSERT", "cuckoo", "ITEMS"}, "key", 0, 1000));
  for (int i = 0; i < 6; ++i) redis(with_keys({"CF.INSERT", "cuckoo", "ITEMS"}, "often", 0, 5));
  for (int i = 0; i < 50; ++i) redis({"CF.DEL", "cuckoo", "key" + std::to_string(i)});
  redis({"CF.DEL", "cuckoo", "absent"});
  redis({"CF.RESERVE", "full cuckoo", "100", "EXPANSION", "0", "ERROR", "0.001"});
  redis(with_keys({"CF.INSERT", "full cuckoo", "ITEMS"}, "key", 0, 300));
  redis({"TOPK.RESERVE", "top", "10", "20", "3", "0.9"});
  for (int i = 1; i < 30; ++i) redis(with_keys({"TOPK.ADD", "top"}, "key", 0, i));
  redis({"TOPK.RESERVE", "empty top", "3"});
  const Chunks chunks = dump(redis, "chain");
  for (std::size_t i = 0; i < chunks.size() / 2; ++i) {
    redis({"BF.LOADCHUNK", "half", chunks[i].first, chunks[i].second});
  }
}

/// More of the same, to a server that may have been started again since.
void fill_more(RunningModule& redis) {
  redis(with_keys({"BF.MADD", "chain"}, "more", 0, 1000));
  redis({"BF.ADD", "made by add", "x"});
  for (int i = 1; i < 30; ++i) redis(with_keys({"TOPK.ADD", "top"}, "more", 0, i));
  redis({"TOPK.INCRBY", "top", "key3", "100", "new", "100000", "key3", "0"});
  redis({"TOPK.ADD", "empty top", "a"});
  redis({"CF.ADD", "cuckoo by add", "x"});
  redis({"CF.INSERTNX", "cuckoo", "CAPACITY", "50", "ITEMS", "key1", "key1", "key999", "new"});
  redis(with_keys({"CF.INSERT", "cuckoo", "ITEMS"}, "more", 0, 1000));
  for (int i = 100; i < 150; ++i) redis({"CF.DEL", "cuckoo", "key" + std::to_string(i)});
  redis(with_keys({"CF.INSERT", "full cuckoo", "ITEMS"}, "key", 0, 300));
  redis({"CMS.INCRBY", "sketch", "c", "7"});
  redis({"CMS.INITBYPROB", "merged", "0.01", "0.01"});
  redis({"CMS.MERGE", "merged", "1", "sketch"});
}

std::vector<std::string> digests(RunningModule& redis) {
  std::vector<std::string> all;
  for (const std::string& key : all_keys) all.push_back(redis.digest(key));
  for (const char* key : {"made by add", "cuckoo by add"}) all.push_back(redis.digest(key));
  all.push_back(redis.digest("merged"));
  return all;
}

TEST_F(RedisDump, ThatHasNotBegunHereIsRefusedAndDoesNotLookLikeItsEnd) {
  RunningModule redis;
  redis({"BF.RESERVE", "f", "0.01", "100"});
  EXPECT_EQ(redis({"BF.SCANDUMP", "f", "-16777216"}),
            "-ERR no dump of the key has begun here; begin again with position 0");
}

TEST_F(RedisDump, OfALargeFilterBeginsWithEmptyChunksAndLoadsWithThem) {
  RunningModule redis;
  redis({"BF.RESERVE", "f", "0.01", "20000000", "NONSCALING"});
  redis(with_keys({"BF.MADD", "f"}, "key", 0, 1000));
  redis({"CF.RESERVE", "cf", "9000000"});
  redis(with_keys({"CF.INSERT", "cf", "ITEMS"}, "key", 0, 1000));
  for (const std::string name : {"BF", "CF"}) {
    const std::string key = name == "BF" ? "f" : "cf";
    std::vector<std::string> before_header;
    std::string position = "0";
    for (;;) {
      const RedisReply reply = redis.call({name + ".SCANDUMP", key, position});
      ASSERT_EQ(reply.elements.size(), 2u) << reply.shown();
      position = reply.elements[0].text;
      if (position == "0") break;
      if (position[0] == '-') {
        before_header.push_back(position);
        EXPECT_EQ(reply.elements[1].text, "");
      }
      ASSERT_EQ(redis({name + ".LOADCHUNK", "copy", position, reply.elements[1].text}), "+OK") << position;
      if (position[0] == '-') {
        EXPECT_EQ(redis({"EXISTS", "copy"}), ":0");
      }
    }
    EXPECT_THAT(before_header, ElementsAre("-16777216")) << name;
    EXPECT_EQ(redis.digest("copy"), redis.digest(key));
    redis({"DEL", "copy"});

    // A write between two calls is found.
    position = redis.call({name + ".SCANDUMP", key, "0"}).elements.at(0).text;
    redis({name + ".ADD", key, "another"});
    EXPECT_THAT(redis({name + ".SCANDUMP", key, position}), HasSubstr("the key has changed"));
    position = redis.call({name + ".SCANDUMP", key, "0"}).elements.at(0).text;
    EXPECT_EQ(redis.call({name + ".SCANDUMP", key, position}).elements.at(0).text, "1");
    redis({name + ".ADD", key, "yet another"});
    EXPECT_THAT(redis({name + ".SCANDUMP", key, "1"}), HasSubstr("the key has changed"));
  }
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
  ASSERT_TRUE(rewrites_append_only_file(redis));
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
  ASSERT_TRUE(follows_its_master(replica));
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

std::set<std::string> names_of_commands(RunningModule& redis) {
  std::set<std::string> names;
  for (const RedisReply& name : redis.call({"COMMAND", "LIST", "FILTERBY", "MODULE", "tally"}).elements) {
    names.insert(name.text);
  }
  return names;
}

TEST_F(RedisModule, WithoutCompatibleNamesHasTheSameCommandsUnderThePrefix) {
  RunningModule with;
  RunningModule without({}, {"COMPAT", "no"});
  const std::set<std::string> all = names_of_commands(with);
  std::set<std::string> prefixed;
  for (const std::string& name : all) {
    if (name.starts_with("TALLY.")) {
      prefixed.insert(name);
    } else {
      EXPECT_TRUE(all.contains("TALLY." + name)) << name;
    }
  }
  EXPECT_EQ(names_of_commands(without), prefixed);
  EXPECT_TRUE(prefixed.contains("TALLY.BF.ADD"));
  EXPECT_THAT(without({"BF.ADD", "f", "a"}), HasSubstr("unknown command"));
  EXPECT_EQ(without({"TALLY.BF.ADD", "f", "a"}), ":1");
  EXPECT_EQ(without({"TALLY.CMS.INITBYDIM", "c", "10", "2"}), "+OK");
}

/// The commands that a rewritten append-only file without a snapshot has.
std::vector<Words> commands_of_rewritten_file(RunningModule& redis) {
  EXPECT_TRUE(rewrites_append_only_file(redis));
  const std::string directory = redis.call({"CONFIG", "GET", "dir"}).elements.at(1).text;
  std::string bytes;
  for (const auto& file : std::filesystem::directory_iterator(directory + "/appendonlydir")) {
    if (file.path().string().ends_with(".base.aof")) bytes = read_file(file.path());
  }
  std::vector<Words> commands;
  std::size_t at = 0;
  const auto number = [&] {  // after one byte, on a line
    const std::size_t end = bytes.find("\r\n", at);
    const std::size_t value = std::stoul(bytes.substr(at + 1, end - at - 1));
    at = end + 2;
    return value;
  };
  while (at < bytes.size()) {
    commands.emplace_back(number());
    for (std::string& word : commands.back()) {
      const std::size_t length = number();
      word = bytes.substr(at, length);
      at += length + 2;
    }
  }
  return commands;
}

TEST_F(RedisDump, APieceOfAListThatDoesNotBelongThereIsRefusedAndChangesNothing) {
  RunningModule redis({"--appendonly", "yes", "--aof-use-rdb-preamble", "no"});
  redis({"TOPK.RESERVE", "top", "10", "20", "3", "0.9"});
  for (int i = 1; i < 30; ++i) redis(with_keys({"TOPK.ADD", "top"}, "key", 0, i));
  std::vector<Words> pieces;
  for (const Words& words : commands_of_rewritten_file(redis)) {
    if (words[0] == "TALLY.LOADCHUNK" && words[1] == "top") pieces.push_back(words);
  }
  ASSERT_EQ(pieces.size(), 4u);  // header; the file's header, counters and items
  for (Words& words : pieces) words[1] = "copy";
  const auto with_bytes = [](Words words, std::string bytes) {
    words[3] = std::move(bytes);
    return words;
  };
  const auto damaged = [](std::string bytes, std::size_t i) {
    bytes[i] = static_cast<char>(bytes[i] ^ 0x40);
    return bytes;
  };
  const std::string header = pieces[0][3];
  for (std::size_t i = 0; i < header.size(); ++i) {
    EXPECT_EQ(redis(with_bytes(pieces[0], damaged(header, i))), "-ERR received bad data") << i;
    EXPECT_EQ(redis(with_bytes(pieces[0], header.substr(0, i))), "-ERR received bad data") << i;
    EXPECT_THAT(redis({"TALLY.LOADEMPTY", "copy", damaged(header, i)}), HasSubstr("bad data")) << i;
  }
  EXPECT_THAT(redis({"TALLY.LOADEMPTY", "copy", header}), HasSubstr("not empty"));
  EXPECT_EQ(redis({"EXISTS", "copy"}), ":0");
  EXPECT_EQ(redis(pieces[0]), "+OK");
  for (std::size_t piece = 1; piece < pieces.size(); ++piece) {
    const std::string before = redis.digest("copy");
    const std::string bytes = pieces[piece][3];
    EXPECT_EQ(redis(pieces[0]), "-ERR received bad data");
    EXPECT_EQ(redis(with_bytes(pieces[piece], bytes.substr(1))), "-ERR invalid offset - no link found");
    if (piece + 1 < pieces.size()) {
      EXPECT_EQ(redis(pieces[piece + 1]), "-ERR invalid offset - no link found");
    }
    EXPECT_THAT(redis({"TOPK.ADD", "copy", "a"}), HasSubstr("the value is incomplete"));
    EXPECT_THAT(redis({"TOPK.LIST", "copy"}), HasSubstr("the value is incomplete"));
    for (std::size_t i = 0; piece == 3 && i < bytes.size(); ++i) {
      EXPECT_EQ(redis(with_bytes(pieces[piece], damaged(bytes, i))), "-ERR received bad data") << i;
    }
    EXPECT_EQ(redis.digest("copy"), before);
    ASSERT_EQ(redis(pieces[piece]), "+OK");
  }
  EXPECT_EQ(redis.digest("copy"), redis.digest("top"));
  EXPECT_EQ(redis({"TOPK.LIST", "copy", "WITHCOUNT"}), redis({"TOPK.LIST", "top", "WITHCOUNT"}));
  EXPECT_EQ(redis({"COPY", "top", "second"}), ":1");
  for (const char* key : {"top", "copy", "second"}) {
    for (int i = 1; i < 30; ++i) redis(with_keys({"TOPK.ADD", key}, "more", 0, i));
  }
  for (const char* key : {"copy", "second"}) EXPECT_EQ(redis.digest(key), redis.digest("top")) << key;
}

TEST_F(RedisPersistence, AReplicaWithMoreRoomRefusesWhatItsMasterRefused) {
  RunningModule master({"--repl-diskless-sync-delay", "0"}, {"MAX-KEY-BYTES", "20000"});
  RunningModule replica({"--replicaof", "127.0.0.1 " + std::to_string(master.port())});
  ASSERT_TRUE(follows_its_master(replica));
  for (const char* key : {"chain", "cuckoo"}) {
    const std::string command = key == std::string("chain") ? "BF.INSERT" : "CF.INSERT";
    for (int i = 0; i < 20; ++i) master(with_keys({command, key, "ITEMS"}, "key", 1000 * i, 1000));
    EXPECT_GT(master.integer({"MEMORY", "USAGE", key}), 5000);
    EXPECT_LT(master.integer({"MEMORY", "USAGE", key}), 25000);
  }
  for (int i = 0; i < 500; ++i) master({"CF.DEL", "cuckoo", "key" + std::to_string(i)});
  master(with_keys({"CF.INSERTNX", "cuckoo", "ITEMS"}, "key", 0, 20000));
  ASSERT_EQ(master({"WAIT", "1", "10000"}), ":1");
  for (const char* key : {"chain", "cuckoo"}) EXPECT_EQ(replica.digest(key), master.digest(key)) << key;
}

TEST_F(RedisModule, AMasterWithCompatibleNamesHasAReplicaWithout) {
  RunningModule master({"--repl-diskless-sync-delay", "0"});
  fill(master);
  RunningModule replica({"--replicaof", "127.0.0.1 " + std::to_string(master.port())}, {"COMPAT", "no"});
  ASSERT_TRUE(follows_its_master(replica));
  master({"FLUSHALL"});
  fill(master);
  fill_more(master);
  ASSERT_EQ(master({"WAIT", "1", "10000"}), ":1");
  EXPECT_EQ(digests(replica), digests(master));
  EXPECT_EQ(replica({"DBSIZE"}), master({"DBSIZE"}));
}

TEST_F(RedisModule, AnAppendOnlyFileIsReadWithoutCompatibleNames) {
  RunningModule redis({"--appendonly", "yes", "--appendfsync", "always"});
  fill(redis);
  fill_more(redis);
  const auto before = digests(redis);
  redis.kill_and_restart({"COMPAT", "no"});
  EXPECT_EQ(digests(redis), before);
}

TEST_F(RedisModule, ANameThatAnotherModuleHasIsReportedWithTheRemedy) {
  const TemporaryDirectory directory;
  Words words =
      RunningModule::all_flags({"--port", "0", "--save", "", "--unixsocket", directory / "socket"}, {});
  words.insert(words.begin(), {"timeout", "10", redis_server(), "--loadmodule", TALLY_OTHER_MODULE});
  const CommandResult result = run_program(words);
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("another module has registered the command BF.ADD; load tally with "
                                       "COMPAT no"));

  RunningModule redis({"--loadmodule", TALLY_OTHER_MODULE}, {"COMPAT", "no"});
  EXPECT_EQ(redis({"BF.ADD", "f", "a"}), "+other");
  EXPECT_EQ(redis({"TALLY.BF.ADD", "f", "a"}), ":1");
}

TEST_F(RedisModule, AnEmptyValueIsLoadedFromItsHeaderOnly) {
  RunningModule redis;
  fill(redis);
  const std::string header = dump(redis, "empty")[0].second;
  EXPECT_EQ(redis({"TALLY.LOADEMPTY", "k", header}), "+OK");
  EXPECT_EQ(redis.digest("k"), redis.digest("empty"));
  EXPECT_EQ(redis({"TALLY.LOADEMPTY", "k", header}), "-ERR item exists");
  redis({"DEL", "k"});
  const std::string bad = "-ERR received bad data";
  EXPECT_THAT(redis({"TALLY.LOADEMPTY", "k", dump(redis, "fixed")[0].second}), HasSubstr("not empty"));
  for (std::size_t i = 0; i < header.size(); ++i) {
    std::string damaged = header;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    EXPECT_THAT(redis({"TALLY.LOADEMPTY", "k", damaged}), testing::StartsWith(bad)) << i;
    EXPECT_THAT(redis({"TALLY.LOADEMPTY", "k", header.substr(0, i)}), testing::StartsWith(bad)) << i;
    EXPECT_THAT(redis({"TALLY.LOADCHUNK", "k", "1", damaged}), testing::StartsWith(bad)) << i;
  }
  EXPECT_EQ(redis({"TALLY.LOADCHUNK", "k", "2", header}), "-ERR not found");
  EXPECT_EQ(redis({"EXISTS", "k"}), ":0");
}

TEST_F(RedisModule, DoesNotLoadWithAnUnknownOption) {
  for (const Words& options :
       {Words{"UNKNOWN", "yes"}, Words{"COMPAT"}, Words{"COMPAT", "perhaps"}, Words{"MAX-KEY-BYTES", "0"}}) {
    const TemporaryDirectory directory;
    Words words = RunningModule::all_flags(
        {"--port", "0", "--save", "", "--unixsocket", directory / "socket"}, options);
    words.insert(words.begin(), {"timeout", "10", redis_server()});
    const CommandResult result = run_program(words);
    EXPECT_NE(result.exit_code, 0) << options[0];
    EXPECT_THAT(result.output, HasSubstr("tally: cannot read the option " + options[0])) << options[0];
  }
}

}  // namespace
}  // namespace tally::test
