// Who may speak for a node: forgers, two nodes with one name, and keys against both.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "command_runner.hpp"
#include "running_nodes.hpp"
#include "tally/redis_client/connection.hpp"
#include "tally/redis_client/reply_text.hpp"
#include "tally/summaries/replica.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;

/// The secret of a group, as the file that --key-file names and as what a test signs with.
class GroupKey {
 public:
  GroupKey() : path_(directory_.write("key", std::string(32, 'k'))) { secret_.fill(std::byte{'k'}); }

  Flags flags() const { return {"--key-file", path_}; }
  MessageKey message_key() const { return MessageKey(secret_, "default"); }
  KeyHasher hasher() const { return KeyHasher::keyed(secret_); }
  Forger forger(const std::string& name, std::uint64_t epoch) const {
    return forger_of(name, epoch, message_key(), 20'000, hasher());
  }

 private:
  TemporaryDirectory directory_;
  std::string path_;
  HashKey secret_{};
};

/// Messages of a channel.
class Listener {
 public:
  Listener(const RunningRedis& redis, std::string_view channel)
      : connection_(redis_client::Address{.host = "", .socket_path = redis.socket()}, {1'000'000, 16},
                    now()) {
    connection_.send(std::array<std::string_view, 2>{"SUBSCRIBE", channel});
    if (!comes_true([&] { return take().empty() && is_subscribed_; }))
      throw std::runtime_error("no subscription");
  }

  /// Those that have come since the last call.
  std::vector<std::string> take() {
    pollfd polled = connection_.polled();
    (void)poll(&polled, 1, 10);
    connection_.step(polled.revents, now());
    std::vector<std::string> messages;
    while (const redis_client::Reply reply = connection_.next_reply()) {
      if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3) continue;
      is_subscribed_ = true;
      const std::string_view kind = redis_client::text_of(*reply->element[0]);
      if (kind == "message") messages.emplace_back(redis_client::text_of(*reply->element[2]));
    }
    return messages;
  }

 private:
  static Nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

  redis_client::Connection connection_;
  bool is_subscribed_ = false;
};

Flags with(Flags flags, const Flags& more) {
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

TEST_F(Node, ThatIsForgedGoesOnAboveTheForger) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b");
  a.add_keys(0, 100);
  ASSERT_TRUE(converge({&a, &b}));
  const std::uint64_t epoch = a.status().at("epoch");
  Forger forger = forger_of("a", epoch + 1000);
  publish_as(redis, "a", forger.publish());
  ASSERT_TRUE(comes_true([&] { return a.status().at("epoch") > epoch + 1000; }));
  a.add_keys(100, 200);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 200), 0);
  EXPECT_TRUE(b.who_may_have("forged").empty());
  EXPECT_GE(a.status().at("name_conflicts"), 1);
  EXPECT_TRUE(a.reports(HasSubstr("somebody publishes under our name 'a'")));
  // With another seed, the message is not for this group; that no one can go above this epoch does not matter.
  Forger other = forger_of("a", ~std::uint64_t{0} - 1, {}, 20'000, KeyHasher(99));
  publish_as(redis, "a", other.publish());
  a.add_keys(200, 300);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 300), 0);
}

// Versions that a publisher can hardly go above, or not at all.
TEST_F(Node, ThatIsForgedWithTheLastVersionOfAllIsFollowedAgain) {
  const RunningRedis redis;
  NodeProcess a(redis, "a"), b(redis, "b");
  a.add_keys(0, 100);
  ASSERT_TRUE(converge({&a, &b}));
  constexpr std::uint64_t last = ~std::uint64_t{0};
  Forger forger = forger_of("a", 5);
  (void)forger.publish();
  const SummaryTable forged = forger.publisher().published();
  int num_keys = 100;
  for (const bool is_own_epoch : {true, false}) {
    for (const bool is_copy : {true, false}) {
      const SummaryVersion version{is_own_epoch ? a.status().at("epoch").get<std::uint64_t>() : last, last};
      const SummaryEnvelope envelope{"a", version, digest_of(forged), summary_time_now()};
      publish_as(redis, "a",
                 is_copy ? full_message(envelope, forged) : heartbeat_message(envelope, forged.layout()));
      a.add_keys(num_keys, num_keys + 10);
      num_keys += 10;
      ASSERT_TRUE(converge({&a, &b})) << is_own_epoch << is_copy;
      EXPECT_EQ(b.num_missed("a", 0, num_keys), 0);
      EXPECT_TRUE(b.who_may_have("forged").empty());
    }
  }
}

TEST_F(Node, WithTheNameOfAnotherEndsNeitherWithoutAKey) {
  const RunningRedis redis;
  NodeProcess first(redis, "a", {"--epoch", "5"}), b(redis, "b");
  ASSERT_TRUE(converge({&first, &b}));
  NodeProcess second(redis, "a", {"--epoch", "6"});
  second.add_keys(0, 10);
  ASSERT_TRUE(comes_true([&] { return first.status().at("name_conflicts") >= 2; }));
  ASSERT_TRUE(comes_true([&] { return second.status().at("name_conflicts") >= 2; }));
  EXPECT_TRUE(first.status().at("is_publishing"));
  EXPECT_TRUE(second.status().at("is_publishing"));
  // Each warns once in a minute.
  EXPECT_TRUE(first.reports(HasSubstr("somebody publishes under our name")));
  first.command().close_input();
  EXPECT_EQ(first.command().wait().error, "");
  second.add_keys(10, 20);
  ASSERT_TRUE(converge({&second, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 20), 0);
}

TEST_F(Node, WithAKeyStopsPublishingWhenALaterOneTakesItsName) {
  const RunningRedis redis;
  const GroupKey key;
  NodeProcess first(redis, "a", with(key.flags(), {"--epoch", "5"})), b(redis, "b", key.flags());
  b.add_keys(0, 10);
  ASSERT_TRUE(converge({&first, &b}));
  NodeProcess second(redis, "a", with(key.flags(), {"--epoch", "6"}));
  second.add_keys(0, 10);
  ASSERT_TRUE(comes_true([&] { return !first.status().at("is_publishing"); }));
  EXPECT_TRUE(first.reports(HasSubstr("another node is named 'a' and was started later")));
  first.say("+never told");
  ASSERT_TRUE(converge({&second, &b}));
  EXPECT_EQ(b.num_missed("a", 0, 10), 0);
  EXPECT_EQ(first.num_missed("b", 0, 10), 0) << "it goes on answering";
  EXPECT_TRUE(second.status().at("is_publishing"));
  EXPECT_TRUE(b.who_may_have("never told").empty());
  first.command().close_input();
  const CommandResult result = first.command().wait();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("another node is named 'a'"));
}

TEST_F(Node, WithAKeyTakesNothingThatIsNotSignedWithIt) {
  const RunningRedis redis;
  const GroupKey key;
  NodeProcess a(redis, "a", key.flags()), b(redis, "b", key.flags());
  a.add_keys(0, 100);
  ASSERT_TRUE(converge({&a, &b}));
  const std::uint64_t epoch = a.status().at("epoch");
  Forger unsigned_one = forger_of("a", epoch + 1000, {}, 20'000, key.hasher());
  Forger wrong = forger_of("a", epoch + 1000, MessageKey(HashKey{}), 20'000, key.hasher());
  Forger stranger = forger_of("stranger", 5, {}, 20'000, key.hasher());
  publish_as(redis, "a", unsigned_one.publish());
  publish_as(redis, "a", in_format_version_1(unsigned_one.full()));
  publish_as(redis, "a", wrong.publish());
  publish_as(redis, "stranger", stranger.publish());
  for (NodeProcess* node : {&a, &b}) {
    ASSERT_TRUE(comes_true([&] { return node->status().at("messages_not_authentic") == 4; }));
    EXPECT_TRUE(node->who_may_have("forged").empty());
    EXPECT_EQ(node->status().at("peers").size(), 1);
  }
  EXPECT_EQ(a.status().at("epoch"), epoch);
  EXPECT_EQ(a.status().at("name_conflicts"), 0);
  EXPECT_TRUE(b.reports(HasSubstr("the message has no MAC")));
  EXPECT_TRUE(b.reports(HasSubstr("the MAC does not match")));
  EXPECT_EQ(b.num_missed("a", 0, 100), 0);
}

// Whoever listens can send again what was signed.
TEST_F(Node, WithAKeyIsNotTakenBackByAReplay) {
  const RunningRedis redis;
  const GroupKey key;
  NodeProcess b(redis, "b", key.flags());
  ASSERT_TRUE(b.wait_for(0));
  Forger earlier_run = key.forger("a", 5);
  const auto old_copy = earlier_run.publish();
  publish_as(redis, "a", old_copy);
  ASSERT_TRUE(comes_true([&] { return b.who_may_have("forged").contains("a"); }));
  NodeProcess a(redis, "a", key.flags());
  a.add_keys(0, 100);
  ASSERT_TRUE(converge({&a, &b}));
  const Json before = b.status();
  for (int i = 0; i < 20; ++i) {
    publish_as(redis, "a", old_copy);
    publish_as(redis, "a", earlier_run.heartbeat());
  }
  ASSERT_TRUE(comes_true(
      [&] { return b.status().at("messages_received") >= before.at("messages_received").get<int>() + 40; }));
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.status().at("copies_fetched"), before.at("copies_fetched")) << "it went back";
  EXPECT_TRUE(a.status().at("is_publishing"));
  EXPECT_EQ(b.num_missed("a", 0, 100), 0);
  EXPECT_TRUE(b.who_may_have("forged").empty());
}

// A run before whose clock was ahead, or a message whose sender's clock is: nobody is there who would answer.
TEST_F(Node, WithAKeyIsNotSilencedByAReplay) {
  const RunningRedis redis;
  const GroupKey key;
  NodeProcess a(redis, "a", key.flags()), b(redis, "b", key.flags());
  a.add_keys(0, 100);
  ASSERT_TRUE(converge({&a, &b}));
  Forger earlier_run = key.forger("a", a.status().at("epoch").get<std::uint64_t>() + 1'000'000'000);
  const auto recorded = earlier_run.publish();
  for (int i = 0; i < 10; ++i) publish_as(redis, "a", recorded);
  ASSERT_TRUE(comes_true([&] { return a.status().at("name_conflicts") >= 1; }));
  a.add_keys(100, 200);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_TRUE(a.status().at("is_publishing"));
  EXPECT_EQ(b.num_missed("a", 0, 200), 0);
  EXPECT_TRUE(b.who_may_have("forged").empty());
}

// The copy of a node is under a key of the server, which a forger may write too.
TEST_F(Node, WithAKeyTakesNoForgedCopyFromTheServer) {
  const RunningRedis redis;
  const GroupKey key;
  NodeProcess a(redis, "a", key.flags());
  a.add_keys(0, 100);
  ASSERT_TRUE(a.wait_for(0));
  Forger forger = forger_of("a", 5, {}, 20'000, key.hasher());
  for (const std::string& copy :
       {text_of(forger.publish()), std::string("garbage"), std::string(100'000, 'x')}) {
    redis.call({"SET", "tally:default:copy:a", copy});
    NodeProcess b(redis, "b", key.flags());
    ASSERT_TRUE(comes_true([&] { return b.status().at("messages_refused") >= 1; }));
    EXPECT_TRUE(b.who_may_have("forged").empty());
    // The publisher, which is asked again and again, writes it again.
    ASSERT_TRUE(converge({&a, &b}));
    EXPECT_EQ(b.num_missed("a", 0, 100), 0);
  }
}

TEST_F(Node, WithoutAKeySaysOnceThatAnybodyMaySpeakForIt) {
  const RunningRedis redis;
  const GroupKey key;
  const Flags flags{"node", "x", "--redis", "unix://" + redis.socket()};
  EXPECT_THAT(run_tally(flags, "").error,
              HasSubstr("anybody who may publish on this server can speak for this node"));
  EXPECT_EQ(run_tally(with(flags, key.flags()), "").error, "");
}

// A node of the version before: it reads and writes format version 1 only, and sends full copies to everybody.
TEST_F(Node, OfAnUpgradedGroupFollowsTheOldOnesAndIsFollowed) {
  const RunningRedis redis;
  for (const bool has_key : {false, true}) {
    const GroupKey key;
    const Flags flags = with(has_key ? key.flags() : Flags{}, {"--with-version-1"});
    NodeProcess a(redis, "a", flags), b(redis, "b", flags);
    a.add_keys(0, 100);
    ASSERT_TRUE(converge({&a, &b}));
    const KeyHasher hasher = has_key ? key.hasher() : KeyHasher(default_seed);
    Forger old_node = forger_of("old", 5, {}, 20'000, hasher);
    const auto copy = in_format_version_1(old_node.publish());
    (void)old_node.insert(std::string_view("more"));
    const auto delta = in_format_version_1(old_node.publish());
    publish_as(redis, "old", copy);
    publish_as(redis, "old", delta);
    for (NodeProcess* node : {&a, &b}) {
      ASSERT_TRUE(comes_true([&] { return node->who_may_have("more").contains("old"); }));
      for (const Json& peer : node->status().at("peers")) {
        EXPECT_EQ(peer.at("format_version"), peer.at("name") == "old" ? 1 : 2);
      }
    }

    // What it hears: only messages of version 1 count.
    Listener listener(redis, "tally:default:summary:a");
    const SummaryLayout layout = old_node.layout();
    redis.call({"PUBLISH", "tally:default:request:a",
                text_of(in_format_version_1(request_message({"a", {}, 0, summary_time_now()}, layout)))});
    SummaryReplica replica({.hasher = hasher}, "a");
    ASSERT_TRUE(comes_true([&] {
      a.say("+key");
      for (const std::string& message : listener.take()) {
        const auto bytes = std::as_bytes(std::span(message));
        if (read_summary_message(bytes).format_version == 1) (void)replica.apply(bytes);
      }
      return replica.may_contain(std::string_view("key"));
    }));
    EXPECT_TRUE(replica.may_contain(key_of("a", 7)));
  }
}

TEST_F(Node, OfAnUpgradedGroupTakesNothingUnsignedInVersion2) {
  const RunningRedis redis;
  const GroupKey key;
  NodeProcess a(redis, "a", with(key.flags(), {"--with-version-1"}));
  ASSERT_TRUE(a.wait_for(0));
  publish_as(redis, "x", forger_of("x", 5, {}, 20'000, key.hasher()).publish());
  ASSERT_TRUE(comes_true([&] { return a.status().at("messages_not_authentic") == 1; }));
  EXPECT_TRUE(a.who_may_have("forged").empty());
}

// Whoever asks in version 1 must not make a node send its copy to everybody.
TEST_F(Node, SendsNoCopyToEverybodyUnlessItIsTold) {
  const RunningRedis redis;
  NodeProcess a(redis, "a");
  a.add_keys(0, 1000);
  ASSERT_TRUE(a.wait_for(0));
  Listener listener(redis, "tally:default:summary:a");
  const auto request =
      in_format_version_1(request_message({"a", {}, 1, summary_time_now()}, forger_of("a").layout()));
  std::size_t longest = 0;
  int num_stored = 0;
  ASSERT_TRUE(comes_true([&] {
    redis.call({"PUBLISH", "tally:default:request:a", text_of(request)});
    for (const std::string& message : listener.take()) {
      longest = std::max(longest, message.size());
      const SummaryMessageKind kind = read_summary_message(std::as_bytes(std::span(message))).kind;
      num_stored += kind == SummaryMessageKind::stored ? 1 : 0;
    }
    return num_stored >= 5;
  }));
  EXPECT_LT(longest, 200u);
}

TEST_F(Node, WithAKeySaysWhatAnOldNodeLacks) {
  const RunningRedis redis;
  const GroupKey key;
  NodeProcess a(redis, "a", key.flags());
  ASSERT_TRUE(a.wait_for(0));
  Forger old_node = forger_of("old", 5, {}, 20'000, key.hasher());
  publish_as(redis, "old", in_format_version_1(old_node.publish()));
  ASSERT_TRUE(comes_true([&] { return a.status().at("messages_not_authentic") == 1; }));
  EXPECT_TRUE(a.reports(HasSubstr("its sender has no key or writes format version 1")));
}

}  // namespace
}  // namespace tally::test
