// TALLY.EXPORT and TALLY.IMPORT: keys as plain Tally files, against what the library writes and reads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "file_bytes.hpp"
#include "random.hpp"
#include "running_module.hpp"
#include "sample_filters.hpp"
#include "tally/serialization.hpp"
#include "tally/serialization/sketch_files.hpp"
#include "tally/sketches/space_saving.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;

class RedisFile : public WithModule {};

std::string text(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// The bytes of a key's file.
std::string exported(RunningModule& redis, const std::string& key) {
  std::string file;
  std::string position = "0";
  do {
    const RedisReply reply = redis.call({"TALLY.EXPORT", key, position});
    if (reply.elements.size() != 2) throw std::runtime_error("TALLY.EXPORT replies " + reply.shown());
    position = reply.elements[0].text;
    file += reply.elements[1].text;
  } while (position != "0");
  return file;
}

/// The last reply: the first that is not OK.
std::string import(RunningModule& redis, const std::string& key, const std::string& file, std::size_t size) {
  for (std::size_t at = 0; at < file.size(); at += size) {
    const std::string reply = redis({"TALLY.IMPORT", key, std::to_string(at), file.substr(at, size)});
    if (reply != "+OK") return reply;
  }
  return "+OK";
}

/// A small file of every kind.
std::vector<std::string> files_of_every_kind() {
  std::vector<std::string> files;
  std::vector<FilterKind> kinds;
  for (const FilterShape& shape : sample_shapes()) {
    if (std::ranges::find(kinds, shape.kind()) != kinds.end()) continue;
    kinds.push_back(shape.kind());
    files.push_back(text(serialize(filled(shape))));
  }
  return files;
}

TEST_F(RedisFile, OfEveryKindIsImportedInAnyPiecesAndExportedWithTheSameBytes) {
  RunningModule redis;
  for (const FilterShape& shape : sample_shapes()) {
    const std::string file = text(serialize(filled(shape)));
    ASSERT_EQ(import(redis, "k", file, 1 << 20), "+OK") << describe(shape);
    EXPECT_EQ(exported(redis, "k"), file) << describe(shape);
    redis({"DEL", "k"});
  }
  for (const std::string& file : files_of_every_kind()) {
    for (const std::size_t size : {1, 127, 128, 129, 300}) {
      ASSERT_EQ(import(redis, "k", file, size), "+OK") << size;
      EXPECT_EQ(exported(redis, "k"), file) << size;
      EXPECT_THAT(redis({"TALLY.ADD", "k", "x"}), ::testing::StartsWith("[+"));
      redis({"DEL", "k"});
    }
  }
}

TEST_F(RedisFile, LargerThanAPieceIsExportedInSeveral) {
  RunningModule redis;
  redis({"TALLY.CREATE", "f", "--kind", "dleft", "--keys", "1200k", "--seed", "1"});
  redis(with_keys({"TALLY.ADD", "f"}, "key", 0, 1000));
  const std::string file = exported(redis, "f");
  EXPECT_GT(file.size(), std::size_t{2} << 20);
  ASSERT_EQ(import(redis, "copy", file, 1000003), "+OK");
  EXPECT_EQ(redis.digest("copy"), redis.digest("f"));
  const auto* const bytes = reinterpret_cast<const std::byte*>(file.data());
  EXPECT_TRUE(deserialize({bytes, file.size()}).may_contain(KeyHasher(1)("key7")));
}

TEST_F(RedisFile, OfALargeKeyIsExportedAfterStepsThatComputeItsChecksum) {
  RunningModule redis;
  redis({"TALLY.CREATE", "f", "--kind", "dleft", "--keys", "18M", "--seed", "1"});
  redis(with_keys({"TALLY.ADD", "f"}, "key", 0, 1000));
  EXPECT_EQ(redis({"TALLY.EXPORT", "f", "0"}), "[:-16777216, \"\"]");
  EXPECT_EQ(redis({"TALLY.EXPORT", "f", "0"}), "[:-16777216, \"\"]");
  EXPECT_EQ(redis({"TALLY.EXPORT", "f", "-16777216"}), "[:-33554432, \"\"]");
  EXPECT_EQ(redis.call({"TALLY.EXPORT", "f", "-33554432"}).elements.at(0).text, "128");
  const std::string file = exported(redis, "f");
  ASSERT_EQ(import(redis, "copy", file, std::size_t{1} << 20), "+OK");
  EXPECT_EQ(redis.digest("copy"), redis.digest("f"));
  const auto* const bytes = reinterpret_cast<const std::byte*>(file.data());
  EXPECT_TRUE(deserialize({bytes, file.size()}).may_contain(KeyHasher(1)("key7")));
}

TEST_F(RedisFile, IsNotExportedWhenTheKeyChangesMeanwhile) {
  RunningModule redis;
  for (const char* keys : {"1M", "16M"}) {
    const std::vector<Words> writes{
        {"TALLY.ADD", "f", "x"}, {"TALLY.REMOVE", "f", "x"}, {"TALLY.REMOVE", "f", "y"}};
    for (const Words& write : writes) {
      redis({"TALLY.CREATE", "f", "--kind", "dleft", "--keys", keys, "--seed", "1"});
      redis({"TALLY.ADD", "f", "x"});
      const std::string position = redis.call({"TALLY.EXPORT", "f", "0"}).elements.at(0).text;
      redis(write);
      EXPECT_EQ(redis({"TALLY.EXPORT", "f", position}),
                "-ERR the key has changed since the call with position 0; begin again, and do not write to "
                "the key until "
                "the last piece")
          << write[0] << " " << write[2];
      EXPECT_THAT(exported(redis, "f"), ::testing::SizeIs(::testing::Gt(std::size_t{1} << 20)));
      redis({"DEL", "f"});
    }
  }
}

TEST_F(RedisFile, ThatIsDamagedOrOutOfOrderIsRefusedAndChangesNothing) {
  RunningModule redis;
  Random random(7);
  for (const std::string& file : files_of_every_kind()) {
    for (std::size_t at = 0; at < 128; ++at) {
      std::string damaged = file;
      damaged[at] ^= static_cast<char>(1 + random.below(255));
      EXPECT_THAT(redis({"TALLY.IMPORT", "new", "0", damaged}), HasSubstr("-ERR")) << at;
      EXPECT_EQ(redis({"EXISTS", "new"}), ":0");
    }
    ASSERT_EQ(redis({"TALLY.IMPORT", "k", "0", file.substr(0, 100)}), "+OK");
    ASSERT_EQ(redis({"TALLY.IMPORT", "k", "100", file.substr(100, 40)}), "+OK");
    const std::string before = redis.digest("k");
    for (int trial = 0; trial < 50; ++trial) {
      std::string damaged = file.substr(140);
      damaged[random.below(damaged.size())] ^= static_cast<char>(1 + random.below(255));
      EXPECT_THAT(redis({"TALLY.IMPORT", "k", "140", damaged}), HasSubstr("received bad data"));
    }
    for (const std::size_t at : {0, 100, 139, 141}) {
      EXPECT_THAT(redis({"TALLY.IMPORT", "k", std::to_string(at), file.substr(at, 40)}),
                  HasSubstr("must begin at 140"));
    }
    EXPECT_EQ(redis({"TALLY.IMPORT", "k", "140", file.substr(140) + "x"}),
              "-ERR invalid chunk - Too big for current filter");
    EXPECT_THAT(redis({"TALLY.QUERY", "k", "x"}), HasSubstr("the value is incomplete"));
    EXPECT_THAT(redis({"TALLY.EXPORT", "k", "0"}), HasSubstr("the value is incomplete"));
    EXPECT_EQ(redis.digest("k"), before);
    ASSERT_EQ(redis({"TALLY.IMPORT", "k", "140", file.substr(140)}), "+OK");
    EXPECT_EQ(exported(redis, "k"), file);
    EXPECT_THAT(redis({"TALLY.IMPORT", "k", "0", file}), HasSubstr("the key exists"));
    redis({"DEL", "k"});
  }
}

TEST_F(RedisFile, HalfImportedSurvivesRestartRewriteAndReplication) {
  const std::string file = files_of_every_kind().back();
  for (const char* preamble : {"yes", "no"}) {
    RunningModule redis({"--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", preamble,
                         "--repl-diskless-sync-delay", "0"});
    const std::vector<std::size_t> halves{1, 127, 128, 200};
    for (const std::size_t half : halves)
      ASSERT_EQ(redis({"TALLY.IMPORT", "k" + std::to_string(half), "0", file.substr(0, half)}), "+OK");
    redis.kill_and_restart();
    ASSERT_TRUE(rewrites_append_only_file(redis));
    redis.kill_and_restart();
    RunningModule replica({"--replicaof", "127.0.0.1 " + std::to_string(redis.port())},
                          {"MAX-KEY-BYTES", "1"});
    ASSERT_TRUE(follows_its_master(replica));
    for (const std::size_t half : halves) {
      const std::string key = "k" + std::to_string(half);
      EXPECT_THAT(redis({"TALLY.INFO", key}), HasSubstr("the value is incomplete"));
      EXPECT_THAT(redis({"TALLY.LOADCHUNK", key, "9999", "x"}), HasSubstr("-ERR"));
      EXPECT_EQ(replica.digest(key), redis.digest(key));
      ASSERT_EQ(redis({"TALLY.IMPORT", key, std::to_string(half), file.substr(half)}), "+OK");
      EXPECT_EQ(exported(redis, key), file);
      ASSERT_EQ(redis({"WAIT", "1", "10000"}), ":1");
      EXPECT_EQ(replica.digest(key), redis.digest(key));
    }
  }
}

TEST_F(RedisFile, ArgumentErrorsNameThePositionAndTheFix) {
  RunningModule redis({}, {"MAX-KEY-BYTES", "100"});
  SpaceSaving ranking(10, 1);
  const std::string sketch = text(serialize(ranking));
  const std::string file = files_of_every_kind().front();
  const std::string bad_position = "-ERR the position is not a byte of the file; give 0 or more";
  expect_replies(
      redis,
      {{{"SET", "string", "x"}, "+OK"},
       {{"TALLY.EXPORT", "none", "0"}, "-ERR the key does not exist; create it with TALLY.CREATE"},
       {{"TALLY.EXPORT", "none", "x"}, bad_position},
       {{"TALLY.EXPORT", "none", "-1"}, "-ERR the key does not exist; create it with TALLY.CREATE"},
       {{"TALLY.CREATE", "f", "--kind", "bloom", "--num-bits", "512", "--num-hashes", "2"}, "+OK"},
       {{"TALLY.EXPORT", "f", "-1"}, bad_position},
       {{"TALLY.EXPORT", "f", "127"},
        "-ERR the position is 127; must be 0, or 128 to 191; start again with position 0"},
       {{"TALLY.EXPORT", "f", "192"},
        "-ERR the position is 192; must be 0, or 128 to 191; start again with position 0"},
       {{"TALLY.EXPORT", "string", "0"}, shown_wrong_type},
       {{"TALLY.IMPORT", "k", "-1", "x"}, bad_position},
       {{"TALLY.IMPORT", "string", "0", "x"}, shown_wrong_type},
       {{"TALLY.IMPORT", "k", "0", ""}, "-ERR the piece is empty; give 1 to 1048576 bytes"},
       {{"TALLY.IMPORT", "k", "5", "x"},
        "-ERR the piece begins at byte 5 of the file; must begin at 0, where the last one ended"},
       {{"TALLY.IMPORT", "k", "0", std::string((1 << 20) + 1, 'x')},
        "-ERR the piece has 1048577 bytes; must have at most 1048576"},
       {{"TALLY.IMPORT", "k", "0", file},
        "-ERR the value takes 128 bytes; must be at most 100, the module's option MAX-KEY-BYTES"},
       {{"TALLY.IMPORT", "k", "0", sketch},
        "-ERR the file cannot be a key: tally file: is a space-saving file; must be a filter (at byte 10)"},
       {{"EXISTS", "k"}, ":0"}});
}

}  // namespace
}  // namespace tally::test
