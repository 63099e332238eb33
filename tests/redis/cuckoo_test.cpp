// CF.*: the replies byte for byte, and the answers against an exact multiset.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "random.hpp"
#include "running_module.hpp"
#include "tally/any_filter.hpp"
#include "tally/serialization.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class RedisCuckoo : public WithModule {};

/// The value of a field of CF.INFO.
long long info(RunningModule& redis, const std::string& key, const std::string& field) {
  const RedisReply reply = redis.call({"CF.INFO", key});
  for (std::size_t i = 0; i + 1 < reply.elements.size(); i += 2) {
    if (reply.elements[i].text == field) return std::stoll(reply.elements[i + 1].text);
  }
  throw std::runtime_error("CF.INFO has no " + field + ": " + reply.shown());
}

/// With the numbers that the planner may change replaced by `n`.
std::string without_sizes(std::string reply) {
  for (const std::string name : {"+Size, :", "+Number of buckets, :", "+Room in side tables, :"}) {
    const std::size_t at = reply.find(name);
    if (at == std::string::npos) continue;
    const std::size_t first = at + name.size();
    std::size_t last = first;
    while (last < reply.size() && reply[last] >= '0' && reply[last] <= '9') ++last;
    reply.replace(first, last - first, "n");
  }
  return reply;
}

TEST_F(RedisCuckoo, EveryCommandRepliesInTheClientsProtocol) {
  RunningModule redis;
  struct Row {
    Words words;
    std::string resp2, resp3;
  };
  const std::string binary("a\0b\r\n", 5);
  const std::string numbers =
      "+Size, :n, +Number of buckets, :n, +Number of filters, :1, +Number of items inserted, :5, +Number of "
      "items deleted, :2, +Bucket size, :2, +Expansion rate, :1, +Max iterations, :20, +Error rate, ";
  const std::string rate = redis.written("0.015");
  const std::string tables = ", +Items in side tables, :0, +Room in side tables, :n";
  const std::vector<Row> rows{
      {{"CF.RESERVE", "f", "1000"}, "+OK", "+OK"},
      {{"cf.reserve", "g", "100", "maxiterations", "500", "bucketsize", "4", "expansion", "3"}, "+OK", "+OK"},
      {{"CF.RESERVE", "h", "100", "ERROR", "1e-3", "EXPANSION", "0"}, "+OK", "+OK"},
      {{"CF.ADD", "f", "a"}, ":1", "#t"},
      {{"CF.ADD", "f", "a"}, ":1", "#t"},
      {{"CF.ADDNX", "f", "a"}, ":0", "#f"},
      {{"CF.ADDNX", "f", "b"}, ":1", "#t"},
      {{"CF.ADD", "f", ""}, ":1", "#t"},
      {{"CF.ADD", "f", binary}, ":1", "#t"},
      {{"CF.COUNT", "f", "a"}, ":2", ":2"},
      {{"CF.COUNT", "f", binary}, ":1", ":1"},
      {{"CF.COUNT", "f", "absent"}, ":0", ":0"},
      {{"CF.COUNT", "no key", "a"}, ":0", ":0"},
      {{"CF.EXISTS", "f", ""}, ":1", "#t"},
      {{"CF.EXISTS", "f", "absent"}, ":0", "#f"},
      {{"CF.EXISTS", "no key", "a"}, ":0", "#f"},
      {{"CF.MEXISTS", "f", "a", "absent", "b"}, "[:1, :0, :1]", "[#t, #f, #t]"},
      {{"CF.MEXISTS", "no key", "a"}, "[:0]", "[#f]"},
      {{"CF.INSERT", "i", "ITEMS", "x", "x"}, "[:1, :1]", "[#t, #t]"},
      {{"CF.COUNT", "i", "x"}, ":2", ":2"},
      {{"CF.INSERTNX", "i", "ITEMS", "x", "y", "y"}, "[:0, :1, :0]", "[:0, :1, :0]"},
      {{"CF.INSERT", "j", "capacity", "50", "items", "ITEMS", "NOCREATE"}, "[:1, :1]", "[#t, #t]"},
      {{"CF.INSERT", "j", "NOCREATE", "CAPACITY", "7", "ITEMS", "a"}, "[:1]", "[#t]"},
      {{"CF.ADD", "made by add", "a"}, ":1", "#t"},
      {{"CF.ADDNX", "made by addnx", "a"}, ":1", "#t"},
      {{"CF.INSERTNX", "made by insertnx", "ITEMS", "a"}, "[:1]", "[:1]"},
      {{"CF.DEL", "f", "a"}, ":1", "#t"},
      {{"CF.DEL", "f", "a"}, ":1", "#t"},
      {{"CF.DEL", "f", "a"}, ":0", "#f"},
      {{"CF.DEL", "f", "absent"}, ":0", "#f"},
      {{"CF.ADD", "f", "c"}, ":1", "#t"},
      {{"CF.ADD", "f", "d"}, ":1", "#t"},
      {{"CF.INFO", "f"},
       "[" + numbers + "\"" + rate + "\"" + tables + "]",
       "{" + numbers + "," + rate + tables + "}"},
      {{"CF.SCANDUMP", "h", "0"}, "[:0, nil]", "[:0, _]"},
      {{"CF.SCANDUMP", "f", "1000000"}, "[:0, nil]", "[:0, _]"},
      {{"TYPE", "f"}, "+tallydlft", "+tallydlft"},
  };
  for (const bool is_resp3 : {false, true}) {
    redis({"FLUSHALL"});
    redis({"HELLO", is_resp3 ? "3" : "2"});
    for (const Row& row : rows) {
      EXPECT_EQ(without_sizes(redis(row.words)), is_resp3 ? row.resp3 : row.resp2)
          << "RESP" << (is_resp3 ? 3 : 2) << " " << row.words[0] << " " << row.words[1];
    }
  }
  redis({"HELLO", "2"});
  EXPECT_GT(info(redis, "f", "Size"), 1000);
  EXPECT_EQ(info(redis, "g", "Bucket size"), 4);
  EXPECT_EQ(info(redis, "g", "Max iterations"), 500);
  EXPECT_EQ(info(redis, "g", "Expansion rate"), 4);  // the next power of two
  EXPECT_EQ(info(redis, "h", "Expansion rate"), 0);
}

TEST_F(RedisCuckoo, WrongArgumentsHaveTheTextsThatClientsKnow) {
  RunningModule redis;
  redis({"SET", "s", "text"});
  redis({"BF.RESERVE", "b", "0.01", "10"});
  redis({"CF.RESERVE", "f", "100"});
  redis({"CF.ADD", "f", "a"});
  const std::string before = redis.digest("f");
  const auto arity = [](const std::string& command) {
    return "-ERR wrong number of arguments for '" + command + "' command";
  };
  const auto range = [](const std::string& option, const std::string& least, const std::string& most) {
    return "-" + option + ": value must be an integer between " + least + " and " + most + ", inclusive.";
  };
  const std::string small = "-Capacity must be at least (BucketSize * 2)";
  const std::string rate = "-ERROR: value must be a number between 0 and 1, exclusive.";
  const std::string bucket = range("BUCKETSIZE", "1", "255");
  expect_replies(
      redis, {{{"CF.RESERVE", "k"}, arity("CF.RESERVE")},
              {{"CF.RESERVE", "k", "100", "EXPANSION"}, arity("CF.RESERVE")},
              {{"CF.RESERVE", "k", "x"}, "-Bad capacity"},
              {{"CF.RESERVE", "k", "1.5"}, "-Bad capacity"},
              {{"CF.RESERVE", "k", "9223372036854775808"}, "-Bad capacity"},
              {{"CF.RESERVE", "k", "3"}, small},
              {{"CF.RESERVE", "k", "0"}, small},
              {{"CF.RESERVE", "k", "-5"}, small},
              {{"CF.RESERVE", "k", "9", "BUCKETSIZE", "5"}, small},
              {{"CF.RESERVE", "k", "9223372036854775807"}, "-ERR Could not create filter"},
              {{"CF.RESERVE", "k", "100", "BUCKETSIZE", "x"}, "-Couldn't parse BUCKETSIZE"},
              {{"CF.RESERVE", "k", "100", "BUCKETSIZE", "0"}, bucket},
              {{"CF.RESERVE", "k", "100", "BUCKETSIZE", "256"}, bucket},
              {{"CF.RESERVE", "k", "100", "MAXITERATIONS", "x"}, "-Couldn't parse MAXITERATIONS"},
              {{"CF.RESERVE", "k", "100", "MAXITERATIONS", "0"}, range("MAXITERATIONS", "1", "65535")},
              {{"CF.RESERVE", "k", "100", "MAXITERATIONS", "65536"}, range("MAXITERATIONS", "1", "65535")},
              {{"CF.RESERVE", "k", "100", "EXPANSION", "x"}, "-Couldn't parse EXPANSION"},
              {{"CF.RESERVE", "k", "100", "EXPANSION", "-1"}, range("EXPANSION", "0", "32768")},
              {{"CF.RESERVE", "k", "100", "EXPANSION", "32769"}, range("EXPANSION", "0", "32768")},
              {{"CF.RESERVE", "k", "100", "ERROR", "x"}, "-Couldn't parse ERROR"},
              {{"CF.RESERVE", "k", "100", "ERROR", "nan"}, "-Couldn't parse ERROR"},
              {{"CF.RESERVE", "k", "100", "ERROR", "0"}, rate},
              {{"CF.RESERVE", "k", "100", "ERROR", "1"}, rate},
              {{"CF.RESERVE", "k", "100", "ERROR", "1e-300"}, "-ERR Could not create filter"},
              {{"CF.RESERVE", "k", "100", "EROR", "0.1"}, "-Unknown argument received"},
              {{"CF.RESERVE", "f", "100"}, "-ERR item exists"},
              {{"CF.RESERVE", "f", "x"}, "-Bad capacity"},  // arguments before the key
              {{"CF.RESERVE", "s", "100"}, shown_wrong_type},
              {{"CF.RESERVE", "b", "100"}, shown_wrong_type},
              {{"CF.ADD", "k"}, arity("CF.ADD")},
              {{"CF.ADD", "k", "a", "b"}, arity("CF.ADD")},
              {{"CF.ADD", "s", "a"}, shown_wrong_type},
              {{"CF.ADD", "b", "a"}, shown_wrong_type},
              {{"CF.ADDNX", "k"}, arity("CF.ADDNX")},
              {{"CF.ADDNX", "s", "a"}, shown_wrong_type},
              {{"CF.INSERT", "k", "ITEMS"}, arity("CF.INSERT")},
              {{"CF.INSERT", "k", "NOCREATE", "ITEMS"}, arity("CF.INSERT")},
              {{"CF.INSERT", "k", "NOCREATE", "CAPACITY"}, arity("CF.INSERT")},
              {{"CF.INSERT", "k", "NOCREATE", "NOCREATE"}, arity("CF.INSERT")},
              {{"CF.INSERT", "k", "WHAT", "ITEMS", "a"}, "-Unknown argument received"},
              {{"CF.INSERT", "k", "CAPACITY", "x", "ITEMS", "a"}, "-Bad capacity"},
              {{"CF.INSERT", "k", "CAPACITY", "3", "ITEMS", "a"}, small},
              {{"CF.INSERT", "k", "NOCREATE", "ITEMS", "a"}, "-ERR not found"},
              {{"CF.INSERT", "s", "ITEMS", "a"}, shown_wrong_type},
              {{"CF.INSERTNX", "k", "ITEMS"}, arity("CF.INSERTNX")},
              {{"CF.INSERTNX", "k", "NOCREATE", "ITEMS", "a"}, "-ERR not found"},
              {{"CF.INSERTNX", "b", "ITEMS", "a"}, shown_wrong_type},
              {{"CF.EXISTS", "f"}, arity("CF.EXISTS")},
              {{"CF.EXISTS", "s", "a"}, ":0"},
              {{"CF.EXISTS", "b", "a"}, ":0"},
              {{"CF.MEXISTS", "f"}, arity("CF.MEXISTS")},
              {{"CF.MEXISTS", "s", "a", "b"}, "[:0, :0]"},
              {{"CF.COUNT", "f"}, arity("CF.COUNT")},
              {{"CF.COUNT", "s", "a"}, ":0"},
              {{"CF.DEL", "f"}, arity("CF.DEL")},
              {{"CF.DEL", "k", "a"}, "-Not found"},
              {{"CF.DEL", "s", "a"}, "-Not found"},
              {{"CF.DEL", "f", "absent"}, ":0"},
              {{"CF.INFO", "f", "x"}, arity("CF.INFO")},
              {{"CF.INFO", "k"}, "-ERR not found"},
              {{"CF.INFO", "s"}, shown_wrong_type},
              {{"CF.SCANDUMP", "f"}, arity("CF.SCANDUMP")},
              {{"CF.SCANDUMP", "f", "x"}, "-Invalid position"},
              {{"CF.SCANDUMP", "f", "-1"}, "-Invalid position"},
              {{"CF.SCANDUMP", "k", "0"}, "-ERR not found"},
              {{"CF.SCANDUMP", "s", "0"}, shown_wrong_type},
              {{"CF.LOADCHUNK", "k", "1"}, arity("CF.LOADCHUNK")},
              {{"CF.LOADCHUNK", "k", "x", "data"}, "-Invalid position"},
              {{"CF.LOADCHUNK", "k", "0", "data"}, "-Invalid position"},
              {{"CF.LOADCHUNK", "k", "1", "data"}, "-Invalid header"},
              {{"CF.LOADCHUNK", "k", "2", "data"}, "-ERR not found"},
              {{"CF.LOADCHUNK", "s", "1", "data"}, shown_wrong_type},
              {{"CF.LOADCHUNK", "f", "1", "data"}, "-ERR item exists"},
              {{"CF.LOADCHUNK", "f", "2", "data"}, "-Couldn't load chunk!"},
              {{"EXISTS", "k"}, ":0"}});
  EXPECT_EQ(redis.digest("f"), before);
}

/// Keys come and go at random, and some come often. `reserve` is what follows the key.
void expect_multiset(RunningModule& redis, const std::string& key, Words reserve, std::uint64_t seed,
                     std::size_t num_keys) {
  reserve.insert(reserve.begin(), {"CF.RESERVE", key});
  ASSERT_EQ(redis(reserve), "+OK");
  Random random(seed);
  std::map<std::string, long long> exact;
  const auto name = [](std::uint64_t i) { return "key" + std::to_string(i); };
  const auto expect_no_key_lost = [&] {
    Words words{"CF.MEXISTS", key};
    for (const auto& [item, count] : exact) words.push_back(item);
    std::size_t lost = 0;
    for (const RedisReply& found : redis.call(words).elements) lost += found.text == "1" ? 0 : 1;
    EXPECT_EQ(lost, 0u);
  };
  long long total = 0;
  long long num_deleted = 0;
  for (int round = 0; round < 6; ++round) {
    Words words{"CF.INSERT", key, "ITEMS"};
    for (std::size_t i = 0; i < num_keys / 4; ++i) {
      words.push_back(name(random.below(num_keys)));
      ++exact[words.back()];
      ++total;
    }
    for (const RedisReply& stored : redis.call(words).elements) ASSERT_EQ(stored.text, "1");
    std::vector<std::string> gone;
    for (const auto& [item, count] : exact) {
      if (random.below(3) == 0) gone.push_back(item);
    }
    for (const std::string& item : gone) {
      ASSERT_EQ(redis({"CF.DEL", key, item}), ":1") << item;
      --total;
      ++num_deleted;
      if (--exact[item] == 0) exact.erase(item);
    }
    expect_no_key_lost();
  }
  EXPECT_EQ(info(redis, key, "Number of items inserted"), total);
  EXPECT_EQ(info(redis, key, "Number of items deleted"), num_deleted);
  EXPECT_GT(info(redis, key, "Number of filters"), 2);
  std::size_t num_above = 0;
  for (const auto& [item, count] : exact) {
    const long long counted = redis.integer({"CF.COUNT", key, item});
    EXPECT_GE(counted, count) << item;
    num_above += counted > count ? 1 : 0;
  }
  EXPECT_GT(num_above, 0u) << "no two keys had the same fingerprint";
  EXPECT_LT(num_above, exact.size() / 2);
  for (const auto& [item, count] : exact) {
    for (long long i = 0; i < count; ++i) ASSERT_EQ(redis({"CF.DEL", key, item}), ":1") << item;
    ASSERT_EQ(redis({"CF.COUNT", key, item}).at(0), ':');
  }
  EXPECT_EQ(info(redis, key, "Number of items inserted"), 0);
  for (const RedisReply& found :
       redis.call(with_keys({"CF.MEXISTS", key}, "key", 0, static_cast<int>(num_keys))).elements) {
    ASSERT_EQ(found.text, "0");
  }
}

TEST_F(RedisCuckoo, AChainOfEqualFiltersLosesNoKeyWhenOthersWithItsFingerprintAreDeleted) {
  RunningModule redis;
  expect_multiset(redis, "f", {"200"}, 418, 4000);
}

TEST_F(RedisCuckoo, AChainOfLargerAndLargerFiltersLosesNoKeyEither) {
  RunningModule redis;
  expect_multiset(redis, "f", {"50", "EXPANSION", "2", "ERROR", "0.9"}, 419, 4000);
  expect_multiset(redis, "g", {"10", "EXPANSION", "4", "ERROR", "0.9"}, 420, 3000);
}

TEST_F(RedisCuckoo, TheFalsePositiveRateIsTheOneReservedAfterEightfoldGrowth) {
  RunningModule redis;
  struct Row {
    Words reserve;
    int num_keys;
    double rate;
  };
  const std::vector<Row> rows{{{"1024"}, 8 * 1024, 0.015},
                              {{"1000", "EXPANSION", "0", "ERROR", "0.02"}, 1000, 0.02},
                              {{"500", "EXPANSION", "2", "ERROR", "0.01"}, 8000, 0.01},
                              {{"5000", "ERROR", "0.0001"}, 5000, 0.0001}};
  for (const Row& row : rows) {
    Words reserve = row.reserve;
    reserve.insert(reserve.begin(), {"CF.RESERVE", "f"});
    ASSERT_EQ(redis(reserve), "+OK");
    redis(with_keys({"CF.INSERT", "f", "ITEMS"}, "key", 0, row.num_keys));
    constexpr int num_queries = 100'000;
    int num_found = 0;
    for (const RedisReply& found :
         redis.call(with_keys({"CF.MEXISTS", "f"}, "absent", 0, num_queries)).elements) {
      num_found += found.text == "1" ? 1 : 0;
    }
    // Six standard deviations above the rate.
    EXPECT_LT(num_found, num_queries * row.rate + 6 * std::sqrt(num_queries * row.rate)) << reserve[2];
    redis({"DEL", "f"});
  }
}

TEST_F(RedisCuckoo, AFilterThatDoesNotGrowRefusesKeysWhenItIsFull) {
  RunningModule redis;
  redis({"CF.RESERVE", "f", "100", "EXPANSION", "0"});
  std::vector<std::string> stored;
  std::vector<std::string> refused;
  const Words words = with_keys({"CF.INSERT", "f", "ITEMS"}, "key", 0, 1000);
  const RedisReply reply = redis.call(words);
  ASSERT_EQ(reply.elements.size(), 1000u);
  for (std::size_t i = 0; i < reply.elements.size(); ++i) {
    const std::string shown = reply.elements[i].shown();
    ASSERT_TRUE(shown == ":1" || shown == ":-1") << shown;
    (shown == ":1" ? stored : refused).push_back(words[i + 3]);
  }
  EXPECT_GE(stored.size(), 100u);
  EXPECT_LT(stored.size(), 200u);
  EXPECT_EQ(redis({"CF.ADD", "f", refused.back()}), "-Filter is full");
  const std::string before = redis.digest("f");
  EXPECT_EQ(redis({"CF.INSERTNX", "f", "ITEMS", stored.front(), refused.back()}), "[:0, :-1]");
  EXPECT_EQ(redis.digest("f"), before);
  redis({"HELLO", "3"});
  EXPECT_EQ(redis({"CF.INSERT", "f", "ITEMS", refused.back()}), "[#f]");
  EXPECT_EQ(redis({"CF.INSERTNX", "f", "ITEMS", stored.front(), refused.back()}), "[:0, :-1]");
  redis({"HELLO", "2"});
  EXPECT_EQ(info(redis, "f", "Number of filters"), 1);
  EXPECT_EQ(info(redis, "f", "Number of items inserted"), static_cast<long long>(stored.size()));
  for (const std::string& item : stored) ASSERT_EQ(redis({"CF.DEL", "f", item}), ":1");
  EXPECT_EQ(redis({"CF.ADD", "f", refused.back()}), ":1");
}

TEST_F(RedisCuckoo, AChainOfThirtyTwoFiltersSaysSoWhenItIsFull) {
  RunningModule redis;
  redis({"CF.RESERVE", "f", "4"});
  const RedisReply reply = redis.call(with_keys({"CF.INSERT", "f", "ITEMS"}, "key", 0, 2000));
  EXPECT_EQ(reply.elements.front().shown(), ":1");
  EXPECT_EQ(reply.elements.back().shown(), ":-1");
  EXPECT_EQ(info(redis, "f", "Number of filters"), 32);
  const long long stored = info(redis, "f", "Number of items inserted");
  EXPECT_GE(stored, 32 * 4);
  EXPECT_EQ(redis({"CF.ADD", "f", "key1999"}), "-Maximum expansions reached");
  EXPECT_EQ(info(redis, "f", "Number of items inserted"), stored);
}

TEST_F(RedisCuckoo, CountsHaveNoMaximumAndSideTablesAreReported) {
  RunningModule redis;
  Words words{"CF.INSERT", "f", "ITEMS"};
  words.insert(words.end(), 100'000, "often");
  redis(words);
  EXPECT_EQ(redis({"CF.COUNT", "f", "often"}), ":100000");
  EXPECT_EQ(info(redis, "f", "Items in side tables"), 1);
  EXPECT_EQ(info(redis, "f", "Number of filters"), 1);
  EXPECT_EQ(redis({"CF.DEL", "f", "often"}), ":1");
  EXPECT_EQ(redis({"CF.COUNT", "f", "often"}), ":99999");
  for (int copies = 0; copies < 10; ++copies) redis(with_keys({"CF.INSERT", "f", "ITEMS"}, "key", 0, 500));
  EXPECT_GT(info(redis, "f", "Number of filters"), 1);  // side tables are full
  for (int i = 0; i < 500; ++i) {
    ASSERT_GE(redis.integer({"CF.COUNT", "f", "key" + std::to_string(i)}), 10);
  }
}

TEST_F(RedisCuckoo, AFilterLargerThanMaxKeyBytesIsNeitherCreatedNorGrown) {
  RunningModule redis({}, {"MAX-KEY-BYTES", "10000"});
  EXPECT_THAT(redis({"CF.RESERVE", "f", "100000"}), StartsWith("-ERR Could not create filter: it takes"));
  EXPECT_EQ(redis({"EXISTS", "f"}), ":0");
  const RedisReply reply = redis.call(with_keys({"CF.INSERT", "f", "ITEMS"}, "key", 0, 5000));
  ASSERT_EQ(reply.elements.size(), 5000u);
  EXPECT_EQ(reply.elements.back().shown(), ":-1");
  EXPECT_THAT(redis({"CF.ADD", "f", "another"}), HasSubstr("MAX-KEY-BYTES"));
  EXPECT_EQ(redis({"CF.EXISTS", "f", "key0"}), ":1");
}

TEST_F(RedisCuckoo, TakesTheBytesPerItemThatThePageStates) {
  RunningModule redis;
  const auto bytes_per_item = [&](const Words& options) {
    Words words{"CF.RESERVE", "f", "2000000", "ERROR", "0.01"};
    words.insert(words.end(), options.begin(), options.end());
    EXPECT_EQ(redis(words), "+OK");
    const double bytes = std::stod(redis.call({"MEMORY", "USAGE", "f"}).text);
    redis({"DEL", "f"});
    return bytes / 2e6;
  };
  EXPECT_NEAR(bytes_per_item({}), 2.3, 0.05);
  EXPECT_NEAR(bytes_per_item({"EXPANSION", "0"}), 2.1, 0.05);
}

TEST_F(RedisCuckoo, ALoadedDumpIsEqualAndDamagedChunksAreRefused) {
  RunningModule redis;
  redis({"CF.RESERVE", "f", "500", "EXPANSION", "2"});
  redis(with_keys({"CF.INSERT", "f", "ITEMS"}, "key", 0, 3000));
  redis({"CF.INSERT", "f", "ITEMS", "a", "a", "a", "a", "a", "a"});
  std::string position = "0";
  std::vector<std::pair<std::string, std::string>> chunks;
  for (;;) {
    const RedisReply reply = redis.call({"CF.SCANDUMP", "f", position});
    ASSERT_EQ(reply.elements.size(), 2u);
    position = reply.elements[0].text;
    if (position == "0") break;
    chunks.emplace_back(position, reply.elements[1].text);
  }
  ASSERT_GE(chunks.size(), 1 + 2 * 3u);  // header; cells and side table of each filter
  const auto& [header_at, header] = chunks[0];
  for (std::size_t i = 0; i < header.size(); ++i) {
    std::string damaged = header;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    EXPECT_EQ(redis({"CF.LOADCHUNK", "copy", header_at, damaged}), "-Invalid header") << i;
    EXPECT_EQ(redis({"CF.LOADCHUNK", "copy", header_at, header.substr(0, i)}), "-Invalid header") << i;
  }
  EXPECT_EQ(redis({"CF.LOADCHUNK", "copy", header_at, header}), "+OK");
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    const auto& [at, bytes] = chunks[i];
    EXPECT_EQ(redis({"CF.LOADCHUNK", "copy", std::to_string(std::stoll(at) + 1), bytes}),
              "-Couldn't load chunk!");
    EXPECT_EQ(redis({"CF.LOADCHUNK", "copy", at, bytes.substr(1)}), "-Couldn't load chunk!");
    EXPECT_THAT(redis({"CF.EXISTS", "copy", "a"}), HasSubstr("the value is incomplete"));
    EXPECT_THAT(redis({"CF.DEL", "copy", "a"}), HasSubstr("the value is incomplete"));
    ASSERT_EQ(redis({"CF.LOADCHUNK", "copy", at, bytes}), "+OK");
  }
  EXPECT_EQ(redis.digest("copy"), redis.digest("f"));
  EXPECT_EQ(redis({"CF.INFO", "copy"}), redis({"CF.INFO", "f"}));
  EXPECT_EQ(redis({"CF.COUNT", "copy", "a"}), ":6");
  for (const std::string key : {"f", "copy"}) {
    redis(with_keys({"CF.INSERT", key, "ITEMS"}, "more", 0, 3000));
    redis({"CF.DEL", key, "more7"});
  }
  EXPECT_EQ(redis.digest("copy"), redis.digest("f"));  // it goes on growing in the same way
}

TEST_F(RedisCuckoo, AForgedDumpDoesNotMakeASnapshotUnreadable) {
  RunningModule redis;
  redis({"CF.RESERVE", "f", "100", "EXPANSION", "0"});
  redis(with_keys({"CF.INSERT", "f", "ITEMS"}, "key", 0, 90));
  std::string header = redis.call({"CF.SCANDUMP", "f", "0"}).elements[1].text;
  std::string body;
  for (std::string position = "1"; position != "0";) {
    const RedisReply reply = redis.call({"CF.SCANDUMP", "f", position});
    position = reply.elements[0].text;
    body += reply.elements[1].text;
  }
  // The file's header is before the checksum at the end. The forged one says that nothing was ever inserted.
  const std::size_t file_at = header.size() - 8 - file_header_bytes;
  const std::string file = header.substr(file_at, file_header_bytes) + body;
  const AnyFilter any = deserialize(std::as_bytes(std::span(file)));
  const auto* filter = any.get_if<DLeftCountingBloomFilter<>>();
  ASSERT_NE(filter, nullptr);
  const auto& table = filter->table();
  const DLeftCountingBloomFilter<> forged(filter->shape(), filter->hasher(), {}, table.cells(),
                                          table.spills(), table.num_fingerprints());
  const std::vector<std::byte> forged_file = serialize(forged);
  header.replace(file_at, file_header_bytes, reinterpret_cast<const char*>(forged_file.data()),
                 file_header_bytes);
  const std::uint64_t checksum = KeyHasher(0)(header.substr(0, header.size() - 8)).low;
  for (std::size_t i = 0; i < 8; ++i) header[header.size() - 8 + i] = static_cast<char>(checksum >> 8 * i);

  ASSERT_EQ(redis({"CF.LOADCHUNK", "forged", "1", header}), "+OK");
  const std::string words = body.substr(0, body.size() - table.spills().words().size_bytes());
  ASSERT_EQ(redis({"CF.LOADCHUNK", "forged", std::to_string(1 + words.size()), words}), "+OK");
  ASSERT_EQ(redis({"CF.LOADCHUNK", "forged", std::to_string(1 + body.size()), body.substr(words.size())}),
            "+OK");
  for (int i = 0; i < 50; ++i) EXPECT_EQ(redis({"CF.DEL", "forged", "key" + std::to_string(i)}), ":1");
  EXPECT_EQ(info(redis, "forged", "Number of items inserted"), 0);
  const std::string before = redis.digest("forged");
  ASSERT_EQ(redis({"SAVE"}), "+OK");
  redis.kill_and_restart();
  EXPECT_EQ(redis.digest("forged"), before);
  EXPECT_EQ(redis({"CF.EXISTS", "forged", "key70"}), ":1");
}

}  // namespace
}  // namespace tally::test
