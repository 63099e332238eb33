// BF.*: the replies byte for byte, and the answers against an exact set.

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>

#include "random.hpp"
#include "running_module.hpp"

namespace tally::test {
namespace {

class RedisBloom : public WithModule {};

/// With the value of Size, which the planner may change, replaced by `n`.
std::string without_size(std::string reply) {
  const std::string name = "+Size, :";
  const std::size_t at = reply.find(name);
  if (at == std::string::npos) return reply;
  const std::size_t first = at + name.size();
  return reply.replace(first, reply.find_first_not_of("0123456789", first) - first, "n");
}

TEST_F(RedisBloom, EveryCommandRepliesInTheClientsProtocol) {
  RunningModule redis;
  struct Row {
    Words words;
    std::string resp2, resp3;
  };
  const std::vector<Row> rows{
      {{"BF.RESERVE", "f", "0.01", "1000"}, "+OK", "+OK"},
      {{"bf.reserve", "g", "1e-3", "10", "nonscaling"}, "+OK", "+OK"},
      {{"BF.RESERVE", "h", "0.1", "10", "EXPANSION", "4"}, "+OK", "+OK"},
      {{"BF.RESERVE", "u", "0.1", "10", "UNKNOWN"}, "+OK", "+OK"},
      {{"BF.ADD", "f", "a"}, ":1", "#t"},
      {{"BF.ADD", "f", "a"}, ":0", "#f"},
      {{"BF.ADD", "f", ""}, ":1", "#t"},
      {{"BF.ADD", "f", std::string("a\0b\r\n", 5)}, ":1", "#t"},
      {{"BF.EXISTS", "f", std::string("a\0b\r\n", 5)}, ":1", "#t"},
      {{"BF.MADD", "new", "a", "a", "b"}, "[:1, :0, :1]", "[#t, #f, #t]"},
      {{"BF.INSERT", "f", "ITEMS", "a", "x"}, "[:0, :1]", "[#f, #t]"},
      {{"BF.INSERT", "i", "CAPACITY", "50", "ERROR", "0.001", "EXPANSION", "3", "ITEMS", "a"},
       "[:1]",
       "[#t]"},
      {{"BF.INSERT", "i", "cap", "7", "NOCREATE", "items", "a", "ITEMS"}, "[:0, :1]", "[#f, #t]"},
      {{"BF.EXISTS", "f", "a"}, ":1", "#t"},
      {{"BF.EXISTS", "f", "absent"}, ":0", "#f"},
      {{"BF.EXISTS", "no key", "a"}, ":0", "#f"},
      {{"BF.MEXISTS", "f", "a", "absent"}, "[:1, :0]", "[#t, #f]"},
      {{"BF.MEXISTS", "no key", "a", "b"}, "[:0, :0]", "[#f, #f]"},
      {{"BF.CARD", "f"}, ":4", ":4"},
      {{"BF.CARD", "no key"}, ":0", ":0"},
      {{"BF.INFO", "i"},
       "[+Capacity, :50, +Size, :n, +Number of filters, :1, +Number of items inserted, :2, +Expansion rate, "
       ":3]",
       "{+Capacity, :50, +Size, :n, +Number of filters, :1, +Number of items inserted, :2, +Expansion rate, "
       ":3}"},
      {{"BF.INFO", "g"},
       "[+Capacity, :10, +Size, :n, +Number of filters, :1, +Number of items inserted, :0, +Expansion rate, "
       "nil]",
       "{+Capacity, :10, +Size, :n, +Number of filters, :1, +Number of items inserted, :0, +Expansion rate, "
       "_}"},
      {{"BF.INFO", "new", "CAPACITY"}, "[:100]", "{+Capacity, :100}"},
      {{"BF.INFO", "new", "filters"}, "[:1]", "{+Number of filters, :1}"},
      {{"BF.INFO", "new", "ITEMS"}, "[:2]", "{+Number of items inserted, :2}"},
      {{"BF.INFO", "new", "EXPANSION"}, "[:2]", "{+Expansion rate, :2}"},
      {{"BF.INFO", "g", "EXPANSION"}, "[nil]", "{+Expansion rate, _}"},
      {{"TYPE", "f"}, "+tallyblom", "+tallyblom"},
  };
  for (const bool is_resp3 : {false, true}) {
    redis({"FLUSHALL"});
    redis({"HELLO", is_resp3 ? "3" : "2"});
    for (const Row& row : rows) {
      EXPECT_EQ(without_size(redis(row.words)), is_resp3 ? row.resp3 : row.resp2)
          << "RESP" << (is_resp3 ? 3 : 2) << " " << row.words[0] << " " << row.words[1];
    }
    EXPECT_GT(std::stoi(redis.call({"BF.INFO", "f", "SIZE"}).elements.back().text), 1000);
  }
}

TEST_F(RedisBloom, WrongArgumentsHaveTheTextsThatClientsKnow) {
  RunningModule redis;
  redis({"SET", "s", "text"});
  redis({"CMS.INITBYDIM", "c", "10", "2"});
  redis({"BF.RESERVE", "f", "0.01", "100"});
  const auto arity = [](const std::string& command) {
    return "-ERR wrong number of arguments for '" + command + "' command";
  };
  const std::string rate = "-ERR (0 < error rate range < 1) ";
  expect_replies(
      redis, {{{"BF.RESERVE", "k", "0.01"}, arity("BF.RESERVE")},
              {{"BF.RESERVE", "k", "0.01", "1", "EXPANSION", "2", "NONSCALING", "x"}, arity("BF.RESERVE")},
              {{"BF.RESERVE", "k", "x", "100"}, "-ERR bad error rate"},
              {{"BF.RESERVE", "k", "nan", "100"}, "-ERR bad error rate"},
              {{"BF.RESERVE", "k", "0", "100"}, rate},
              {{"BF.RESERVE", "k", "1", "100"}, rate},
              {{"BF.RESERVE", "k", "-0.5", "100"}, rate},
              {{"BF.RESERVE", "k", "inf", "100"}, rate},
              {{"BF.RESERVE", "k", "0.01", "x"}, "-ERR bad capacity"},
              {{"BF.RESERVE", "k", "0.01", "1.5"}, "-ERR bad capacity"},
              {{"BF.RESERVE", "k", "0.01", "9223372036854775808"}, "-ERR bad capacity"},
              {{"BF.RESERVE", "k", "0.01", "0"}, "-ERR (capacity should be larger than 0)"},
              {{"BF.RESERVE", "k", "0.01", "-1"}, "-ERR (capacity should be larger than 0)"},
              {{"BF.RESERVE", "k", "0.01", "9223372036854775807"}, "-ERR could not create filter"},
              {{"BF.RESERVE", "k", "0.01", "100", "EXPANSION"}, "-ERR no expansion"},
              {{"BF.RESERVE", "k", "0.01", "100", "EXPANSION", "x"}, "-ERR bad expansion"},
              {{"BF.RESERVE", "k", "0.01", "100", "EXPANSION", "0"},
               "-ERR expansion should be greater or equal to 1"},
              {{"BF.RESERVE", "k", "0.01", "100", "EXPANSION", "2", "NONSCALING"},
               "-Nonscaling filters cannot expand"},
              {{"BF.RESERVE", "f", "0.01", "100"}, "-ERR item exists"},
              {{"BF.RESERVE", "f", "2", "100"}, rate},  // arguments before the key
              {{"BF.RESERVE", "s", "0.01", "100"}, shown_wrong_type},
              {{"BF.RESERVE", "c", "0.01", "100"}, shown_wrong_type},
              {{"BF.ADD", "k"}, arity("BF.ADD")},
              {{"BF.ADD", "k", "a", "b"}, arity("BF.ADD")},
              {{"BF.ADD", "s", "a"}, shown_wrong_type},
              {{"BF.ADD", "c", "a"}, shown_wrong_type},
              {{"BF.MADD", "k"}, arity("BF.MADD")},
              {{"BF.MADD", "s", "a"}, shown_wrong_type},
              {{"BF.INSERT", "k", "ITEMS"}, arity("BF.INSERT")},
              {{"BF.INSERT", "k", "NOCREATE", "ITEMS"}, arity("BF.INSERT")},
              {{"BF.INSERT", "k", "NOCREATE", "NONSCALING"}, arity("BF.INSERT")},
              {{"BF.INSERT", "k", "NOCREATE", "CAPACITY"}, arity("BF.INSERT")},
              {{"BF.INSERT", "k", "CAPACITY", "x", "ITEMS", "a"}, "-Bad capacity"},
              {{"BF.INSERT", "k", "ERROR", "x", "ITEMS", "a"}, "-Bad error rate"},
              {{"BF.INSERT", "k", "EXPANSION", "x", "ITEMS", "a"}, "-Bad expansion"},
              {{"BF.INSERT", "k", "CAPACITY", "0", "ITEMS", "a"}, "-Bad argument received"},
              {{"BF.INSERT", "k", "ERROR", "1", "ITEMS", "a"}, "-Bad argument received"},
              {{"BF.INSERT", "k", "EXPANSION", "0", "ITEMS", "a"}, "-Bad argument received"},
              {{"BF.INSERT", "k", "WHAT", "ITEMS", "a"}, "-Unknown argument received"},
              {{"BF.INSERT", "k", "", "ITEMS", "a"}, "-Unknown argument received"},
              {{"BF.INSERT", "k", "NOCREATE", "ITEMS", "a"}, "-ERR not found"},
              {{"BF.INSERT", "s", "ITEMS", "a"}, shown_wrong_type},
              {{"BF.EXISTS", "f"}, arity("BF.EXISTS")},
              {{"BF.EXISTS", "s", "a"}, ":0"},
              {{"BF.EXISTS", "c", "a"}, ":0"},
              {{"BF.MEXISTS", "f"}, arity("BF.MEXISTS")},
              {{"BF.MEXISTS", "s", "a", "b"}, "[:0, :0]"},
              {{"BF.CARD"}, arity("BF.CARD")},
              {{"BF.CARD", "s"}, shown_wrong_type},
              {{"BF.INFO", "f", "SIZE", "x"}, arity("BF.INFO")},
              {{"BF.INFO", "f", "x"}, "-Invalid information value"},
              {{"BF.INFO", "k"}, "-ERR not found"},
              {{"BF.INFO", "s"}, shown_wrong_type},
              {{"BF.SCANDUMP", "f"}, arity("BF.SCANDUMP")},
              {{"BF.SCANDUMP", "f", "x"}, "-Second argument must be numeric"},
              {{"BF.SCANDUMP", "k", "0"}, "-ERR not found"},
              {{"BF.SCANDUMP", "s", "0"}, shown_wrong_type},
              {{"BF.LOADCHUNK", "k", "1"}, arity("BF.LOADCHUNK")},
              {{"BF.LOADCHUNK", "k", "x", "data"}, "-ERR Second argument must be numeric"},
              {{"BF.LOADCHUNK", "k", "1", "data"}, "-ERR received bad data"},
              {{"BF.LOADCHUNK", "k", "2", "data"}, "-ERR not found"},
              {{"BF.LOADCHUNK", "s", "1", "data"}, shown_wrong_type},
              {{"BF.LOADCHUNK", "f", "1", "data"}, "-ERR received bad data"},
              {{"BF.LOADCHUNK", "f", "0", "data"}, "-ERR invalid offset - no link found"},
              {{"BF.LOADCHUNK", "f", "-5", "data"}, "-ERR invalid offset - no link found"},
              {{"EXISTS", "k"}, ":0"}});
}

TEST_F(RedisBloom, AFilterAnswersAsAnExactSetExceptForFalsePositives) {
  RunningModule redis;
  Random random(411);
  std::set<std::string> added;
  long long num_new = 0;
  int num_false = 0;
  redis({"BF.RESERVE", "f", "0.01", "500"});
  for (int batch = 0; batch < 40; ++batch) {
    Words words{"BF.MADD", "f"};
    for (int i = 0; i < 500; ++i) words.push_back("key" + std::to_string(random.below(8000)));
    const RedisReply reply = redis.call(words);
    ASSERT_EQ(reply.elements.size(), words.size() - 2);
    for (std::size_t i = 0; i < reply.elements.size(); ++i) {
      const bool is_first = added.insert(words[i + 2]).second;
      const bool is_new = reply.elements[i].text == "1";
      EXPECT_TRUE(is_first || !is_new) << words[i + 2];
      if (is_first && !is_new) ++num_false;
      if (is_new) ++num_new;
    }
  }
  EXPECT_EQ(redis.integer({"BF.CARD", "f"}), num_new);
  EXPECT_LT(num_false, 160);  // a mean of at most 1% of 8000
  Words words{"BF.MEXISTS", "f"};
  words.insert(words.end(), added.begin(), added.end());
  for (const RedisReply& element : redis.call(words).elements) EXPECT_EQ(element.text, "1");
  int num_found = 0;
  for (const RedisReply& element : redis.call(with_keys({"BF.MEXISTS", "f"}, "absent", 0, 10000)).elements) {
    num_found += element.text == "1" ? 1 : 0;
  }
  EXPECT_LT(num_found, 200);
}

TEST_F(RedisBloom, AChainGrowsByItsExpansion) {
  RunningModule redis;
  redis({"BF.RESERVE", "f", "0.001", "100", "EXPANSION", "3"});
  redis(with_keys({"BF.MADD", "f"}, "key", 0, 3000));
  EXPECT_EQ(redis({"BF.INFO", "f", "FILTERS"}), "[:4]");
  EXPECT_EQ(redis({"BF.INFO", "f", "CAPACITY"}), "[:4000]");
  EXPECT_GT(redis.integer({"BF.CARD", "f"}), 2980);
  redis({"BF.RESERVE", "g", "0.001", "10", "EXPANSION", "1"});
  redis(with_keys({"BF.MADD", "g"}, "key", 0, 45));
  EXPECT_EQ(redis({"BF.INFO", "g", "FILTERS"}), "[:5]");
  for (const RedisReply& element : redis.call(with_keys({"BF.MEXISTS", "f"}, "key", 0, 3000)).elements) {
    EXPECT_EQ(element.text, "1");
  }
}

TEST_F(RedisBloom, AFullFilterThatDoesNotGrowRefusesNewKeysAndEndsTheArray) {
  RunningModule redis;
  const std::string full = "-ERR non scaling filter is full";
  redis({"BF.RESERVE", "f", "0.000001", "3", "NONSCALING"});
  expect_replies(redis, {{{"BF.MADD", "f", "a", "b", "a"}, "[:1, :1, :0]"},
                         {{"BF.MADD", "f", "c", "d", "a", "e"}, "[:1, " + full + "]"},
                         {{"BF.ADD", "f", "d"}, full},
                         {{"BF.ADD", "f", "a"}, ":0"},
                         {{"BF.INSERT", "f", "ITEMS", "a", "d"}, "[:0, " + full + "]"},
                         {{"BF.CARD", "f"}, ":3"}});
}

TEST_F(RedisBloom, AFilterLargerThanMaxKeyBytesIsNeitherCreatedNorGrown) {
  RunningModule redis({}, {"MAX-KEY-BYTES", "2000"});
  EXPECT_EQ(redis({"BF.RESERVE", "f", "0.01", "100000"}).substr(0, 28), "-ERR could not create filter");
  EXPECT_EQ(redis({"CMS.INITBYDIM", "c", "1000", "5"}),
            "-CMS: the sketch takes 20000 bytes; must be at most 2000, the module's option MAX-KEY-BYTES");
  EXPECT_EQ(redis({"EXISTS", "f", "c"}), ":0");
  const RedisReply reply = redis.call(with_keys({"BF.MADD", "f"}, "key", 0, 5000));
  ASSERT_EQ(reply.elements.size(), 5000u);
  // Some of the keys are false positives.
  int num_refused = 0;
  for (std::size_t i = 4000; i < 5000; ++i) {
    num_refused += reply.elements[i].shown() == "-ERR problem inserting into filter" ? 1 : 0;
  }
  EXPECT_GT(num_refused, 900);
  EXPECT_EQ(redis({"BF.EXISTS", "f", "key0"}), ":1");
}

}  // namespace
}  // namespace tally::test
