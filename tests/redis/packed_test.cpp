// TALLY.PACKED: what it does to a key is what the command with texts does to a twin of the key.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "address_space.hpp"
#include "packed_items.hpp"
#include "random.hpp"
#include "running_module.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;

class RedisPacked : public WithModule {};

std::vector<std::string> random_items(Random& random, std::size_t size) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < size; ++i) items.push_back("item" + std::to_string(random.below(400)));
  return items;
}

int num_words(const RedisReply& words, const std::string& word) {
  const auto is_word = [&](const RedisReply& reply) { return reply.text == word; };
  return static_cast<int>(std::count_if(words.elements.begin(), words.elements.end(), is_word));
}

/// The numbers that TALLY.PACKED replies where TALLY.ADD or TALLY.REMOVE replies with these words.
std::string numbers_of(const RedisReply& words, const std::string& first, const std::string& second,
                       const std::string& refused) {
  std::string indices;
  for (std::size_t i = 0; i < words.elements.size(); ++i) {
    if (words.elements[i].text == refused) indices += ", :" + std::to_string(i);
  }
  return "[:" + std::to_string(num_words(words, first)) + ", :" + std::to_string(num_words(words, second)) +
         indices + "]";
}

std::string counts_of(const RedisReply& reply) {
  if (reply.type == '-') return reply.shown();
  std::string counts;
  for (const RedisReply& count : reply.elements) {
    counts += (counts.empty() ? ":" : ", :") +
              (count.text.starts_with(">=") ? "-" + count.text.substr(2) : count.text);
  }
  return "[" + counts + "]";
}

const std::vector<Words> all_structures{{"--kind", "bloom", "--keys", "1000"},
                                        {"--kind", "blocked-bloom", "--keys", "1000"},
                                        {"--kind", "counting-bloom", "--keys", "300", "--counter-bits", "2"},
                                        {"--kind", "blocked-counting-bloom", "--memory", "1KiB"},
                                        {"--kind", "threshold", "--keys", "1000", "--threshold", "3"},
                                        {"--kind", "dleft", "--keys", "100"},
                                        {"--kind", "dleft", "--keys", "40", "--max-doublings", "3"},
                                        {"--kind", "compact-dleft", "--keys", "100", "--unique-keys"},
                                        {"--kind", "count-min", "--width", "50", "--depth", "3"}};

TEST_F(RedisPacked, DoesToFiltersOfEveryKindWhatTheCommandWithTextsDoes) {
  RunningModule redis;
  Random random(1);
  for (const Words& structure : all_structures) {
    SCOPED_TRACE(structure[1]);
    redis({"DEL", "texts", "digests", "batches"});
    for (const char* const key : {"texts", "digests", "batches"}) {
      ASSERT_EQ(redis(with_words(with_words({"TALLY.CREATE", key}, structure), {"--seed", "1"})), "+OK");
    }
    std::uint64_t sequence = 0;
    const auto batch_too = [&](const Words& operation) {
      const std::string reply = redis(batch("batches", sequence + 1, sequence + 1, operation));
      if (!reply.starts_with("-")) ++sequence;
      return reply;
    };
    for (int round = 0; round < 12; ++round) {
      std::vector<std::string> items = random_items(random, 1 + random.below(60));
      const RedisReply added = redis.call(with_words({"TALLY.ADD", "texts"}, items));
      const RedisReply packed_add = redis.call({"TALLY.PACKED", "digests", "ADD", packed(items)});
      EXPECT_EQ(batch_too({"add", packed(items)}), packed_add.shown());
      const bool hides_new = added.shown().find("reached") != std::string::npos ||
                             added.shown().find("saturated") != std::string::npos;
      if (!hides_new) {
        EXPECT_EQ(packed_add.shown(), numbers_of(added, "new", "saturated", "full"));
      }
      EXPECT_EQ(packed_add.elements.at(1).text, std::to_string(num_words(added, "saturated")));
      EXPECT_GE(std::stoi(packed_add.elements.at(0).text), num_words(added, "new"));
      items = random_items(random, 1 + random.below(60));
      const RedisReply removed = redis.call(with_words({"TALLY.REMOVE", "texts"}, items));
      const std::string packed_remove = redis({"TALLY.PACKED", "digests", "REMOVE", packed(items)});
      EXPECT_EQ(packed_remove, removed.type == '-' ? removed.shown()
                                                   : numbers_of(removed, "removed", "saturated", "refused"));
      EXPECT_EQ(batch_too({"REMOVE", packed(items)}), packed_remove);
      items = random_items(random, 1 + random.below(60));
      EXPECT_EQ(redis({"TALLY.PACKEDREAD", "digests", "COUNT", packed(items)}),
                counts_of(redis.call(with_words({"TALLY.COUNT", "texts"}, items))));
      std::string letters;
      for (const RedisReply& answer : redis.call(with_words({"TALLY.QUERY", "texts"}, items)).elements) {
        letters += answer.text;
      }
      EXPECT_EQ(redis({"TALLY.PACKEDREAD", "digests", "query", packed(items)}), '"' + letters + '"');
      EXPECT_EQ(redis.digest("digests"), redis.digest("texts"));
    }
    EXPECT_EQ(redis({"TALLY.ENDWRITER", "batches", "w"}), ":1");
    EXPECT_EQ(redis.digest("batches"), redis.digest("texts"));
  }
}

TEST_F(RedisPacked, OverReportsTheIndicesOfWhatTheCommandWithTextsReports) {
  RunningModule redis;
  Random random(2);
  const std::vector<Words> kinds{
      {}, {"KEYS", "300"}, {"MEMORY", "8KiB", "UPDATE", "conservative"}, {"WINDOW", "1s", "MEMORY", "64KiB"}};
  for (const Words& kind : kinds) {
    redis({"DEL", "texts", "digests", "batches"});
    for (const char* const key : {"texts", "digests", "batches"}) {
      const Words create = with_words({"TALLY.OVERCREATE", key, "3", "SEED", "1"}, kind);
      EXPECT_EQ(redis(create), "+OK");
      EXPECT_EQ(redis(create), "+OK") << "again";
    }
    EXPECT_EQ(redis.digest("texts"), redis.digest("digests"));
    std::size_t num_reached = 0;
    for (int round = 1; round <= 40; ++round) {
      const std::vector<std::string> items = random_items(random, 1 + random.below(60));
      Words time;
      if (!kind.empty() && kind[0] == "WINDOW") time = {"TIME", std::to_string(100 * round)};
      const Words insert = with_words({"TALLY.OVERINSERT", "texts", "3"}, time);
      const RedisReply reached = redis.call(with_words(with_words(insert, {"ITEMS"}), items));
      num_reached += reached.elements.size();
      const Words over = with_words({"OVER", "3", packed(items)}, time);
      const RedisReply numbers = redis.call(with_words({"TALLY.PACKED", "digests"}, over));
      ASSERT_EQ(numbers.elements.size(), reached.elements.size()) << numbers.shown();
      for (std::size_t i = 0; i < numbers.elements.size(); ++i) {
        EXPECT_EQ(items.at(std::stoul(numbers.elements[i].text)), reached.elements[i].text);
      }
      const auto sequence = static_cast<std::uint64_t>(round);
      EXPECT_EQ(redis(batch("batches", sequence, sequence, over)), numbers.shown());
      EXPECT_EQ(redis.digest("digests"), redis.digest("texts"));
    }
    EXPECT_GT(num_reached, 30u);
    redis({"TALLY.ENDWRITER", "batches", "w"});
    EXPECT_EQ(redis.digest("batches"), redis.digest("texts"));
  }
}

TEST_F(RedisPacked, TopCountsWhatTopKIncrbyCounts) {
  RunningModule redis;
  Random random(3);
  redis({"TOPK.RESERVE", "texts", "10", "20", "3", "0.9"});
  redis({"COPY", "texts", "packed"});
  redis({"COPY", "texts", "batches"});
  for (std::uint64_t round = 1; round <= 60; ++round) {
    Words items;
    for (std::uint64_t i = 0; i < 1 + random.below(30); ++i) {
      const std::string item = "item" + std::to_string(random.below(1 + random.below(60)));
      items.push_back(round % 5 == 0 ? item + std::string(random.below(100), 'x') : item);
      items.push_back(std::to_string(1 + random.below(20)));
    }
    redis(with_words({"TOPK.INCRBY", "texts"}, items));
    EXPECT_EQ(redis(with_words({"TALLY.PACKED", "packed", "TOP"}, items)), "[]");
    EXPECT_EQ(redis(batch("batches", round, round, with_words({"TOP"}, items))), "[]");
    EXPECT_EQ(redis.digest("packed"), redis.digest("texts"));
  }
  redis({"TALLY.ENDWRITER", "batches", "w"});
  EXPECT_EQ(redis.digest("batches"), redis.digest("texts"));
  EXPECT_EQ(redis({"TOPK.LIST", "packed", "WITHCOUNT"}), redis({"TOPK.LIST", "texts", "WITHCOUNT"}));
}

TEST_F(RedisPacked, ArgumentErrorsNameTheValueTheRangeAndTheFix) {
  RunningModule redis({}, {"MAX-KEY-BYTES", "3000000"});
  redis({"TALLY.CREATE", "f", "--kind", "bloom", "--keys", "100", "--seed", "1"});
  redis({"TALLY.OVERCREATE", "o", "3", "SEED", "1"});
  redis({"TALLY.OVERCREATE", "m", "3", "WINDOW", "1m", "MEMORY", "64KiB"});
  redis({"TOPK.RESERVE", "t", "5"});
  redis({"SET", "string", "x"});
  const Words keys{"f", "o", "m", "t"};
  std::vector<std::string> before;
  for (const std::string& key : keys) before.push_back(redis.digest(key));
  const std::string one = packed({"a"});
  const auto bytes = [](std::size_t size) {
    return "-ERR the digests have " + std::to_string(size) +
           " bytes; must be 1 to 65536 digests of 16 bytes each; send more than that in several commands";
  };
  const std::string not_same = " is not that of the key; give the same as when it was made, or another key";
  expect_replies(
      redis,
      {{{"TALLY.PACKED", "f", "ADD"}, "-ERR wrong number of arguments for 'TALLY.PACKED' command"},
       {{"TALLY.PACKED", "f", "COUNT", one},
        "-ERR 'COUNT' is not an operation; must be ADD, REMOVE, OVER or TOP"},
       {{"TALLY.PACKEDREAD", "f", "ADD", one}, "-ERR 'ADD' is not an operation; must be COUNT or QUERY"},
       {{"TALLY.PACKED", "f", "ADD", one, one}, "-ERR the number of arguments of ADD is wrong; give digests"},
       {{"TALLY.PACKED", "o", "OVER", one},
        "-ERR the number of arguments of OVER is wrong; give N digests, and TIME milliseconds or nothing"},
       {{"TALLY.PACKED", "t", "TOP", "a", "1", "b"},
        "-ERR the number of arguments of TOP is wrong; give items, each with its increment"},
       {{"TALLY.PACKED", "none", "ADD", one}, "-ERR the key does not exist; create it with TALLY.CREATE"},
       {{"TALLY.PACKED", "none", "OVER", "3", one},
        "-ERR the key does not exist; create it with TALLY.OVERCREATE"},
       {{"TALLY.PACKED", "none", "TOP", "a", "1"}, "-TopK: key does not exist"},
       {{"TALLY.PACKED", "string", "ADD", one}, shown_wrong_type},
       {{"TALLY.PACKED", "o", "ADD", one}, shown_wrong_type},
       {{"TALLY.PACKED", "f", "OVER", "3", one}, shown_wrong_type},
       {{"TALLY.PACKED", "f", "TOP", "a", "1"}, shown_wrong_type},
       {{"TALLY.PACKEDREAD", "o", "COUNT", one}, shown_wrong_type},
       {{"TALLY.PACKED", "f", "ADD", ""}, bytes(0)},
       {{"TALLY.PACKED", "f", "ADD", one + "x"}, bytes(17)},
       {{"TALLY.PACKED", "f", "ADD", std::string(16 * 65537, 'x')}, bytes(16 * 65537)},
       {{"TALLY.PACKEDREAD", "f", "QUERY", "x"}, bytes(1)},
       {{"TALLY.PACKED", "o", "OVER", "3", "x"}, bytes(1)},
       {{"TALLY.PACKED", "o", "OVER", "4", one}, "-ERR N" + not_same},
       {{"TALLY.PACKED", "o", "OVER", "0", one}, "-ERR --N: '0' is too small; must be at least 1"},
       {{"TALLY.PACKED", "o", "OVER", "3", one, "TIME", "5"},
        "-ERR --time is only for a key with --window; leave it out"},
       {{"TALLY.PACKED", "m", "OVER", "3", one, "AT", "5"},
        "-ERR 'AT' is not an option of OVER; must be TIME"},
       {{"TALLY.PACKED", "m", "OVER", "3", one, "TIME", "-1"},
        "-ERR --time: '-1' is negative; give a number such as 5000, 10M or 1e6"},
       {{"TALLY.PACKED", "t", "TOP", "a", "1", "b", "0"},
        "-ERR the increment of item 1 is '0'; must be 1 to 100000"},
       {{"TALLY.PACKED", "t", "TOP", "a", "100001"},
        "-ERR the increment of item 0 is '100001'; must be 1 to 100000"},
       {{"TALLY.PACKED", "t", "TOP", "a", "x"}, "-ERR the increment of item 0 is 'x'; must be 1 to 100000"},
       {{"TALLY.OVERCREATE", "o", "4"}, "-ERR N" + not_same},
       {{"TALLY.OVERCREATE", "o", "3", "SEED", "2"}, "-ERR --seed" + not_same},
       {{"TALLY.OVERCREATE", "o", "3", "TIME", "2"},
        "-ERR 'TIME' is not an option; must be WINDOW, SLOTS, MEMORY, KEYS, FALSE-POSITIVE-RATE, UPDATE, "
        "SEED"},
       {{"TALLY.OVERCREATE", "o", "3", "SEED"}, "-ERR --seed: its value is missing"},
       {{"TALLY.OVERCREATE", "string", "3"}, shown_wrong_type},
       {{"TALLY.OVERCREATE", "new", "3", "SLOTS", "3"},
        "-ERR --slots is only for --window; give --window too"}});
  EXPECT_THAT(redis({"TALLY.PACKED", "f", "REMOVE", one}),
              HasSubstr("a bloom structure cannot remove items"));
  EXPECT_THAT(redis({"TALLY.PACKEDREAD", "f", "COUNT", one}),
              HasSubstr("a bloom structure cannot count items"));
  EXPECT_THAT(redis({"TALLY.PACKED", "t", "TOP", std::string(4000000, 'x'), "1"}),
              HasSubstr("MAX-KEY-BYTES"));
  EXPECT_EQ(redis({"EXISTS", "new", "none"}), ":0");
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(redis.digest(keys[i]), before[i]) << keys[i];
  std::string reply = "[]";
  int first = 0;
  for (; reply == "[]" && first < 800000; first += 20000) {
    reply = redis({"TALLY.PACKED", "o", "OVER", "3", packed_keys("item", first, 20000)});
  }
  EXPECT_THAT(reply, HasSubstr("MAX-KEY-BYTES"));
  EXPECT_GT(first, 40000);
}

TEST_F(RedisPacked, TheGreatestCommandHas65536Digests) {
  RunningModule redis;
  redis({"TALLY.CREATE", "f", "--kind", "bloom", "--keys", "100K", "--seed", "1"});
  const std::string digests = packed_keys("item", 0, 65536);
  const RedisReply reply = redis.call({"TALLY.PACKED", "f", "ADD", digests});
  EXPECT_EQ(reply.elements.size(), 2u);
  EXPECT_GT(std::stoi(reply.elements[0].text), 65000);
  EXPECT_EQ(redis({"TALLY.PACKEDREAD", "f", "QUERY", digests}), '"' + std::string(65536, '1') + '"');
}

/// The table of the list has room for 131,072 items. The eleventh item of the command makes it twice as large.
TEST_F(RedisPacked, WithoutMemoryForTheItemsOfAListNoneIsCounted) {
  RunningModule redis;
  redis({"TOPK.RESERVE", "t", "1000000", "8", "7", "0.9"});
  const auto top = [](int first, int count) {
    Words words{"TALLY.PACKED", "t", "TOP"};
    for (int i = first; i < first + count; ++i) words.insert(words.end(), {"item" + std::to_string(i), "1"});
    return words;
  };
  constexpr int num_items = 131072 - 10;
  for (int i = 0; i < num_items; i += 8192) ASSERT_EQ(redis(top(i, std::min(8192, num_items - i))), "[]");
  const std::string before = redis.digest("t");
  leave_address_space(redis, rlim_t{8} << 20);
  EXPECT_EQ(redis(top(num_items, 50)), "-ERR Insufficient memory");
  leave_address_space(redis, std::nullopt);
  EXPECT_EQ(redis.digest("t"), before);
  EXPECT_EQ(redis(top(num_items, 50)), "[]");
  EXPECT_EQ(redis({"TOPK.COUNT", "t", "item131111"}), "[:1]");
}

}  // namespace
}  // namespace tally::test
