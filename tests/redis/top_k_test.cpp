// TOPK.*: the replies byte for byte, and the lists against exact counts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "append_only_file.hpp"
#include "random.hpp"
#include "running_module.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;

class RedisTopK : public WithModule {};

TEST_F(RedisTopK, EveryCommandRepliesInTheClientsProtocol) {
  RunningModule redis;
  struct Row {
    Words words;
    std::string resp2, resp3;
  };
  const std::string binary("a\0b\r\n", 5);
  const std::string usual_decay = redis.written("0.9");
  const std::string other_decay = redis.written("0.925");
  const std::vector<Row> rows{
      {{"TOPK.RESERVE", "t", "2"}, "+OK", "+OK"},
      {{"topk.reserve", "u", "3", "100", "5", "0.925"}, "+OK", "+OK"},
      {{"TOPK.ADD", "t", "a", "b", "a"}, "[nil, nil, nil]", "[_, _, _]"},
      {{"TOPK.ADD", "t", "c"}, "[nil]", "[_]"},
      {{"TOPK.LIST", "t"}, "[\"a\", \"b\"]", "[\"a\", \"b\"]"},
      {{"TOPK.INCRBY", "t", "c", "5", "a", "0"}, "[\"b\", nil]", "[\"b\", _]"},
      {{"TOPK.LIST", "t", "withcount"}, "[\"c\", :6, \"a\", :2]", "[\"c\", :6, \"a\", :2]"},
      {{"TOPK.QUERY", "t", "a", "b", "c"}, "[:1, :0, :1]", "[#t, #f, #t]"},
      {{"TOPK.COUNT", "t", "a", "b", "c", "absent"}, "[:2, :1, :6, :0]", "[:2, :1, :6, :0]"},
      {{"TOPK.ADD", "u", "", binary}, "[nil, nil]", "[_, _]"},
      {{"TOPK.QUERY", "u", "", binary, "a"}, "[:1, :1, :0]", "[#t, #t, #f]"},
      {{"TOPK.LIST", "u"}, "[\"\", \"" + binary + "\"]", "[\"\", \"" + binary + "\"]"},
      {{"TOPK.INCRBY", "u", "x", "100000", "x", "100000"}, "[nil, nil]", "[_, _]"},
      {{"TOPK.COUNT", "u", "x"}, "[:200000]", "[:200000]"},
      {{"TOPK.INFO", "t"},
       "[+k, :2, +width, :8, +depth, :7, +decay, \"" + usual_decay + "\"]",
       "{+k, :2, +width, :8, +depth, :7, +decay, ," + usual_decay + "}"},
      {{"TOPK.INFO", "u"},
       "[+k, :3, +width, :100, +depth, :5, +decay, \"" + other_decay + "\"]",
       "{+k, :3, +width, :100, +depth, :5, +decay, ," + other_decay + "}"},
      {{"TYPE", "t"}, "+tallytopk", "+tallytopk"},
  };
  for (const bool is_resp3 : {false, true}) {
    redis({"FLUSHALL"});
    redis({"HELLO", is_resp3 ? "3" : "2"});
    for (const Row& row : rows) {
      EXPECT_EQ(redis(row.words), is_resp3 ? row.resp3 : row.resp2)
          << "RESP" << (is_resp3 ? 3 : 2) << " " << row.words[0] << " " << row.words[1];
    }
  }
}

TEST_F(RedisTopK, WrongArgumentsHaveTheTextsThatClientsKnow) {
  RunningModule redis;
  redis({"SET", "s", "text"});
  redis({"CMS.INITBYDIM", "c", "10", "2"});
  redis({"TOPK.RESERVE", "t", "2"});
  redis({"TOPK.ADD", "t", "a"});
  const std::string before = redis.digest("t");
  const auto arity = [](const std::string& command) {
    return "-ERR wrong number of arguments for '" + command + "' command";
  };
  const std::string missing = "-TopK: key does not exist";
  const std::string exists = "-TopK: key already exists";
  const std::string decay = "-TopK: invalid decay value. must be '<= 1' & '> 0'";
  const std::string increment =
      "-TopK: increment must be an integer greater or equal to 0 and smaller or equal to 100,000";
  expect_replies(redis, {{{"TOPK.RESERVE", "k"}, arity("TOPK.RESERVE")},
                         {{"TOPK.RESERVE", "k", "10", "8"}, arity("TOPK.RESERVE")},
                         {{"TOPK.RESERVE", "k", "10", "8", "7"}, arity("TOPK.RESERVE")},
                         {{"TOPK.RESERVE", "k", "10", "8", "7", "0.9", "x"}, arity("TOPK.RESERVE")},
                         {{"TOPK.RESERVE", "t", "x"}, exists},  // the key before the arguments
                         {{"TOPK.RESERVE", "s", "10"}, exists},
                         {{"TOPK.RESERVE", "k", "x"}, "-TopK: invalid k"},
                         {{"TOPK.RESERVE", "k", "0"}, "-TopK: invalid k"},
                         {{"TOPK.RESERVE", "k", "-1"}, "-TopK: invalid k"},
                         {{"TOPK.RESERVE", "k", "1073741825"}, "-TopK: invalid k"},
                         {{"TOPK.RESERVE", "k", "10", "x", "7", "0.9"}, "-TopK: invalid width"},
                         {{"TOPK.RESERVE", "k", "10", "0", "7", "0.9"}, "-TopK: invalid width"},
                         {{"TOPK.RESERVE", "k", "10", "4294967296", "7", "0.9"}, "-TopK: invalid width"},
                         {{"TOPK.RESERVE", "k", "10", "8", "x", "0.9"}, "-TopK: invalid depth"},
                         {{"TOPK.RESERVE", "k", "10", "8", "0", "0.9"}, "-TopK: invalid depth"},
                         {{"TOPK.RESERVE", "k", "10", "8", "1025", "0.9"}, "-TopK: invalid depth"},
                         {{"TOPK.RESERVE", "k", "10", "8", "7", "x"}, decay},
                         {{"TOPK.RESERVE", "k", "10", "8", "7", "0"}, decay},
                         {{"TOPK.RESERVE", "k", "10", "8", "7", "1.01"}, decay},
                         {{"TOPK.RESERVE", "k", "10", "8", "7", "nan"}, decay},
                         {{"TOPK.ADD", "t"}, arity("TOPK.ADD")},
                         {{"TOPK.ADD", "k", "a"}, missing},
                         {{"TOPK.ADD", "s", "a"}, shown_wrong_type},
                         {{"TOPK.ADD", "c", "a"}, shown_wrong_type},
                         {{"TOPK.INCRBY", "t", "a"}, arity("TOPK.INCRBY")},
                         {{"TOPK.INCRBY", "t", "a", "1", "b"}, arity("TOPK.INCRBY")},
                         {{"TOPK.INCRBY", "k", "a", "1"}, missing},
                         {{"TOPK.INCRBY", "c", "a", "1"}, shown_wrong_type},
                         {{"TOPK.INCRBY", "t", "a", "x", "b", "1"}, increment},
                         {{"TOPK.INCRBY", "t", "a", "1", "b", "-1"}, increment},
                         {{"TOPK.INCRBY", "t", "a", "1", "b", "100001"}, increment},
                         {{"TOPK.QUERY", "t"}, arity("TOPK.QUERY")},
                         {{"TOPK.QUERY", "k", "a"}, missing},
                         {{"TOPK.QUERY", "s", "a"}, shown_wrong_type},
                         {{"TOPK.COUNT", "t"}, arity("TOPK.COUNT")},
                         {{"TOPK.COUNT", "k", "a"}, missing},
                         {{"TOPK.COUNT", "s", "a"}, shown_wrong_type},
                         {{"TOPK.LIST", "t", "WITHCOUNT", "x"}, arity("TOPK.LIST")},
                         {{"TOPK.LIST", "t", "x"}, "-WITHCOUNT keyword expected"},
                         {{"TOPK.LIST", "k"}, missing},
                         {{"TOPK.LIST", "s"}, shown_wrong_type},
                         {{"TOPK.INFO", "t", "x"}, arity("TOPK.INFO")},
                         {{"TOPK.INFO", "k"}, missing},
                         {{"TOPK.INFO", "c"}, shown_wrong_type},
                         {{"EXISTS", "k"}, ":0"}});
  EXPECT_EQ(redis.digest("t"), before);
}

/// A stream in which item i comes about 1/(i + 1) as often as item 0.
std::string skewed_item(Random& random) {
  const std::uint64_t wide = random.below(300) + 1;
  return "item" + std::to_string(random.below(wide));
}

TEST_F(RedisTopK, TheListHasEveryItemAboveItsShareAndNoCountIsTooLow) {
  RunningModule redis;
  constexpr std::size_t k = 20;
  redis({"TOPK.RESERVE", "t", std::to_string(k), "200", "5", "1"});
  Random random(421);
  std::map<std::string, long long> exact;
  std::set<std::string> listed;
  long long total = 0;
  for (int batch = 0; batch < 40; ++batch) {
    Words words{batch % 2 == 0 ? "TOPK.ADD" : "TOPK.INCRBY", "t"};
    const std::size_t step = batch % 2 == 0 ? 1 : 2;
    for (int i = 0; i < 200; ++i) {
      words.push_back(skewed_item(random));
      const long long increment = step == 1 ? 1 : static_cast<long long>(random.below(4));
      exact[words.back()] += increment;
      total += increment;
      if (step == 2) words.push_back(std::to_string(increment));
    }
    const RedisReply reply = redis.call(words);
    ASSERT_EQ(reply.elements.size(), 200u);
    // What the replies say left the list is what left it.
    for (std::size_t i = 0; i < reply.elements.size(); ++i) {
      if (batch == 0 || reply.elements[i].is_nil) continue;
      listed.insert(words[2 + step * i]);
      EXPECT_EQ(listed.erase(reply.elements[i].text), 1u) << reply.elements[i].text;
    }
    std::set<std::string> now;
    const RedisReply list = redis.call({"TOPK.LIST", "t"});
    for (const RedisReply& item : list.elements) now.insert(item.text);
    EXPECT_LE(now.size(), k);
    if (batch > 0) {
      EXPECT_EQ(now, listed);
    }
    listed = now;
  }
  const RedisReply list = redis.call({"TOPK.LIST", "t", "WITHCOUNT"});
  ASSERT_EQ(list.elements.size(), 2 * k);
  long long last = total;
  for (std::size_t i = 0; i < list.elements.size(); i += 2) {
    const long long count = std::stoll(list.elements[i + 1].text);
    EXPECT_LE(count, last);
    last = count;
    EXPECT_GE(count, exact[list.elements[i].text]) << list.elements[i].text;
    EXPECT_LE(count, exact[list.elements[i].text] + total / static_cast<long long>(k));
  }
  for (const auto& [item, count] : exact) {
    if (count > total / static_cast<long long>(k)) {
      EXPECT_TRUE(listed.contains(item)) << item;
    }
    EXPECT_GE(std::stoll(redis.call({"TOPK.COUNT", "t", item}).elements.at(0).text), count) << item;
  }
}

TEST_F(RedisTopK, BelowKItemsEveryCountIsExact) {
  RunningModule redis;
  redis({"TOPK.RESERVE", "t", "50", "2", "1", "0.5"});
  Random random(422);
  std::map<std::string, long long> exact;
  for (int i = 0; i < 500; ++i) {
    const std::string item = "item" + std::to_string(random.below(50));
    ++exact[item];
    EXPECT_EQ(redis({"TOPK.ADD", "t", item}), "[nil]");
  }
  const RedisReply list = redis.call({"TOPK.LIST", "t", "WITHCOUNT"});
  ASSERT_EQ(list.elements.size(), 2 * exact.size());
  for (std::size_t i = 0; i < list.elements.size(); i += 2) {
    EXPECT_EQ(std::stoll(list.elements[i + 1].text), exact[list.elements[i].text]);
  }
}

TEST_F(RedisTopK, LoadedFromThePiecesOfTwoKeysIsDeletedOnReplicasToo) {
  RunningModule redis(
      {"--appendonly", "yes", "--aof-use-rdb-preamble", "no", "--repl-diskless-sync-delay", "0"});
  for (const char* const key : {"a", "b"}) {
    ASSERT_EQ(redis({"TOPK.RESERVE", key, "5", "100000", "7", "0.9"}), "+OK");
    redis({"TOPK.ADD", key, "x", "y", "x"});
  }
  ASSERT_TRUE(rewrites_append_only_file(redis));
  std::map<std::string, std::vector<Words>> loads;
  for (const Words& load : commands_of_append_only_file(redis, "TALLY.LOADCHUNK"))
    loads[load[1]].push_back(load);
  ASSERT_GT(loads["a"].size(), 3u);
  ASSERT_EQ(loads["a"].size(), loads["b"].size());
  RunningModule replica({"--replicaof", "127.0.0.1 " + std::to_string(redis.port())});
  ASSERT_TRUE(follows_its_master(replica));
  const auto load = [&](const Words& words) {
    return redis({"TALLY.LOADCHUNK", "mixed", words[2], words[3]});
  };
  // The seeds differ, which shows only once the whole file is there.
  ASSERT_EQ(load(loads["a"].front()), "+OK");
  for (std::size_t i = 1; i + 1 < loads["b"].size(); ++i) ASSERT_EQ(load(loads["b"][i]), "+OK") << i;
  EXPECT_EQ(load(loads["b"].back()), "-ERR received bad data");
  EXPECT_EQ(redis({"EXISTS", "mixed"}), ":0");
  for (const Words& words : loads["b"]) ASSERT_EQ(load(words), "+OK");
  EXPECT_EQ(redis.digest("mixed"), redis.digest("b"));
  ASSERT_EQ(redis({"WAIT", "1", "10000"}), ":1");
  EXPECT_EQ(replica.digest("mixed"), redis.digest("mixed"));
}

TEST_F(RedisTopK, AListLargerThanMaxKeyBytesIsNeitherReservedNorFilled) {
  RunningModule redis({}, {"MAX-KEY-BYTES", "10000"});
  EXPECT_THAT(redis({"TOPK.RESERVE", "t", "100"}), HasSubstr("MAX-KEY-BYTES"));
  EXPECT_THAT(redis({"TOPK.RESERVE", "t", "10", "1000", "7", "1"}), HasSubstr("MAX-KEY-BYTES"));
  EXPECT_EQ(redis({"EXISTS", "t"}), ":0");
  EXPECT_EQ(redis({"TOPK.RESERVE", "t", "10"}), "+OK");
  EXPECT_THAT(redis({"TOPK.ADD", "t", "a", std::string(9000, 'x')}), HasSubstr("MAX-KEY-BYTES"));
  EXPECT_EQ(redis({"TOPK.LIST", "t"}), "[]");
  EXPECT_EQ(redis({"TOPK.ADD", "t", std::string(5000, 'x')}), "[nil]");
  EXPECT_THAT(redis({"TOPK.ADD", "t", std::string(5000, 'y')}), HasSubstr("MAX-KEY-BYTES"));
  EXPECT_EQ(redis({"TOPK.ADD", "t", "short"}), "[nil]");
}

}  // namespace
}  // namespace tally::test
