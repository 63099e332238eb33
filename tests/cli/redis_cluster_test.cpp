// The client of a cluster, with servers that redirect, hesitate, lose connections and lie.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hiredis/hiredis.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fake_redis.hpp"
#include "tally/redis_client/cluster.hpp"
#include "tally/redis_client/reply_text.hpp"

namespace tally::redis_client {
namespace {

using test::FakeRedis;
using test::no_cluster;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Nanoseconds a_moment = Connection::second / 20;

Cluster::Options at(const FakeRedis& server, Nanoseconds patience = 5 * Connection::second) {
  Cluster::Options options;
  options.servers = {parse_address(server.host_and_port())};
  options.patience = patience;
  return options;
}

/// A server that is alone, and answers all other commands so.
FakeRedis::Serve alone(FakeRedis::Serve serve) {
  return [serve = std::move(serve)](const FakeRedis::Words& words) -> FakeRedis::Answer {
    if (words[0] == "CLUSTER") return no_cluster;
    return serve(words);
  };
}

/// Sends the numbers from 0 on to a lane, and returns their answers in the order in which they came.
std::vector<std::string> answers_of(Cluster& cluster, int num_commands) {
  std::vector<std::string> answers;
  const std::size_t lane = cluster.add_lane("key");
  for (int i = 0; i < num_commands; ++i) {
    cluster.send(lane, {"ECHO", std::to_string(i)},
                 [&answers](const Reply& reply) { answers.emplace_back(text_of(*reply)); });
  }
  while (!cluster.is_idle()) cluster.step(a_moment);
  return answers;
}

std::vector<std::string> numbers_below(int end) {
  std::vector<std::string> numbers;
  for (int i = 0; i < end; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

TEST(RedisCluster, AnswersInOrderFromAServerThatIsAlone) {
  FakeRedis server(alone([](const auto& words) { return test::bulk(words[1]); }));
  Cluster cluster(at(server));
  EXPECT_TRUE(cluster.slots().is_single());
  EXPECT_EQ(answers_of(cluster, 100), numbers_below(100));
  EXPECT_EQ(cluster.num_sent_again(), 0U);
  EXPECT_EQ(text_of(*cluster.call("key", {"ECHO", "x"})), "x");
}

TEST(RedisCluster, SendsAgainWhatALostConnectionLeftUnansweredAndAnswersEachOnce) {
  for (const int lost_at : {1, 2, 5, 9, 30}) {
    std::atomic<int> num_echoes = 0;
    FakeRedis server(alone([&](const auto& words) -> FakeRedis::Answer {
      if (++num_echoes == lost_at) return std::nullopt;
      return test::bulk(words[1]);
    }));
    Cluster cluster(at(server));
    EXPECT_EQ(answers_of(cluster, 40), numbers_below(40)) << lost_at;
    EXPECT_GE(cluster.num_sent_again(), 1U);
    EXPECT_EQ(cluster.num_connections_lost(), 1U);
  }
}

/// Two masters: the first has the slots up to 8191.
struct TwoMasters {
  explicit TwoMasters(FakeRedis::Serve serve_first, FakeRedis::Serve serve_second)
      : first([this, serve_first](const auto& words) { return serve(words, serve_first); }),
        second([this, serve_second](const auto& words) { return serve(words, serve_second); }) {
    ports[0] = first.port();
    ports[1] = second.port();
  }

  FakeRedis::Answer serve(const FakeRedis::Words& words, const FakeRedis::Serve& own) const {
    if (words[0] == "CLUSTER") return test::slots_reply({{8191, ports[owner_of_low]}, {16383, ports[1]}});
    if (words[0] == "ASKING") return "+OK\r\n";
    return own(words);
  }
  std::string redirection(const char* kind, int to) const {
    return std::string("-") + kind + " 1 127.0.0.1:" + std::to_string(ports[to]) + "\r\n";
  }

  std::array<std::atomic<std::uint16_t>, 2> ports{};
  std::atomic<int> owner_of_low = 0;
  FakeRedis first;
  FakeRedis second;
};

constexpr const char* low_key = "b";  // slot 3300
std::vector<std::string> answers_for(Cluster& cluster, int num_commands) {
  std::vector<std::string> answers;
  const std::size_t lane = cluster.add_lane(low_key);
  for (int i = 0; i < num_commands; ++i) {
    cluster.send(lane, {"ECHO", std::to_string(i)},
                 [&answers](const Reply& reply) { answers.emplace_back(text_of(*reply)); });
  }
  while (!cluster.is_idle()) cluster.step(a_moment);
  return answers;
}

FakeRedis::Answer echo(const FakeRedis::Words& words) { return test::bulk(words[1]); }

TEST(RedisCluster, FollowsASlotThatHasMoved) {
  ASSERT_LT(hash_slot(low_key), 8192U);
  std::atomic<int> num_taken = 0;
  TwoMasters* self = nullptr;
  TwoMasters masters(
      [&](const auto& words) -> FakeRedis::Answer {
        if (++num_taken <= 3) return test::bulk(words[1]);
        self->owner_of_low = 1;
        return self->redirection("MOVED", 1);
      },
      echo);
  self = &masters;
  Cluster cluster(at(masters.first));
  EXPECT_EQ(cluster.slots().masters().size(), 2U);
  EXPECT_EQ(answers_for(cluster, 30), numbers_below(30));
  EXPECT_EQ(cluster.slots().find(hash_slot(low_key))->port, masters.second.port());
}

TEST(RedisCluster, AsksTheNextOwnerOfASlotThatIsMoving) {
  TwoMasters* self = nullptr;
  TwoMasters masters([&](const auto&) { return self->redirection("ASK", 1); }, echo);
  self = &masters;
  Cluster cluster(at(masters.first));
  EXPECT_EQ(answers_for(cluster, 10), numbers_below(10));
  std::vector<std::string> commands = masters.second.commands();
  std::erase_if(commands, [](const std::string& command) { return command.starts_with("CLUSTER"); });
  ASSERT_GE(commands.size(), 20U);
  for (std::size_t i = 0; i + 1 < commands.size(); i += 2) {
    EXPECT_EQ(commands[i], "ASKING");
    EXPECT_THAT(commands[i + 1], HasSubstr("ECHO"));
  }
}

TEST(RedisCluster, WaitsWhereARefusalPasses) {
  for (const std::string refusal :
       {"TRYAGAIN some keys", "CLUSTERDOWN The cluster is down", "LOADING Redis is loading",
        "READONLY You can't write", "MASTERDOWN Link", "NOREPLICAS Not enough", "BUSY script"}) {
    std::atomic<int> num_refused = 0;
    FakeRedis server(alone([&](const auto& words) -> FakeRedis::Answer {
      if (++num_refused <= 3) return "-" + refusal + "\r\n";
      return test::bulk(words[1]);
    }));
    Cluster cluster(at(server));
    EXPECT_EQ(answers_of(cluster, 10), numbers_below(10)) << refusal;
  }
  FakeRedis server(alone([](const auto&) { return "-ERR no\r\n"; }));
  Cluster cluster(at(server));
  EXPECT_THAT(answers_of(cluster, 1), ElementsAre("ERR no"));  // any other error is an answer
}

TEST(RedisCluster, DoesNotSpinWhereServersSendItInCircles) {
  TwoMasters* self = nullptr;
  TwoMasters masters([&](const auto&) { return self->redirection("MOVED", 1); },
                     [&](const auto&) { return self->redirection("MOVED", 0); });
  self = &masters;
  Cluster cluster(at(masters.first, Connection::second));
  EXPECT_THROW((void)answers_for(cluster, 1), Unavailable);
  EXPECT_LT(masters.first.num_commands() + masters.second.num_commands(), 200U);
}

std::string unavailable_text(Cluster& cluster) {
  try {
    (void)answers_of(cluster, 1);
  } catch (const Unavailable& error) {
    return error.what();
  }
  return "available";
}

TEST(RedisCluster, GivesUpAfterItsPatienceAndNamesKeyAndServer) {
  FakeRedis silent(alone([](const auto&) { return ""; }));
  Cluster cluster(at(silent, Connection::second));
  EXPECT_EQ(unavailable_text(cluster), "the server does not answer; 'key' has had no answer for 1 s");

  FakeRedis breaking(alone([](const auto&) { return std::nullopt; }));
  Cluster other(at(breaking, Connection::second));
  EXPECT_EQ(unavailable_text(other),
            "Redis at " + breaking.host_and_port() +
                ": the server closed the connection; 'key' has had no answer for 1 s");

  Cluster::Options nobody = at(breaking, Connection::second);
  nobody.servers = {parse_address("/no/such/socket")};
  try {
    Cluster none(nobody);
    ADD_FAILURE() << "it is connected";
  } catch (const Unavailable& error) {
    EXPECT_STREQ(error.what(),
                 "Redis at /no/such/socket: No such file or directory; no server has answered for 1 s");
  }
}

TEST(RedisCluster, NeedsAServerToAsk) { EXPECT_THROW(Cluster({}), std::invalid_argument); }

TEST(RedisCluster, TriesTheNextServerIfOneDoesNotKnowTheSlots) {
  FakeRedis good(alone(echo));
  Cluster::Options options = at(good);
  options.servers.insert(options.servers.begin(),
                         {parse_address("/no/such/socket"), parse_address("127.0.0.1:1")});
  Cluster cluster(options);
  EXPECT_EQ(answers_of(cluster, 3), numbers_below(3));
}

TEST(RedisCluster, DoesNotTryAWrongPasswordTwice) {
  FakeRedis server([](const auto& words) -> FakeRedis::Answer {
    if (words[0] == "AUTH") return "-WRONGPASS invalid username-password pair\r\n";
    return "-NOAUTH Authentication required.\r\n";
  });
  Cluster::Options options = at(server, 60 * Connection::second);
  options.servers[0].password = "secret";
  try {
    Cluster cluster(options);
    ADD_FAILURE() << "it is connected";
  } catch (const Unavailable& error) {
    EXPECT_EQ(error.what(),
              "Redis at " + server.host_and_port() + ": WRONGPASS invalid username-password pair");
  }
}

TEST(RedisCluster, CountsAnAnswerWhenReplicasHaveIt) {
  std::atomic<int> num_waits = 0;
  std::atomic<int> num_echoes = 0;
  FakeRedis server(alone([&](const auto& words) -> FakeRedis::Answer {
    if (words[0] == "WAIT") return test::integer(++num_waits < 4 ? 1 : 2);
    ++num_echoes;
    return test::bulk(words[1]);
  }));
  Cluster::Options options = at(server);
  options.num_replicas = 2;
  Cluster cluster(options);
  EXPECT_EQ(answers_of(cluster, 50), numbers_below(50));
  EXPECT_GE(num_waits, 4);
  EXPECT_EQ(num_echoes, 50);
}

TEST(RedisCluster, SendsAgainWhatNoReplicaHadWhenTheConnectionWasLost) {
  std::atomic<int> num_waits = 0;
  std::atomic<int> num_echoes = 0;
  FakeRedis server(alone([&](const auto& words) -> FakeRedis::Answer {
    if (words[0] != "WAIT") {
      ++num_echoes;
      return test::bulk(words[1]);
    }
    if (++num_waits == 1) return std::nullopt;
    return test::integer(1);
  }));
  Cluster::Options options = at(server);
  options.num_replicas = 1;
  Cluster cluster(options);
  EXPECT_EQ(answers_of(cluster, 5), numbers_below(5));
  EXPECT_EQ(num_echoes, 10);
}

TEST(RedisCluster, ForgetsWhatIsDropped) {
  std::atomic<bool> answers = false;
  FakeRedis server(alone([&](const auto& words) -> FakeRedis::Answer {
    if (!answers) return "";
    return test::bulk(words[1]);
  }));
  Cluster cluster(at(server));
  const std::size_t lane = cluster.lane_of("key");
  cluster.send(lane, {"ECHO", "never"}, [](const Reply&) { ADD_FAILURE() << "it was dropped"; });
  cluster.step(a_moment);
  cluster.drop_all(lane);
  EXPECT_TRUE(cluster.is_idle());
}

TEST(RedisCluster, DropsAConnectionThatSendsTooMuchOrNoProtocol) {
  for (const std::string garbage :
       {"hello\r\n", "*2147483647\r\n", "*-7\r\n", "$1099511627776\r\n", ":1\r\n:2\r\n:3\r\n"}) {
    std::atomic<int> num_echoes = 0;
    FakeRedis server(alone([&](const auto& words) -> FakeRedis::Answer {
      if (++num_echoes == 1) return garbage;
      return test::bulk(words[1]);
    }));
    Cluster::Options options = at(server, 3 * Connection::second);
    options.limits.max_bytes = 1 << 20;
    Cluster cluster(options);
    const auto start = std::chrono::steady_clock::now();
    try {
      (void)answers_of(cluster, 2);
    } catch (const Unavailable&) {
      // A length that is announced and not sent looks like a slow server.
      EXPECT_EQ(garbage.front(), '$');
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(6)) << garbage;
  }
}

}  // namespace
}  // namespace tally::redis_client
