// TALLY.BATCH: a batch of a writer counts once, however often it is sent, and a lost one is noticed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "address_space.hpp"
#include "packed_items.hpp"
#include "random.hpp"
#include "running_module.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class RedisBatch : public WithModule {};

/// A filter, counts of TALLY.OVER*, and a list, each with an operation that changes it.
struct Changed {
  std::string key;
  Words operation;
};

std::vector<Changed> make_keys(RunningModule& redis) {
  redis({"TALLY.CREATE", "f", "--kind", "dleft", "--keys", "100", "--seed", "1"});
  redis({"TALLY.OVERCREATE", "o", "2", "SEED", "1"});
  redis({"TOPK.RESERVE", "t", "5"});
  return {{"f", {"ADD", packed({"a", "b", "a"})}},
          {"f", {"REMOVE", packed({"a", "x"})}},
          {"o", {"OVER", "2", packed({"a", "b", "a"})}},
          {"t", {"TOP", "a", "5", "b", "1"}}};
}

TEST_F(RedisBatch, SentTwiceCountsOnceAndHasTheSameReply) {
  RunningModule redis;
  const std::vector<std::string> replies{"[:2, :0]", "[:1, :0, :1]", "[:2]", "[]"};
  std::map<std::string, std::uint64_t> sequences;
  std::size_t i = 0;
  for (const auto& [key, operation] : make_keys(redis)) {
    const std::uint64_t sequence = ++sequences[key];
    EXPECT_EQ(redis(batch(key, sequence, 1, operation)), replies[i]) << operation[0];
    const std::string after = redis.digest(key);
    for (int again = 0; again < 3; ++again) {
      EXPECT_EQ(redis(batch(key, sequence, 1, operation)), replies[i]) << operation[0];
    }
    EXPECT_EQ(redis.digest(key), after);
    ++i;
  }
  EXPECT_EQ(redis({"TALLY.COUNT", "f", "a", "b"}), "[:1, :1]");
  EXPECT_EQ(redis({"TOPK.LIST", "t", "WITHCOUNT"}), "[\"a\", :5, \"b\", :1]");
  // Another writer has numbers of its own.
  EXPECT_EQ(redis(batch("f", 1, 1, {"ADD", packed({"a", "c"})}, "other")), "[:1, :0]");
  EXPECT_EQ(redis({"TALLY.COUNT", "f", "a", "c"}), "[:2, :1]");
  EXPECT_EQ(redis({"TALLY.WRITERS", "f"}), "[[\"w\", :2, :2], [\"other\", :1, :1]]");
}

/// Whatever is sent again, in whatever order.
TEST_F(RedisBatch, OfManyWritersWithLostRepliesCountAsIfEachWasSentOnce) {
  RunningModule redis;
  redis({"TALLY.CREATE", "f", "--kind", "count-min", "--width", "5000", "--depth", "4", "--seed", "1"});
  Random random(1);
  struct Client {
    std::uint64_t last = 0;    // that was sent
    std::uint64_t oldest = 1;  // without a reply
    std::map<std::uint64_t, std::pair<Words, std::string>> sent;
  };
  std::map<std::string, Client> clients;
  std::map<std::string, int> exact;
  for (int step = 0; step < 2000; ++step) {
    const std::string name = "client" + std::to_string(random.below(4));
    Client& client = clients[name];
    const bool is_new = client.sent.empty() || (random.below(2) == 0 && client.last + 1 - client.oldest < 64);
    if (is_new) {
      Words items;
      for (std::uint64_t i = 0; i < 1 + random.below(5); ++i) {
        items.push_back("item" + std::to_string(random.below(50)));
        ++exact[items.back()];
      }
      const Words operation{"ADD", packed(items)};
      ++client.last;
      const std::string reply = redis(batch("f", client.last, client.oldest, operation, name));
      ASSERT_THAT(reply, StartsWith("[:"));
      client.sent[client.last] = {operation, reply};
      continue;
    }
    const std::uint64_t sequence = client.oldest + random.below(client.last - client.oldest + 1);
    const auto& [operation, reply] = client.sent.at(sequence);
    EXPECT_EQ(redis(batch("f", sequence, client.oldest, operation, name)), reply);
    if (random.below(3) != 0) continue;
    client.sent.erase(client.sent.begin(), client.sent.upper_bound(sequence));
    client.oldest = sequence + 1;
  }
  int total = 0;
  for (const auto& [item, count] : exact) {
    EXPECT_EQ(redis({"TALLY.COUNT", "f", item}), "[:" + std::to_string(count) + "]") << item;
    total += count;
  }
  EXPECT_THAT(redis({"TALLY.INFO", "f"}), HasSubstr("+insertions, :" + std::to_string(total)));
}

TEST_F(RedisBatch, AGapIsReportedWithTheLastNumberAndNothingChanges) {
  RunningModule redis;
  make_keys(redis);
  const Words add{"ADD", packed({"a"})};
  EXPECT_EQ(redis(batch("f", 2, 1, add)), "-GAP 0 is the last batch of this writer here; send 1 next");
  EXPECT_EQ(redis({"TALLY.WRITERS", "f"}), "[]");
  for (std::uint64_t i = 1; i <= 15; ++i) redis(batch("f", i, i, add));
  const std::string before = redis.digest("f");
  EXPECT_EQ(redis(batch("f", 17, 17, add)), "-GAP 15 is the last batch of this writer here; send 16 next");
  EXPECT_EQ(redis.digest("f"), before);
  EXPECT_EQ(redis(batch("f", 16, 16, add)), "[:0, :0]");
}

TEST_F(RedisBatch, RepliesBelowTheOldestAreForgotten) {
  RunningModule redis;
  make_keys(redis);
  const Words add{"ADD", packed({"a"})};
  for (std::uint64_t i = 1; i <= 5; ++i) redis(batch("f", i, 1, add));
  EXPECT_EQ(redis({"TALLY.WRITERS", "f"}), "[[\"w\", :5, :5]]");
  EXPECT_EQ(redis(batch("f", 4, 4, add)), "[:0, :0]");
  EXPECT_EQ(redis({"TALLY.WRITERS", "f"}), "[[\"w\", :5, :2]]");
  EXPECT_THAT(redis(batch("f", 3, 1, add)),
              StartsWith("-ERR the reply of batch 3 of this writer is not kept any more; "));
  EXPECT_EQ(redis(batch("f", 6, 6, add)), "[:0, :0]");
  EXPECT_EQ(redis({"TALLY.WRITERS", "f"}), "[[\"w\", :6, :1]]");
  EXPECT_EQ(redis({"TALLY.COUNT", "f", "a"}), "[:6]");
}

TEST_F(RedisBatch, AtMost64MayWaitForTheirReplies) {
  RunningModule redis;
  make_keys(redis);
  const Words add{"ADD", packed({"a"})};
  for (std::uint64_t i = 1; i <= 64; ++i) EXPECT_THAT(redis(batch("f", i, 1, add)), StartsWith("[:")) << i;
  const std::string before = redis.digest("f");
  EXPECT_THAT(redis(batch("f", 65, 1, add)), AllOf(StartsWith("-ERR "), HasSubstr("64 replies are kept")));
  EXPECT_EQ(redis.digest("f"), before);
  EXPECT_EQ(redis(batch("f", 1, 1, add)), "[:1, :0]");
  EXPECT_EQ(redis(batch("f", 65, 2, add)), "[:0, :0]");
  EXPECT_EQ(redis({"TALLY.WRITERS", "f"}), "[[\"w\", :65, :64]]");
}

TEST_F(RedisBatch, TheLeastRecentlyUsedWriterIsForgottenAndSaysSo) {
  RunningModule master({"--repl-diskless-sync-delay", "0"});
  RunningModule replica({"--replicaof", "127.0.0.1 " + std::to_string(master.port())});
  ASSERT_TRUE(follows_its_master(replica));
  make_keys(master);
  const Words add{"ADD", packed({"a"})};
  const auto name = [](int i) { return "writer" + std::to_string(i); };
  for (int i = 0; i < 4096; ++i) master(batch("f", 1, 1, add, name(i)));
  EXPECT_THAT(master(batch("f", 2, 2, add, "new")), StartsWith("-GAP 0"));
  master(batch("f", 1, 1, add, name(0)));  // sent again, and so used
  EXPECT_EQ(master(batch("f", 1, 1, add, "new")), "[:0, :0]");
  EXPECT_THAT(master(batch("f", 2, 2, add, name(1))), StartsWith("-FORGOTTEN "));
  EXPECT_EQ(master(batch("f", 2, 2, add, name(0))), "[:0, :0]");
  EXPECT_THAT(master(batch("f", 2, 2, add, "never seen")), StartsWith("-FORGOTTEN "));
  EXPECT_EQ(master.call({"TALLY.WRITERS", "f"}).elements.size(), 4096u);
  ASSERT_EQ(master({"WAIT", "1", "10000"}), ":1");
  EXPECT_EQ(replica({"TALLY.WRITERS", "f"}), master({"TALLY.WRITERS", "f"}));
  EXPECT_EQ(replica.digest("f"), master.digest("f"));
}

TEST_F(RedisBatch, AWriterThatHasEndedIsForgotten) {
  RunningModule redis;
  make_keys(redis);
  redis({"SET", "string", "x"});
  const std::string before = redis.digest("f");
  expect_replies(redis, {{{"TALLY.ENDWRITER", "f", "w"}, ":0"},
                         {{"TALLY.ENDWRITER", "none", "w"}, ":0"},
                         {{"TALLY.ENDWRITER", "string", "w"}, shown_wrong_type},
                         {{"TALLY.WRITERS", "f"}, "[]"},
                         {{"TALLY.WRITERS", "string"}, shown_wrong_type},
                         {{"TALLY.WRITERS", "none"}, "-ERR the key does not exist; create it first"},
                         {batch("f", 1, 1, {"ADD", packed({"a"})}), "[:1, :0]"},
                         {batch("f", 2, 2, {"REMOVE", packed({"a"})}), "[:1, :0]"},
                         {{"TALLY.WRITERS", "f"}, "[[\"w\", :2, :1]]"},
                         {{"TALLY.ENDWRITER", "f", "w"}, ":1"},
                         {{"TALLY.ENDWRITER", "f", "w"}, ":0"},
                         {batch("f", 3, 3, {"ADD", packed({"a"})}),
                          "-GAP 0 is the last batch of this writer here; send 1 next"}});
  EXPECT_NE(redis.digest("f"), before);  // the totals
}

TEST_F(RedisBatch, WhatIsRefusedUsesUpNoNumber) {
  RunningModule redis({}, {"MAX-KEY-BYTES", "3000000"});
  make_keys(redis);
  redis({"SET", "string", "x"});
  const std::string one = packed({"a"});
  const auto number = [](const std::string& name, const std::string& value, const std::string& most) {
    return "-ERR " + name + " is '" + value + "'; must be a number from 1 to " + most;
  };
  const std::string long_name(65, 'w');
  const std::string most = "9223372036854775807";
  expect_replies(
      redis,
      {{{"TALLY.BATCH", "f", "w", "1", "1", "ADD"},
        "-ERR wrong number of arguments for 'TALLY.BATCH' command"},
       {batch("f", 1, 1, {"ADD", one}, ""),
        "-ERR the name of the writer has 0 bytes; must have 1 to 64; give a shorter or longer one"},
       {batch("f", 1, 1, {"ADD", one}, long_name),
        "-ERR the name of the writer has 65 bytes; must have 1 to 64; give a shorter or longer one"},
       {batch("f", 0, 1, {"ADD", one}), number("the sequence", "0", most)},
       {{"TALLY.BATCH", "f", "w", "x", "1", "ADD", one}, number("the sequence", "x", most)},
       {batch("f", 1, 0, {"ADD", one}), number("the oldest batch without a reply", "0", "1")},
       {batch("f", 1, 2, {"ADD", one}), number("the oldest batch without a reply", "2", "1")},
       {batch("f", 1, 1, {"COUNT", one}),
        "-ERR 'COUNT' is not an operation; must be ADD, REMOVE, OVER or TOP"},
       {batch("none", 1, 1, {"ADD", one}), "-ERR the key does not exist; create it with TALLY.CREATE"},
       {batch("string", 1, 1, {"ADD", one}), shown_wrong_type},
       {batch("o", 1, 1, {"ADD", one}), shown_wrong_type},
       {batch("f", 1, 1, {"OVER", "2", one}), shown_wrong_type},
       {batch("f", 1, 1, {"TOP", "a", "1"}), shown_wrong_type},
       {batch("f", 1, 1, {"ADD", "x"}),
        "-ERR the digests have 1 bytes; must be 1 to 65536 digests of 16 bytes each; send more than that in "
        "several commands"},
       {batch("o", 1, 1, {"OVER", "3", one}),
        "-ERR N is not that of the key; give the same as when it was made, or another key"},
       {batch("t", 1, 1, {"TOP", "a", "0"}), "-ERR the increment of item 0 is '0'; must be 1 to 100000"}});
  redis({"TALLY.CREATE", "b", "--kind", "bloom", "--keys", "100"});
  EXPECT_THAT(redis(batch("b", 1, 1, {"REMOVE", one})), HasSubstr("cannot remove items"));
  EXPECT_THAT(redis(batch("t", 1, 1, {"TOP", std::string(4000000, 'x'), "1"})), HasSubstr("MAX-KEY-BYTES"));
  for (const char* const key : {"f", "o", "t", "b"}) EXPECT_EQ(redis({"TALLY.WRITERS", key}), "[]") << key;
  redis({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_THAT(redis(batch("f", 1, 1, {"ADD", one})), StartsWith("-OOM"));
  redis({"CONFIG", "SET", "maxmemory", "0"});
  std::uint64_t sequence = 1;
  std::string reply = "[]";
  for (; reply == "[]" && sequence < 50; ++sequence) {
    const int first = static_cast<int>(sequence) * 20000;
    reply = redis(batch("o", sequence, sequence, {"OVER", "2", packed_keys("item", first, 20000)}));
  }
  EXPECT_THAT(reply, HasSubstr("MAX-KEY-BYTES"));
  EXPECT_EQ(redis({"TALLY.WRITERS", "o"}), "[[\"w\", :" + std::to_string(sequence - 2) + ", :1]]");
  EXPECT_THAT(redis(batch("o", sequence, sequence, {"OVER", "2", one})), StartsWith("-GAP "));
}

/// Every item of a batch is reported here, so the replies take 4 bytes for each.
TEST_F(RedisBatch, KeptRepliesAreLimited) {
  RunningModule redis({}, {"MAX-KEY-BYTES", "8000000"});
  EXPECT_EQ(redis({"TALLY.OVERCREATE", "o", "1", "MEMORY", "100KiB", "SEED", "1"}), "+OK");
  std::string reply;
  std::uint64_t sequence = 1;
  const auto send = [&](std::uint64_t oldest) {
    const int first = static_cast<int>(sequence) * 60000;
    return redis(batch("o", sequence, oldest, {"OVER", "1", packed_keys("item", first, 60000)}));
  };
  for (; sequence < 64; ++sequence) {
    reply = send(1);
    if (reply.starts_with("-")) break;
  }
  EXPECT_THAT(reply, HasSubstr("send a later oldest batch"));
  EXPECT_GT(sequence, 20u);
  EXPECT_GT(redis.integer({"MEMORY", "USAGE", "o"}), 3'000'000);
  EXPECT_THAT(send(sequence - 1), StartsWith("[:"));
  EXPECT_LT(redis.integer({"MEMORY", "USAGE", "o"}), 1'500'000);
}

/// The first filter of a key that has counted 65,536 items exactly takes about 20 MB for this N.
TEST_F(RedisBatch, WithoutMemoryForItNothingIsCountedNorRecordedAndAReplicaIsEqual) {
  RunningModule master({"--repl-diskless-sync-delay", "0"});
  master({"TALLY.OVERCREATE", "k", "1000", "SEED", "1"});
  ASSERT_EQ(master(batch("k", 1, 1, {"OVER", "1000", packed_keys("item", 0, 65536)})), "[]");
  RunningModule replica({"--replicaof", "127.0.0.1 " + std::to_string(master.port())});
  ASSERT_TRUE(follows_its_master(replica));
  const std::string before = master.digest("k");
  leave_address_space(master, rlim_t{4} << 20);
  const Words over{"OVER", "1000", packed_keys("more", 0, 50)};
  EXPECT_EQ(master(batch("k", 2, 2, over)), "-ERR Insufficient memory");
  EXPECT_EQ(master(batch("k", 1, 1, over, "new")), "-ERR Insufficient memory");
  leave_address_space(master, std::nullopt);
  EXPECT_EQ(master.digest("k"), before);
  EXPECT_EQ(master({"TALLY.WRITERS", "k"}), "[[\"w\", :1, :1]]");
  EXPECT_EQ(master(batch("k", 2, 2, over)), "[]");
  ASSERT_EQ(master({"WAIT", "1", "10000"}), ":1");
  EXPECT_EQ(replica.digest("k"), master.digest("k"));
}

}  // namespace
}  // namespace tally::test
