// TALLY.SUMMARY: replicas next to clients answer as the filter in Redis did.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "running_module.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/summaries/message.hpp"
#include "tally/summaries/replica.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;

class RedisSummary : public WithModule {};

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// A client that keeps a replica of a key.
class Follower {
 public:
  Follower(std::string key, const std::string& scheme) : key_(std::move(key)), replica_(terms(scheme)) {}

  /// Returns the kinds of the messages that it received. Runs `between` whenever the server has only prepared a part.
  std::vector<SummaryMessageKind> refresh(RunningModule& redis, const std::function<void()>& between = {}) {
    RedisReply reply = summary(redis);
    for (; reply.elements[1].elements.empty(); reply = summary(redis)) {
      EXPECT_EQ(reply.elements[0].text, version_);
      if (!between) throw std::runtime_error(key_ + " is small, and yet it is prepared in parts");
      between();
    }
    std::vector<SummaryMessageKind> kinds;
    for (const RedisReply& message : reply.elements[1].elements) {
      kinds.push_back(read_summary_message(bytes_of(message.text)).kind);
      num_bytes_ += message.text.size();
      EXPECT_NE(replica_.apply(bytes_of(message.text)), ApplyResult::behind) << key_ << " since " << version_;
    }
    version_ = reply.elements[0].text;
    EXPECT_TRUE(replica_.status().is_current()) << key_;
    return kinds;
  }

  /// Whether both say the same of each item.
  void expect_same_answers(RunningModule& redis, const Words& items) const {
    Words words{"TALLY.QUERY", key_};
    words.insert(words.end(), items.begin(), items.end());
    const RedisReply reply = redis.call(words);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const bool is_in = reply.elements.at(i).text == "1";
      ASSERT_EQ(replica_.may_contain(std::string_view(items[i])), is_in) << key_ << " " << items[i];
    }
  }

  const std::string& version() const { return version_; }
  std::size_t num_bytes() const { return num_bytes_; }

 private:
  RedisReply summary(RunningModule& redis) const {
    RedisReply reply = redis.call({"TALLY.SUMMARY", key_, "SINCE", version_});
    if (reply.elements.size() != 2) throw std::runtime_error("TALLY.SUMMARY replies " + reply.shown());
    return reply;
  }

  static SummaryTerms terms(const std::string& scheme) {
    SummaryTerms terms{.hasher = 5};
    if (scheme == "blocked") terms.bits_scheme_id = BlockedScheme::file_id;
    if (scheme == "multiplier") terms.cells_scheme_id = MultiplierBuckets::file_id;
    return terms;
  }

  std::string key_;
  SummaryReplica replica_;
  std::string version_ = "0";
  std::size_t num_bytes_ = 0;
};

struct Followed {
  std::string key;
  Words options;
  std::string scheme;
};

const std::vector<Followed> followed{
    {"bloom", {"--kind", "bloom", "--keys", "5000"}, ""},
    {"blocked", {"--kind", "blocked-bloom", "--scheme", "blocked", "--keys", "5000"}, "blocked"},
    {"counting", {"--kind", "counting-bloom", "--keys", "5000"}, ""},
    {"dleft", {"--kind", "dleft", "--keys", "2500", "--max-doublings", "4"}, ""}};

TEST_F(RedisSummary, AReplicaAnswersAsTheFilterDoesAfterEveryRefresh) {
  RunningModule redis;
  std::vector<Follower> early;
  for (const Followed& row : followed) {
    Words words{"TALLY.CREATE", row.key, "--seed", "5"};
    words.insert(words.end(), row.options.begin(), row.options.end());
    ASSERT_EQ(redis(words), "+OK") << row.key;
    early.emplace_back(row.key, row.scheme);
  }
  std::mt19937 random(3);
  bool had_delta[4] = {};
  for (int round = 0; round < 25; ++round) {
    for (std::size_t i = 0; i < followed.size(); ++i) {
      const std::string& key = followed[i].key;
      redis(with_keys({"TALLY.ADD", key}, "item", 200 * round, 200));
      if (i >= 2) redis(with_keys({"TALLY.REMOVE", key}, "item", 200 * round, 50));
      if (random() % 3 == 0) continue;  // falls behind
      for (const SummaryMessageKind kind : early[i].refresh(redis)) {
        had_delta[i] = had_delta[i] || kind == SummaryMessageKind::delta;
      }
      early[i].expect_same_answers(redis, with_keys({}, "item", 0, 6000));
      Follower late(key, followed[i].scheme);
      EXPECT_THAT(late.refresh(redis), testing::ElementsAre(SummaryMessageKind::full));
      late.expect_same_answers(redis, with_keys({}, "item", 0, 6000));
    }
  }
  for (const bool had : had_delta) EXPECT_TRUE(had);
  for (std::size_t i = 0; i < followed.size(); ++i) {
    early[i].refresh(redis);
    EXPECT_THAT(early[i].refresh(redis), testing::ElementsAre(SummaryMessageKind::heartbeat));
  }
}

TEST_F(RedisSummary, AFullCopyIsPreparedInPartsWhileItemsAreAddedAndRemoved) {
  RunningModule redis({}, {"MAX-STEP-BYTES", "200000"});
  for (const Followed& row : followed) {
    Words words{"TALLY.CREATE", row.key, "--seed", "5"};
    words.insert(words.end(), row.options.begin(), row.options.end());
    ASSERT_EQ(redis(words), "+OK") << row.key;
    Follower follower(row.key, row.scheme);
    int num_items = 0;
    int num_parts = 0;
    const auto change = [&](int number) {
      redis(with_keys({"TALLY.ADD", row.key}, "item", num_items, number));
      if (row.key == "counting" || row.key == "dleft")
        redis(with_keys({"TALLY.REMOVE", row.key}, "item", num_items / 2, number / 3));
      num_items += number;
    };
    for (const int number : {1500, 1, 400, 1, 100}) {
      change(number);
      follower.refresh(redis, [&] {
        if (++num_parts < 100) change(5);
      });
      follower.expect_same_answers(redis, with_keys({}, "item", 0, 4000));
    }
    EXPECT_GE(num_parts, 2) << row.key;
    EXPECT_LT(num_parts, 100) << row.key;
    EXPECT_THAT(follower.refresh(redis), testing::ElementsAre(SummaryMessageKind::heartbeat));
    change(1);
    EXPECT_THAT(follower.refresh(redis), testing::ElementsAre(SummaryMessageKind::delta)) << row.key;
  }
}

TEST_F(RedisSummary, AFilterOfAMillionItemsIsFollowedByDefault) {
  RunningModule redis;
  redis({"TALLY.CREATE", "bloom", "--seed", "5", "--kind", "bloom", "--keys", "1000000"});
  const auto add = [&](int first) { redis(with_keys({"TALLY.ADD", "bloom"}, "item", first, 20000)); };
  for (int first = 0; first < 200000; first += 20000) add(first);
  Follower follower("bloom", "");
  int num_parts = 0;
  EXPECT_THAT(follower.refresh(redis, [&] { ++num_parts; }), testing::ElementsAre(SummaryMessageKind::full));
  EXPECT_GT(num_parts, 0);
  redis({"TALLY.ADD", "bloom", "one more"});
  EXPECT_THAT(follower.refresh(redis), testing::ElementsAre(SummaryMessageKind::delta));
  add(200000);
  follower.refresh(redis, [] {});
  follower.expect_same_answers(redis, with_keys({"one more"}, "item", 199000, 3000));
}

TEST_F(RedisSummary, AFollowerThatIsSlightlyBehindReceivesDeltasAndOneFarBehindAFullCopy) {
  RunningModule redis;
  redis({"TALLY.CREATE", "bloom", "--seed", "5", "--kind", "bloom", "--keys", "20000"});
  redis(with_keys({"TALLY.ADD", "bloom"}, "item", 0, 10000));
  Follower behind("bloom", "");
  Follower ahead("bloom", "");
  Follower far("bloom", "");
  for (Follower* follower : {&behind, &ahead, &far}) follower->refresh(redis);
  const std::size_t full_bytes = ahead.num_bytes();
  for (int round = 0; round < 3; ++round) {
    redis({"TALLY.ADD", "bloom", "more" + std::to_string(round)});
    EXPECT_THAT(ahead.refresh(redis), testing::ElementsAre(SummaryMessageKind::delta));
  }
  EXPECT_LT(ahead.num_bytes() - full_bytes, 1500u);
  EXPECT_THAT(
      behind.refresh(redis),
      testing::ElementsAre(SummaryMessageKind::delta, SummaryMessageKind::delta, SummaryMessageKind::delta));
  behind.expect_same_answers(redis, with_keys({}, "more", 0, 100));
  for (int round = 0; round < 60; ++round) {
    redis(with_keys({"TALLY.ADD", "bloom"}, "many", 300 * round, 300));
    ahead.refresh(redis);
  }
  EXPECT_THAT(far.refresh(redis), testing::ElementsAre(SummaryMessageKind::full));
  far.expect_same_answers(redis, with_keys({}, "many", 0, 18000));
}

TEST_F(RedisSummary, AnotherFilterOfTheKeyOrARestartGivesAFullCopy) {
  RunningModule redis;
  const Words create{"TALLY.CREATE", "bloom", "--seed", "5", "--kind", "bloom", "--keys", "1000"};
  redis(create);
  redis({"TALLY.ADD", "bloom", "a"});
  Follower follower("bloom", "");
  follower.refresh(redis);
  const std::string digest = redis.digest("bloom");
  redis({"SAVE"});
  redis.kill_and_restart();
  EXPECT_EQ(redis.digest("bloom"), digest);  // what is followed is not part of the value
  redis({"TALLY.ADD", "bloom", "b"});
  EXPECT_THAT(follower.refresh(redis), testing::ElementsAre(SummaryMessageKind::full));
  follower.expect_same_answers(redis, {"a", "b", "c"});
  redis({"DEL", "bloom"});
  redis(create);
  redis({"TALLY.ADD", "bloom", "c"});
  EXPECT_THAT(follower.refresh(redis), testing::ElementsAre(SummaryMessageKind::full));
  follower.expect_same_answers(redis, {"a", "b", "c"});
  redis({"TALLY.CREATE", "other", "--seed", "5", "--kind", "bloom", "--keys", "1000"});
  redis({"TALLY.ADD", "other", "d"});
  redis({"TALLY.MERGE", "bloom", "other"});
  follower.refresh(redis);
  follower.expect_same_answers(redis, {"a", "b", "c", "d"});
}

TEST_F(RedisSummary, ArgumentErrorsSayWhatToGive) {
  RunningModule redis;
  redis({"SET", "string", "x"});
  redis({"TALLY.CREATE", "f", "--kind", "bloom", "--keys", "100"});
  redis({"TALLY.CREATE", "", "--kind", "bloom", "--keys", "100"});
  redis({"TALLY.CREATE", "sketch", "--epsilon", "1%"});
  const std::string version = " is not a version; give 0, or the one that the last reply began with";
  expect_replies(
      redis,
      {{{"TALLY.SUMMARY", "f", "SINCE"}, "-ERR wrong number of arguments for 'TALLY.SUMMARY' command"},
       {{"TALLY.SUMMARY", "f", "AFTER", "0"},
        "-ERR the word SINCE is missing; give TALLY.SUMMARY key SINCE version"},
       {{"TALLY.SUMMARY", "f", "SINCE", "1"}, "-ERR '1'" + version},
       {{"TALLY.SUMMARY", "f", "SINCE", "1-"}, "-ERR '1-'" + version},
       {{"TALLY.SUMMARY", "f", "SINCE", "-1"}, "-ERR '-1'" + version},
       {{"TALLY.SUMMARY", "none", "SINCE", "0"}, "-ERR the key does not exist; create it with TALLY.CREATE"},
       {{"TALLY.SUMMARY", "string", "SINCE", "0"}, shown_wrong_type},
       {{"TALLY.SUMMARY", "sketch", "SINCE", "0"},
        "-ERR a count-min structure has no summary; create the key with --kind and one of bloom, "
        "blocked-bloom, "
        "counting-bloom, dleft"}});
  EXPECT_THAT(redis({"TALLY.SUMMARY", "", "SINCE", "0"}), HasSubstr("must be 1 to 255"));
  EXPECT_EQ(redis.call({"TALLY.SUMMARY", "f", "SINCE", "18446744073709551615-7"}).elements.size(), 2u);
}

#ifdef TALLY_NEAR_REPLICA
TEST_F(RedisSummary, TheExampleSavesTheRoundTripsOfAbsentItems) {
  RunningModule redis;
  const CommandResult result = run_program({TALLY_NEAR_REPLICA, redis.socket()});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.exit_code, 0);
  // 1000 and then 1500 users are there, and a few others are false positives.
  int before = 0;
  int after = 0;
  int round_trips = 0;
  ASSERT_EQ(std::sscanf(result.output.c_str(), "20000 questions, %d and %d of 10000 found\n%d round trips",
                        &before, &after, &round_trips),
            3)
      << result.output;
  EXPECT_GE(before, 1000);
  EXPECT_LE(before, 1030);
  EXPECT_GE(after, 1500);
  EXPECT_LE(after, 1530);
  EXPECT_EQ(round_trips, before + after + 3);  // TALLY.INFO and two TALLY.SUMMARY
}
#endif

}  // namespace
}  // namespace tally::test
