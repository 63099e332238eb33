// Addresses of servers and stores, slots of keys, and what CLUSTER SLOTS replies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hiredis/hiredis.h>

#include <memory>
#include <string>
#include <vector>

#include "expect_refused.hpp"
#include "fake_redis.hpp"
#include "tally/redis_client/address.hpp"
#include "tally/redis_client/hash_slot.hpp"
#include "tally/redis_client/servers.hpp"
#include "tally/redis_client/slot_map.hpp"
#include "tally/redis_client/store.hpp"

namespace tally::redis_client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

template <class Parse>
std::string refusal_of(Parse parse, const std::string& text) {
  try {
    (void)parse(text);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "accepted";
}

TEST(StoreAddresses, AreServersAndAName) {
  const StoreAddress one = parse_store_address("redis://db1/hits");
  ASSERT_EQ(one.servers.size(), 1U);
  EXPECT_EQ(one.servers[0].host, "db1");
  EXPECT_EQ(one.servers[0].port, 6379);
  EXPECT_EQ(one.name, "hits");
  EXPECT_EQ(one.shown(), "hits at db1:6379");
  const StoreAddress three = parse_store_address("redis://us%40r:pass%3Aword@db1:7000,[::1]:7001,db3/a%2Fb");
  ASSERT_EQ(three.servers.size(), 3U);
  for (const Address& server : three.servers) {
    EXPECT_EQ(server.user, "us@r");
    EXPECT_EQ(server.password, "pass:word");
  }
  EXPECT_EQ(three.servers[1].shown(), "[::1]:7001");
  EXPECT_EQ(three.servers[2].port, 6379);
  EXPECT_EQ(three.name, "a/b");
  const StoreAddress local = parse_store_address("unix:///run/redis.sock/hits");
  EXPECT_EQ(local.servers[0].socket_path, "/run/redis.sock");
  EXPECT_EQ(local.name, "hits");
  EXPECT_EQ(parse_store_address("/run/redis.sock/hits").servers, local.servers);
  EXPECT_EQ(parse_store_address("redis://user:@db1/x").servers[0].user,
            "user");  // the password comes from a file
}

TEST(StoreAddresses, ThatAreWrongAreRefusedWithTheFormAndWithoutThePassword) {
  for (const std::string text :
       {"", "redis://", "redis://host", "redis://host/", "host:1", "redis://host:0/x", "redis://host:70000/x",
        "http://host/x", "redis://:@host/x", "redis://secret@host/x", "redis://a:secret%4@host/x",
        "redis://host,,other/x", "redis:///x", "unix://relative/x", "unix:///", "redis://host/a{b}",
        "redis://[::1/x", "redis://u:secret@host:x/x"}) {
    const std::string error = refusal_of(parse_store_address, text);
    EXPECT_THAT(error, HasSubstr("; give redis://[[user]:password@]host[:port][,host[:port]...]/name"))
        << text;
    EXPECT_THAT(error, Not(HasSubstr("secret"))) << text;
  }
  EXPECT_THAT(refusal_of(parse_store_address, "rediss://host/x"),
              HasSubstr("rediss:// is not supported, because Debian's"));
  EXPECT_THAT(refusal_of(parse_store_address, "redis://host/" + std::string(201, 'x')),
              HasSubstr("has 201 bytes"));
  EXPECT_THAT(refusal_of([](const std::string& text) { return parse_address(text); }, "a,b"),
              HasSubstr("there is more than one host"));
}

TEST(Servers, AreAListOrSentinels) {
  const Servers one = parse_servers("db1");
  EXPECT_TRUE(one.is_one());
  EXPECT_EQ(one.list, std::vector{parse_address("db1")});
  EXPECT_EQ(parse_servers("unix://:p@/run/redis.sock").list,
            std::vector{parse_address("unix://:p@/run/redis.sock")});
  const Servers two = parse_servers("redis://u:p%2C@db1:7000,[::1]/0");
  EXPECT_FALSE(two.is_one());
  EXPECT_FALSE(two.has_sentinels());
  EXPECT_EQ(two.list,
            (std::vector{parse_address("redis://u:p%2C@db1:7000"), parse_address("redis://u:p%2C@[::1]")}));
  EXPECT_EQ(two.shown(), "db1:7000,[::1]:6379");
  Servers sentinels = parse_servers("sentinel://u:p@s1,s2:7000/a%2Fb");
  EXPECT_TRUE(sentinels.has_sentinels());
  EXPECT_EQ(sentinels.list, (std::vector{parse_address("s1:26379"), parse_address("s2:7000")}));
  EXPECT_EQ(sentinels.master, "a/b");
  EXPECT_EQ(sentinels.login.user, "u");
  EXPECT_EQ(sentinels.login.password, "p");
  EXPECT_EQ(sentinels.shown(), "a/b of the sentinels s1:26379,s2:7000");
  EXPECT_EQ(sentinels.logins(), std::vector{&sentinels.login});
  EXPECT_FALSE(parse_servers("sentinel://s1/m").is_one());
}

TEST(Servers, ThatAreWrongAreRefusedWithTheFormAndWithoutThePassword) {
  const auto parse = [](const std::string& text) { return parse_servers(text); };
  for (const std::string text :
       {"", "redis://", "a,,b", ",a", "redis://a/1", "http://a", "redis://secret@a", "redis://u:secret@a,b:x",
        "sentinel://", "sentinel://a", "sentinel://a/", "sentinel:///m", "sentinel://u:@a/m",
        "sentinel://u:secret@a", "sentinel://u:secret@a,,b/m", "sentinel://a/%", "sentinels://a/m",
        "unix://a"}) {
    const std::string error = refusal_of(parse, text);
    EXPECT_THAT(error,
                HasSubstr("; give redis://[[user]:password@]host[:port][,host[:port]...], sentinel://"))
        << text;
    EXPECT_THAT(error, Not(HasSubstr("secret"))) << text;
  }
  EXPECT_THAT(refusal_of(parse, "rediss://a,b"), HasSubstr("rediss:// is not supported, because Debian's"));
  EXPECT_THAT(refusal_of(parse, "sentinel://a/" + std::string(201, 'x')), HasSubstr("has 201 bytes"));
}

TEST(HashSlots, AreThoseOfTheSpecification) {
  EXPECT_EQ(hash_slot("123456789"), 0x31c3U);
  EXPECT_EQ(hash_slot(""), 0U);
  EXPECT_EQ(hash_slot("foo"), 12182U);
  EXPECT_EQ(hash_slot("{user1000}.following"), hash_slot("user1000"));
  EXPECT_EQ(hash_slot("name:{7}"), hash_slot("other:{7}"));
  EXPECT_EQ(hash_slot("foo{}{bar}"), hash_slot("foo{}{bar}"));
  EXPECT_NE(hash_slot("foo{}{bar}"),
            hash_slot("bar"));  // nothing is between the first braces: all of it counts
  EXPECT_EQ(hash_slot("foo{{bar}}zap"), hash_slot("{bar"));
  EXPECT_EQ(hash_slot("foo{bar}{zap}"), hash_slot("bar"));
  EXPECT_NE(hash_slot("foo{bar"), hash_slot("bar"));
}

/// As hiredis reads the bytes.
std::shared_ptr<redisReply> reply_of(const std::string& bytes) {
  const std::unique_ptr<redisReader, void (*)(redisReader*)> reader(redisReaderCreate(), redisReaderFree);
  redisReaderFeed(reader.get(), bytes.data(), bytes.size());
  void* reply = nullptr;
  EXPECT_EQ(redisReaderGetReply(reader.get(), &reply), REDIS_OK);
  return {static_cast<redisReply*>(reply), freeReplyObject};
}

TEST(SlotMaps, HaveTheMasterOfEachSlot) {
  using namespace test;
  const Address asked{.host = "10.0.0.1", .port = 7000, .socket_path = "", .user = "u", .password = "p"};
  const auto map = SlotMap::from_reply(
      *reply_of(array_of(
          {array_of({integer(0), integer(99), array_of({bulk("10.0.0.2"), integer(7001), bulk("id")}),
                     array_of({bulk("10.0.0.9"), integer(7009), bulk("replica")})}),
           array_of({integer(200), integer(16383), array_of({bulk(""), integer(7002), bulk("id")})})})),
      asked);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->find(0)->shown(), "10.0.0.2:7001");
  EXPECT_EQ(map->find(99)->password, "p");
  EXPECT_EQ(map->find(100), nullptr);
  EXPECT_EQ(map->find(16383)->shown(), "10.0.0.1:7002");  // without a host, it is the one that was asked
  EXPECT_EQ(map->masters().size(), 2U);
  EXPECT_EQ(map->least_replicas(), 0U);
}

TEST(SlotMaps, OfAnUnknownFormAreRefused) {
  using namespace test;
  const std::string node = array_of({bulk("h"), integer(7001), bulk("id")});
  for (const std::string& bytes :
       {integer(3), array_of({integer(3)}), array_of({array_of({integer(0), integer(5)})}),
        array_of({array_of({integer(5), integer(4), node})}),
        array_of({array_of({integer(0), integer(16384), node})}),
        array_of({array_of({bulk("0"), integer(4), node})}),
        array_of({array_of({integer(0), integer(4), bulk("h")})}),
        array_of({array_of({integer(0), integer(4), array_of({bulk("h"), integer(70000)})})}),
        array_of({array_of({integer(0), integer(4), array_of({bulk("h")})})})}) {
    EXPECT_FALSE(SlotMap::from_reply(*reply_of(bytes), {})) << bytes;
  }
}

TEST(SlotMaps, TakeNoMoreMastersThanAClusterCanHave) {
  SlotMap map = SlotMap::single({.host = "h"});
  for (std::uint32_t i = 0; i < 16384; ++i) {
    map.set(i, {.host = "h" + std::to_string(i), .port = 1, .socket_path = "", .user = "", .password = ""});
  }
  EXPECT_EQ(map.masters().size(), 4096U);
  EXPECT_EQ(map.find(5000), nullptr);
}

TEST(StoreDescriptions, AreReadAsTheyWereWritten) {
  const StoreDescription description{.kind = "over",
                                     .num_shards = 12,
                                     .seed = ~std::uint64_t{0},
                                     .create = {"TALLY.OVERCREATE", "3", "KEYS", "100"},
                                     .options = {{"--keys", "1000"}, {"N", "3"}, {"--window", ""}}};
  EXPECT_EQ(StoreDescription::parse(description.text(), "x"), description);
}

TEST(StoreDescriptions, OfAnotherFormAreRefusedByTheNameOfTheKey) {
  const std::string good = "tally-store 1\nkind over\nshards 3\nseed 5\ncreate TALLY.OVERCREATE 3\n";
  EXPECT_EQ(StoreDescription::parse(good, "x").num_shards, 3U);
  const auto error = [&](const std::string& text) {
    return refusal_of([](const std::string& own) { return StoreDescription::parse(own, "hits"); }, text);
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return error(text);
  };
  EXPECT_EQ(error("hello"),
            "the key 'hits' is not the description of a store: it does not begin with 'tally-store 1'; give "
            "another name");
  EXPECT_THAT(with("shards 3", "shards 0"), HasSubstr("'0' is not a number from 1 to 16384"));
  EXPECT_THAT(with("shards 3", "shards 20000"), HasSubstr("'20000' is not a number from 1 to 16384"));
  EXPECT_THAT(with("shards 3\n", ""), HasSubstr("the number of shards is missing"));
  EXPECT_THAT(with("seed 5", "seed -5"), HasSubstr("'-5' is not a number"));
  EXPECT_THAT(with("kind", "colour"), HasSubstr("unknown line 'colour'"));
  EXPECT_THAT(with("create TALLY.OVERCREATE 3", "create FLUSHALL"),
              HasSubstr("the command that makes a shard is missing or"));
  EXPECT_THAT(with("create TALLY.OVERCREATE 3\n", ""),
              HasSubstr("the command that makes a shard is missing or"));
}

}  // namespace
}  // namespace tally::redis_client
