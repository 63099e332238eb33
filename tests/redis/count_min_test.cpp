// CMS.*: the replies byte for byte, and the counts against exact ones.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "random.hpp"
#include "running_module.hpp"

namespace tally::test {
namespace {

class RedisCountMin : public WithModule {};

TEST_F(RedisCountMin, EveryCommandReplies) {
  RunningModule redis;
  const std::vector<ExpectedReply> rows{
      {{"CMS.INITBYDIM", "c", "1000", "5"}, "+OK"},
      {{"cms.initbyprob", "p", "0.001", "0.01"}, "+OK"},
      {{"CMS.INCRBY", "c", "x", "5", "y", "0", "x", "7"}, "[:5, :0, :12]"},
      {{"CMS.INCRBY", "c", "", "3"}, "[:3]"},
      {{"CMS.QUERY", "c", "x", "absent", ""}, "[:12, :0, :3]"},
      {{"CMS.INFO", "c"}, "[+width, :1000, +depth, :5, +count, :15]"},
      {{"CMS.INFO", "p"}, "[+width, :2000, +depth, :7, +count, :0]"},
      {{"CMS.INITBYDIM", "d", "1000", "5"}, "+OK"},
      {{"CMS.MERGE", "d", "1", "c"}, "+OK"},
      {{"CMS.QUERY", "d", "x"}, "[:12]"},
      {{"CMS.MERGE", "d", "2", "c", "d", "weights", "2", "-1"}, "+OK"},
      {{"CMS.QUERY", "d", "x", ""}, "[:12, :3]"},
      {{"CMS.INFO", "d"}, "[+width, :1000, +depth, :5, +count, :15]"},
      {{"CMS.INCRBY", "c", "x", "4294967295", "z", "1"}, "[-CMS: INCRBY overflow, :1]"},
      {{"CMS.QUERY", "c", "x"}, "[:4294967295]"},
      {{"TYPE", "c"}, "+tallycmsk"}};
  expect_replies(redis, rows);
  redis({"HELLO", "3"});
  EXPECT_EQ(redis({"CMS.INFO", "p"}), "{+width, :2000, +depth, :7, +count, :0}");
  EXPECT_EQ(redis({"CMS.QUERY", "p", "x"}), "[:0]");
}

TEST_F(RedisCountMin, WrongArgumentsHaveTheTextsThatClientsKnow) {
  RunningModule redis;
  redis({"SET", "s", "text"});
  redis({"BF.RESERVE", "f", "0.01", "100"});
  redis({"CMS.INITBYDIM", "c", "100", "2"});
  redis({"CMS.INITBYDIM", "d", "100", "3"});
  redis({"CMS.INITBYDIM", "e", "100", "2"});
  redis({"CMS.INCRBY", "e", "x", "4000000000"});
  const std::string before = redis.digest("c") + redis.digest("e");
  const auto arity = [](const std::string& command) {
    return "-ERR wrong number of arguments for '" + command + "' command";
  };
  const std::string missing = "-CMS: key does not exist";
  const std::string exists = "-CMS: key already exists";
  expect_replies(redis,
                 {{{"CMS.INITBYDIM", "k", "10"}, arity("CMS.INITBYDIM")},
                  {{"CMS.INITBYDIM", "c", "x", "x"}, exists},
                  {{"CMS.INITBYDIM", "s", "10", "2"}, exists},
                  {{"CMS.INITBYDIM", "k", "x", "2"}, "-CMS: invalid width"},
                  {{"CMS.INITBYDIM", "k", "0", "2"}, "-CMS: invalid width"},
                  {{"CMS.INITBYDIM", "k", "10", "x"}, "-CMS: invalid depth"},
                  {{"CMS.INITBYDIM", "k", "10", "0"}, "-CMS: invalid depth"},
                  {{"CMS.INITBYDIM", "k", "10", "-1"}, "-CMS: invalid depth"},
                  {{"CMS.INITBYDIM", "k", "10", "1025"}, "-CMS: invalid depth"},
                  {{"CMS.INITBYDIM", "k", "9223372036854775807", "1024"}, "-CMS: invalid init arguments"},
                  {{"CMS.INITBYPROB", "k", "0.1"}, arity("CMS.INITBYPROB")},
                  {{"CMS.INITBYPROB", "f", "x", "x"}, exists},
                  {{"CMS.INITBYPROB", "k", "x", "0.1"}, "-CMS: invalid overestimation value"},
                  {{"CMS.INITBYPROB", "k", "0", "0.1"}, "-CMS: invalid overestimation value"},
                  {{"CMS.INITBYPROB", "k", "1", "0.1"}, "-CMS: invalid overestimation value"},
                  {{"CMS.INITBYPROB", "k", "0.1", "x"}, "-CMS: invalid prob value"},
                  {{"CMS.INITBYPROB", "k", "0.1", "0"}, "-CMS: invalid prob value"},
                  {{"CMS.INITBYPROB", "k", "0.1", "1"}, "-CMS: invalid prob value"},
                  {{"CMS.INITBYPROB", "k", "1e-300", "0.1"}, "-CMS: invalid init arguments"},
                  {{"CMS.INCRBY", "c", "x"}, arity("CMS.INCRBY")},
                  {{"CMS.INCRBY", "c", "x", "1", "y"}, arity("CMS.INCRBY")},
                  {{"CMS.INCRBY", "k", "x", "1"}, missing},
                  {{"CMS.INCRBY", "s", "x", "1"}, shown_wrong_type},
                  {{"CMS.INCRBY", "f", "x", "1"}, shown_wrong_type},
                  {{"CMS.INCRBY", "c", "x", "1", "y", "z"}, "-CMS: Cannot parse number"},
                  {{"CMS.INCRBY", "c", "x", "1", "y", "-1"}, "-CMS: Number cannot be negative"},
                  {{"CMS.QUERY", "c"}, arity("CMS.QUERY")},
                  {{"CMS.QUERY", "k", "x"}, missing},
                  {{"CMS.QUERY", "s", "x"}, shown_wrong_type},
                  {{"CMS.MERGE", "c", "1"}, arity("CMS.MERGE")},
                  {{"CMS.MERGE", "k", "x", "c"}, missing},
                  {{"CMS.MERGE", "s", "1", "c"}, shown_wrong_type},
                  {{"CMS.MERGE", "c", "x", "e"}, "-CMS: invalid numkeys"},
                  {{"CMS.MERGE", "c", "0", "e"}, "-CMS: Number of keys must be positive"},
                  {{"CMS.MERGE", "c", "2", "e"}, "-CMS: wrong number of keys"},
                  {{"CMS.MERGE", "c", "1", "e", "e"}, "-CMS: wrong number of keys"},
                  {{"CMS.MERGE", "c", "1", "e", "WEIGHTS"}, "-CMS: wrong number of keys/weights"},
                  {{"CMS.MERGE", "c", "1", "e", "WEIGHTS", "1", "2"}, "-CMS: wrong number of keys/weights"},
                  {{"CMS.MERGE", "c", "1", "e", "WEIGHTS", "x"}, "-CMS: invalid weight value"},
                  {{"CMS.MERGE", "c", "1", "k"}, missing},
                  {{"CMS.MERGE", "c", "2", "e", "s"}, shown_wrong_type},
                  {{"CMS.MERGE", "c", "2", "e", "d"}, "-CMS: width/depth is not equal"},
                  {{"CMS.MERGE", "c", "1", "e", "WEIGHTS", "-1"}, "-CMS: MERGE overflow"},
                  {{"CMS.MERGE", "c", "2", "e", "e"}, "-CMS: MERGE overflow"},
                  {{"CMS.MERGE", "e", "1", "e", "WEIGHTS", "9223372036854775807"}, "-CMS: MERGE overflow"},
                  {{"CMS.INFO", "c", "x"}, arity("CMS.INFO")},
                  {{"CMS.INFO", "k"}, missing},
                  {{"CMS.INFO", "f"}, shown_wrong_type},
                  {{"EXISTS", "k"}, ":0"}});
  EXPECT_EQ(redis.digest("c") + redis.digest("e"), before);
}

TEST_F(RedisCountMin, ACountIsNeverBelowTheExactOne) {
  RunningModule redis;
  Random random(412);
  std::map<std::string, long long> exact;
  long long total = 0;
  redis({"CMS.INITBYDIM", "c", "200", "4"});
  for (int batch = 0; batch < 20; ++batch) {
    Words words{"CMS.INCRBY", "c"};
    for (int i = 0; i < 200; ++i) {
      const auto count = static_cast<long long>(random.below(10));
      words.push_back("key" + std::to_string(random.below(500)));
      exact[words.back()] += count;
      total += count;
      words.push_back(std::to_string(count));
    }
    const RedisReply reply = redis.call(words);
    ASSERT_EQ(reply.elements.size(), 200u);
  }
  Words words{"CMS.QUERY", "c"};
  for (const auto& [key, count] : exact) words.push_back(key);
  const RedisReply reply = redis.call(words);
  ASSERT_EQ(reply.elements.size(), exact.size());
  long long excess = 0;
  for (std::size_t i = 0; i < reply.elements.size(); ++i) {
    const long long count = std::stoll(reply.elements[i].text);
    EXPECT_GE(count, exact[words[i + 2]]) << words[i + 2];
    excess += count - exact[words[i + 2]];
  }
  EXPECT_LE(excess, total * static_cast<long long>(exact.size()) / 100);  // 2/width of the total per key
  EXPECT_EQ(redis({"CMS.INFO", "c"}), "[+width, :200, +depth, :4, +count, :" + std::to_string(total) + "]");
}

TEST_F(RedisCountMin, AMergeEqualsASketchOfTheWeightedSum) {
  RunningModule redis;
  for (const char* key : {"a", "b", "merged", "direct"}) redis({"CMS.INITBYDIM", key, "50", "3"});
  Random random(413);
  for (int i = 0; i < 300; ++i) {
    const std::string item = "key" + std::to_string(random.below(100));
    const auto count = random.below(20);
    redis({"CMS.INCRBY", i % 2 == 0 ? "a" : "b", item, std::to_string(count)});
    redis({"CMS.INCRBY", "direct", item, std::to_string((i % 2 == 0 ? 2 : 3) * count)});
  }
  redis({"CMS.INCRBY", "merged", "replaced", "1000"});
  EXPECT_EQ(redis({"CMS.MERGE", "merged", "2", "a", "b", "WEIGHTS", "2", "3"}), "+OK");
  EXPECT_EQ(redis.digest("merged"), redis.digest("direct"));
  const Words queries = with_keys({"CMS.QUERY", "merged"}, "key", 0, 100);
  EXPECT_EQ(redis(queries), redis(with_keys({"CMS.QUERY", "direct"}, "key", 0, 100)));
}

}  // namespace
}  // namespace tally::test
