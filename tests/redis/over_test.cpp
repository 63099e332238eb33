// TALLY.OVER: each item that reaches N is reported once, whatever client sent it, against exact counts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "address_space.hpp"
#include "append_only_file.hpp"
#include "running_module.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;

class RedisOver : public WithModule {};

std::string over_field(RunningModule& redis, const std::string& key, const std::string& name) {
  const RedisReply reply = redis.call({"TALLY.OVERINFO", key});
  for (std::size_t i = 0; i + 1 < reply.elements.size(); i += 2) {
    if (reply.elements[i].text == name) return reply.elements[i + 1].shown();
  }
  return "no field " + name + " in " + reply.shown();
}

TEST_F(RedisOver, RepliesWithTheItemsThatHaveReachedNJustNow) {
  RunningModule redis;
  expect_replies(redis, {{{"TALLY.OVER", "k", "3", "a", "b", "a"}, "[]"},
                         {{"TALLY.OVER", "k", "3", "a", "a", "b", "c"}, "[\"a\"]"},
                         {{"TALLY.OVER", "k", "3", "b", "b", "WINDOW", "ITEMS"}, "[\"b\"]"},
                         {{"TALLY.OVER", "first", "1", "x", "x", "", "y"}, "[\"x\", \"\", \"y\"]"},
                         {{"TALLY.OVERINSERT", "k", "3", "ITEMS", "c", "ITEMS"}, "[]"},
                         {{"TALLY.OVERINSERT", "k", "3", "items", "ITEMS", "c"}, "[\"ITEMS\", \"c\"]"}});
  EXPECT_EQ(over_field(redis, "k", "reported"), ":4");
  EXPECT_EQ(over_field(redis, "k", "counts exactly"), ":1");
  redis({"HELLO", "3"});
  EXPECT_EQ(redis({"TALLY.OVER", "k", "3", "z", "z", "z"}), "[\"z\"]");
  EXPECT_EQ(redis.call({"TALLY.OVERINFO", "k"}).type, '%');
  EXPECT_EQ(over_field(redis, "k", "counts exactly"), "#t");
}

TEST_F(RedisOver, ArgumentErrorsNameTheOptionAndTheFix) {
  RunningModule redis;
  const auto error = [](const std::string& text) { return "-ERR " + text; };
  const Words insert{"TALLY.OVERINSERT", "k", "3"};
  const auto with = [&](const Words& more) {
    Words words = insert;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::string option_list =
      " is not an option; must be WINDOW, SLOTS, MEMORY, KEYS, FALSE-POSITIVE-RATE, UPDATE, SEED, TIME or "
      "ITEMS";
  expect_replies(
      redis,
      {{{"SET", "string", "x"}, "+OK"},
       {{"TALLY.OVER", "k", "3"}, "-ERR wrong number of arguments for 'TALLY.OVER' command"},
       {{"TALLY.OVER", "k", "none", "a"}, error("--N: 'none' is not a number such as 5000, 10M or 1e6")},
       {{"TALLY.OVER", "k", "0", "a"}, error("--N: '0' is too small; must be at least 1")},
       {{"TALLY.OVER", "k", "5G", "a"}, error("N: 5000000000 is too large; must be at most 4294967295")},
       {{"TALLY.OVER", "string", "3", "a"}, shown_wrong_type},
       {{"TALLY.OVERINFO", "string"}, shown_wrong_type},
       {{"TALLY.OVERINFO", "k"}, error("the key does not exist; create it with TALLY.OVER")},
       {with({"WINDOW", "10m"}), error("ITEMS is missing; give it, and one item or more")},
       {with({"WINDOW", "10m", "ITEMS"}), error("ITEMS is missing; give it, and one item or more")},
       {with({"COLOUR", "red", "ITEMS", "a"}), error("'COLOUR'" + option_list)},
       {with({"a", "b"}), error("'a'" + option_list)},
       {with({"ITEMS", "a", "WINDOW"}), "[]"},
       {with({"WINDOW", "10m", "ITEMS", "a"}),
        error("--window is not that of the key; give the same as when it was made, or another key")},
       {{"TALLY.OVER", "k", "4", "a"},
        error("N is not that of the key; give the same as when it was made, or another key")},
       {with({"TIME", "5", "ITEMS", "a"}), error("--time is only for a key with --window; leave it out")},
       {{"TALLY.OVERINSERT", "w", "3", "WINDOW", "10y", "ITEMS", "a"},
        error("--window: '10y' has an unknown unit; give a duration such as 10m, 1.5h, 90s or 500ms")},
       {{"TALLY.OVERINSERT", "w", "3", "WINDOW", "1m", "KEYS", "5", "ITEMS", "a"},
        error("--keys, --false-positive-rate and --update cannot be combined with --window; give --memory")},
       {{"TALLY.OVERINSERT", "w", "3", "SLOTS", "5", "ITEMS", "a"},
        error("--slots is only for --window; give --window too")},
       {{"TALLY.OVERINSERT", "w", "3", "MEMORY", "1GiB", "ITEMS", "a"},
        error("--memory: it is more than 268435456, the module's option MAX-KEY-BYTES")},
       {{"EXISTS", "w"}, ":0"}});
  EXPECT_THAT(redis({"TALLY.OVERINSERT", "w", "3", "KEYS", "1T", "ITEMS", "a"}), HasSubstr("MAX-KEY-BYTES"));
  EXPECT_THAT(redis({"TALLY.OVERINSERT", "w", "3", "WINDOW", "1m", "MEMORY", "100", "ITEMS", "a"}),
              HasSubstr("memory_bytes"));
}

/// The order of the sights of different clients is unknown, but not how many there are of an item.
TEST_F(RedisOver, EachCrossingIsReportedOnceWithSeveralClientsAtOnce) {
  RunningModule redis;
  constexpr int num_clients = 4;
  constexpr int threshold = 5;
  std::vector<std::map<std::string, int>> sights(num_clients);
  std::vector<std::map<std::string, int>> reports(num_clients);
  std::vector<std::thread> clients;
  for (int client = 0; client < num_clients; ++client) {
    clients.emplace_back([&, client] {
      RedisConnection connection(redis.socket());
      std::mt19937 random(static_cast<unsigned>(client));
      const auto own = static_cast<std::size_t>(client);
      for (int batch = 0; batch < 150; ++batch) {
        Words words{"TALLY.OVER", "k", std::to_string(threshold)};
        for (int i = 0; i < 100; ++i) {
          words.push_back("item" + std::to_string(random() % 12000));
          ++sights[own][words.back()];
        }
        for (const RedisReply& item : connection.call(words).elements) ++reports[own][item.text];
      }
    });
  }
  for (std::thread& client : clients) client.join();
  std::map<std::string, int> all_sights;
  std::map<std::string, int> all_reports;
  for (std::size_t i = 0; i < num_clients; ++i) {
    for (const auto& [item, count] : sights[i]) all_sights[item] += count;
    for (const auto& [item, count] : reports[i]) all_reports[item] += count;
  }
  std::size_t num_over = 0;
  for (const auto& [item, count] : all_sights) {
    const int num_reports = all_reports.contains(item) ? all_reports[item] : 0;
    ASSERT_EQ(num_reports, count >= threshold ? 1 : 0) << item << " " << count;
    num_over += count >= threshold ? 1 : 0;
  }
  EXPECT_GT(num_over, 1000u);
  EXPECT_EQ(over_field(redis, "k", "reported"), ":" + std::to_string(num_over));
}

/// More items than are counted exactly: none is missed, none is reported twice, and few are false.
TEST_F(RedisOver, FiltersMissNoItemAndReportNoneTwice) {
  RunningModule redis;
  std::map<std::string, int> sights;
  std::map<std::string, int> reports;
  std::mt19937 random(1);
  for (int batch = 0; batch < 200; ++batch) {
    Words words{"TALLY.OVERINSERT", "k", "3", "KEYS", "50K", "FALSE-POSITIVE-RATE", "0.1%", "ITEMS"};
    for (int i = 0; i < 500; ++i) {
      words.push_back(std::to_string(random() % 50000));
      ++sights[words.back()];
    }
    for (const RedisReply& item : redis.call(words).elements) {
      ++reports[item.text];
      EXPECT_EQ(reports[item.text], 1) << item.text;
    }
  }
  std::size_t num_false = 0;
  for (const auto& [item, count] : sights) {
    if (count < 3) {
      num_false += reports.contains(item) ? 1 : 0;
      continue;
    }
    EXPECT_TRUE(reports.contains(item)) << item;
  }
  EXPECT_LT(num_false, 120u);  // a mean of at most 0.1% of about 34,000 items
  EXPECT_EQ(over_field(redis, "k", "counts exactly"), ":0");
}

/// Time comes with the items here. An item is reported when it has 3 sights within the window, and may be as soon as it has 3
/// within a window and a slot.
TEST_F(RedisOver, AWindowReportsWhatReachedNWithinIt) {
  RunningModule redis;
  const auto at = [&](long milliseconds, const Words& items) {
    Words words{"TALLY.OVERINSERT",           "w",    "3", "WINDOW", "1s", "SLOTS", "10", "TIME",
                std::to_string(milliseconds), "ITEMS"};
    words.insert(words.end(), items.begin(), items.end());
    return redis(words);
  };
  EXPECT_EQ(at(10000, {"a", "a", "b"}), "[]");
  EXPECT_EQ(at(10900, {"a", "a", "b"}), "[\"a\"]");
  EXPECT_EQ(at(11500, {"b"}), "[]");  // the first sight of b is too old
  EXPECT_EQ(at(11600, {"b"}), "[\"b\"]");
  EXPECT_EQ(at(11700, {"a", "b"}), "[]");  // reported within the last window
  EXPECT_EQ(at(99000, {"a", "a"}), "[]");
  EXPECT_EQ(at(99100, {"a"}), "[\"a\"]");
  EXPECT_EQ(over_field(redis, "w", "window in milliseconds"), ":1000");

  std::mt19937 random(2);
  std::map<std::string, std::deque<long>> sights;
  std::map<std::string, long> reported;
  long time = 1'000'000;
  int num_reports = 0;
  for (int i = 0; i < 6000; ++i) {
    time += static_cast<long>(random() % 8);
    const std::string item = "item" + std::to_string(random() % 150);
    std::deque<long>& times = sights[item];
    times.push_back(time);
    const auto num_since = [&](long first) {
      return std::count_if(times.begin(), times.end(), [&](long sight) { return sight >= first; });
    };
    const bool is_reported = at(time, {item}) != "[]";
    const bool may_have_been = reported.contains(item) && time - reported[item] <= 1100;
    const bool must_have_been = reported.contains(item) && time - reported[item] < 1000;
    if (num_since(time - 999) >= 3 && !may_have_been) {
      EXPECT_TRUE(is_reported) << item << " at " << time;
    }
    if (!is_reported) continue;
    EXPECT_GE(num_since(time - 1100), 3) << item << " at " << time;
    EXPECT_FALSE(must_have_been) << item << " at " << time;
    reported[item] = time;
    ++num_reports;
  }
  EXPECT_GT(num_reports, 200);
}

TEST_F(RedisOver, AKeyDoesNotGrowBeyondTheLimit) {
  RunningModule redis({}, {"MAX-KEY-BYTES", "3000000"});
  std::string reply;
  int first = 0;
  for (; first < 400000; first += 5000) {
    reply = redis(with_keys({"TALLY.OVER", "k", "2"}, "item", first, 5000));
    if (reply != "[]") break;
  }
  EXPECT_THAT(reply, HasSubstr("MAX-KEY-BYTES"));
  EXPECT_GT(first, 30000);
  EXPECT_EQ(over_field(redis, "k", "items"), ":" + std::to_string(first));
  EXPECT_EQ(redis({"TALLY.OVERINSERT", "m", "2", "MEMORY", "1MiB", "ITEMS", "a", "a"}), "[\"a\"]");
}

void fill(RunningModule& redis, int first) {
  redis(with_keys({"TALLY.OVER", "exact", "2"}, "item", first, 3000));
  redis(with_keys({"TALLY.OVER", "exact", "2"}, "item", first, 100));
  redis(with_keys({"TALLY.OVERINSERT", "memory", "2", "MEMORY", "100KiB", "ITEMS"}, "item", first, 3000));
  redis(with_keys({"TALLY.OVERINSERT", "keys", "2", "KEYS", "9000", "ITEMS"}, "item", first, 3000));
  redis(with_keys({"TALLY.OVERINSERT", "window", "2", "WINDOW", "1h", "MEMORY", "3MiB", "ITEMS"}, "item",
                  first, 900));
  redis(with_keys({"TALLY.OVER", "window", "2"}, "item", first, 100));
}

std::vector<std::string> digests(RunningModule& redis) {
  std::vector<std::string> all;
  for (const std::string key : {"exact", "memory", "keys", "window"}) all.push_back(redis.digest(key));
  return all;
}

class RedisOverAppendOnlyFile : public WithModule, public testing::WithParamInterface<const char*> {};

TEST_P(RedisOverAppendOnlyFile, CountsSurviveKillBeforeAndAfterARewriteAndASnapshot) {
  if (IsSkipped()) return;
  RunningModule redis(
      {"--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", GetParam()});
  fill(redis, 0);
  const std::vector<std::string> before = digests(redis);
  redis.kill_and_restart();
  EXPECT_EQ(digests(redis), before);
  ASSERT_TRUE(rewrites_append_only_file(redis));
  redis.kill_and_restart();
  EXPECT_EQ(digests(redis), before);
  redis({"DEBUG", "RELOAD"});
  EXPECT_EQ(digests(redis), before);
  EXPECT_EQ(redis({"COPY", "window", "copy"}), ":1");
  EXPECT_EQ(redis.digest("copy"), before[3]);
  EXPECT_EQ(redis({"TALLY.OVER", "exact", "2", "item50", "item2000"}), "[\"item2000\"]");
  EXPECT_EQ(redis({"TALLY.OVER", "window", "2", "item50", "item800"}), "[\"item800\"]");
}

INSTANTIATE_TEST_SUITE_P(WithPreamble, RedisOverAppendOnlyFile, testing::Values("yes", "no"),
                         [](const auto& test) { return std::string(test.param); });

TEST_F(RedisOver, AReplicaIsEqualAfterTheFirstCopyAndAfterMoreItems) {
  RunningModule master({"--repl-diskless-sync-delay", "0"});
  fill(master, 0);
  RunningModule replica({"--replicaof", "127.0.0.1 " + std::to_string(master.port())},
                        {"MAX-KEY-BYTES", "1"});
  ASSERT_TRUE(follows_its_master(replica));
  EXPECT_EQ(digests(replica), digests(master));
  fill(master, 1500);
  master({"DEL", "exact"});
  fill(master, 2000);
  ASSERT_EQ(master({"WAIT", "1", "10000"}), ":1");
  EXPECT_EQ(digests(replica), digests(master));
}

TEST_F(RedisOver, ADamagedOrMisplacedPieceOfAStateIsRefusedAndTheRestLoadsStill) {
  RunningModule redis({"--appendonly", "yes", "--aof-use-rdb-preamble", "no"});
  redis({"TALLY.OVER", "k", "2", "a", "b"});
  std::string dumped = redis.call({"DUMP", "k"}).text;
  for (std::size_t i = 0; i < dumped.size(); i += 7) {
    std::string damaged = dumped;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_EQ(redis({"RESTORE", "r", "0", damaged}).substr(0, 4), "-ERR");
  }
  ASSERT_TRUE(rewrites_append_only_file(redis));
  const std::vector<Words> loads = commands_of_append_only_file(redis, "TALLY.LOADCHUNK");
  ASSERT_GT(loads.size(), 10u);
  const auto load = [&](const std::string& position, const std::string& bytes) {
    return redis({"TALLY.LOADCHUNK", "l", position, bytes});
  };
  const auto changed = [](std::string bytes) {
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    return bytes;
  };
  EXPECT_EQ(load("1", changed(loads[0][3])), "-ERR received bad data");
  EXPECT_EQ(load("1", loads[0][3]), "+OK");
  EXPECT_THAT(redis({"TALLY.OVER", "l", "2", "a"}), HasSubstr("the value is incomplete: 0 of "));
  for (std::size_t i = 1; i < loads.size(); ++i) {
    const std::string before = redis.digest("l");
    EXPECT_NE(load(loads[i][2], changed(loads[i][3])), "+OK") << i;
    EXPECT_EQ(load(loads[i][2], loads[i][3] + "x"), "-ERR invalid offset - no link found") << i;
    EXPECT_EQ(redis.digest("l"), before) << i;
    if (i == loads.size() / 2) {
      redis({"DEBUG", "RELOAD"});
      EXPECT_EQ(redis({"COPY", "l", "half"}), ":1");
      EXPECT_EQ(redis.digest("l"), before);
      EXPECT_EQ(redis.digest("half"), before);
    }
    EXPECT_EQ(load(loads[i][2], loads[i][3]), "+OK") << i;
  }
  EXPECT_EQ(redis.digest("l"), redis.digest("k"));
  EXPECT_EQ(redis({"TALLY.OVER", "l", "2", "a"}), "[\"a\"]");
}

/// The first filter of a key that has counted 65,536 items exactly: about 20 MB for this N.
TEST_F(RedisOver, WithoutMemoryForTheNextFilterNothingIsCountedAndAReplicaIsEqual) {
  RunningModule master({"--repl-diskless-sync-delay", "0"});
  const Words over{"TALLY.OVER", "k", "1000"};
  for (int i = 0; i < 65536; i += 4096) master(with_keys(over, "item", i, 4096));
  RunningModule replica({"--replicaof", "127.0.0.1 " + std::to_string(master.port())});
  ASSERT_TRUE(follows_its_master(replica));
  const std::string before = master.digest("k");
  ASSERT_EQ(over_field(master, "k", "counts exactly"), ":1");
  leave_address_space(master, rlim_t{4} << 20);
  const Words more = with_keys(over, "more", 0, 50);
  EXPECT_EQ(master(more), "-ERR Insufficient memory");
  EXPECT_EQ(master(more), "-ERR Insufficient memory");
  leave_address_space(master, std::nullopt);
  EXPECT_EQ(master.digest("k"), before);
  EXPECT_EQ(over_field(master, "k", "items"), ":65536");
  EXPECT_EQ(master(more), "[]");
  EXPECT_EQ(over_field(master, "k", "filters"), ":1");
  ASSERT_EQ(master({"WAIT", "1", "10000"}), ":1");
  EXPECT_NE(master.digest("k"), before);
  EXPECT_EQ(replica.digest("k"), master.digest("k"));
}

}  // namespace
}  // namespace tally::test
