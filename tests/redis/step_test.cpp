// MAX-STEP-BYTES: a command that would keep all clients waiting is refused with its reason.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "running_module.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;

class RedisSteps : public WithModule {};

const Words small_steps{"MAX-STEP-BYTES", "2000"};

/// Keys that a small step can neither copy nor read as a whole.
void make_keys(RunningModule& redis) {
  ASSERT_EQ(redis({"CMS.INITBYDIM", "sketch", "100", "5"}), "+OK");
  ASSERT_EQ(redis({"BF.RESERVE", "bloom", "0.01", "5000"}), "+OK");
  ASSERT_EQ(redis({"CF.RESERVE", "cuckoo", "5000"}), "+OK");
  for (const std::string kind : {"bloom", "dleft"}) {
    ASSERT_EQ(redis({"TALLY.CREATE", "filter " + kind, "--kind", kind, "--seed", "5", "--keys", "5000"}),
              "+OK");
  }
  ASSERT_EQ(redis({"TALLY.CREATE", "growing", "--kind", "dleft", "--seed", "5", "--keys", "1000",
                   "--max-doublings", "3"}),
            "+OK");
}

struct Step {
  Words words;
  std::string key;      // what it would change or make; the key that it reads, if it changes none
  std::string way_out;  // a part of the reply
};

const std::vector<Step> steps{
    {{"CMS.MERGE", "sketch", "1", "sketch"}, "sketch", "make smaller sketches"},
    {{"CMS.MERGE", "sketch", "2", "sketch", "sketch", "WEIGHTS", "1", "2"},
     "sketch",
     "make smaller sketches"},
    {{"TALLY.MERGE", "filter bloom", "filter bloom"}, "filter bloom", "`tally merge`"},
    {{"TALLY.MERGE", "new", "filter dleft"}, "new", "`tally merge`"},
    {{"TALLY.GROW", "growing"}, "growing", "the capacity that you expect"},
    {{"TALLY.STATS", "filter bloom"}, "filter bloom", "TALLY.INFO"},
    {{"TALLY.STATS", "filter dleft"}, "filter dleft", "TALLY.INFO"},
    {{"TALLY.SUMMARY", "filter bloom", "SINCE", "0"}, "filter bloom", "follow a smaller filter"},
    {{"TALLY.SUMMARY", "filter dleft", "SINCE", "0"}, "filter dleft", "follow a smaller filter"}};

TEST_F(RedisSteps, CommandsThatKeepClientsWaitingAreRefusedAndChangeNothing) {
  RunningModule redis({}, small_steps);
  make_keys(redis);
  for (const Step& step : steps) {
    const std::string digest = redis.digest(step.key);
    const std::string reply = redis(step.words);
    EXPECT_THAT(reply, HasSubstr("-ERR the command would take as long as to copy ")) << step.words[0];
    EXPECT_THAT(reply, HasSubstr("must be at most 2000, the module's option MAX-STEP-BYTES"))
        << step.words[0];
    EXPECT_THAT(reply, HasSubstr(step.way_out)) << step.words[0];
    EXPECT_EQ(redis.digest(step.key), digest) << step.words[0];
  }
  for (const std::string key : {"sketch", "bloom", "cuckoo", "filter bloom", "filter dleft"}) {
    EXPECT_EQ(redis({"COPY", key, "copy"}), "-ERR module key failed to copy") << key;
    EXPECT_EQ(redis({"EXISTS", "copy"}), ":0") << key;
  }
}

TEST_F(RedisSteps, TheReplyNamesTheBytesOfAllThatIsReadAndMade) {
  RunningModule redis({}, small_steps);
  redis({"CMS.INITBYDIM", "sketch", "100", "5"});
  redis({"CMS.INITBYDIM", "small", "40", "1"});
  EXPECT_EQ(redis({"CMS.MERGE", "sketch", "1", "sketch"}),
            "-ERR the command would take as long as to copy 12000 bytes, while all clients wait; must be at "
            "most 2000, the "
            "module's option MAX-STEP-BYTES; make smaller sketches, or start the server with a larger one");
  EXPECT_EQ(redis({"CMS.MERGE", "small", "3", "small", "small", "small"}), "+OK");
  EXPECT_THAT(redis({"CMS.MERGE", "small", "4", "small", "small", "small", "small"}),
              HasSubstr("copy 2400 bytes"));
}

TEST_F(RedisSteps, AFilterThatMayNotDoubleRepliesFull) {
  RunningModule redis({}, small_steps);
  make_keys(redis);
  const long long bytes = redis.integer({"MEMORY", "USAGE", "growing"});
  EXPECT_THAT(redis(with_keys({"TALLY.ADD", "growing"}, "item", 0, 2000)), HasSubstr("+full"));
  EXPECT_EQ(redis.integer({"MEMORY", "USAGE", "growing"}), bytes);
  EXPECT_EQ(redis(with_keys({"TALLY.QUERY", "growing"}, "item", 0, 1)), "[:1]");
}

TEST_F(RedisSteps, ReplicasAndFilesAreNotLimited) {
  RunningModule master({"--repl-diskless-sync-delay", "0", "--appendonly", "yes", "--appendfsync", "always"});
  RunningModule replica({"--replicaof", "127.0.0.1 " + std::to_string(master.port())}, small_steps);
  ASSERT_TRUE(follows_its_master(replica));
  make_keys(master);
  for (const Step& step : steps) EXPECT_THAT(master(step.words), testing::Not(testing::StartsWith("-")));
  master(with_keys({"TALLY.ADD", "growing"}, "item", 0, 5000));
  EXPECT_EQ(master({"COPY", "filter bloom", "copy"}), ":1");
  ASSERT_EQ(master({"WAIT", "1", "10000"}), ":1");
  const Words keys{"sketch", "filter bloom", "new", "growing", "copy"};
  std::vector<std::string> digests;
  for (const std::string& key : keys) {
    digests.push_back(master.digest(key));
    EXPECT_EQ(replica.digest(key), digests.back()) << key;
  }
  EXPECT_THAT(replica({"TALLY.STATS", "filter bloom"}), HasSubstr("MAX-STEP-BYTES"));  // of a client
  master.kill_and_restart(small_steps);
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(master.digest(keys[i]), digests[i]) << keys[i];
}

}  // namespace
}  // namespace tally::test
