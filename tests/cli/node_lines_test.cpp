#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "comes_true.hpp"
#include "command_runner.hpp"
#include "http.hpp"
#include "running_nodes.hpp"
#include "running_redis.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// What a node answers to these lines, all of them sent before it is read.
std::string answers_to(const LoopbackSocket& client, const std::string& lines) {
  EXPECT_TRUE(client.send(lines));
  ::shutdown(client.file(), SHUT_WR);
  return client.receive();
}

/// A node with a unix socket.
struct SocketNode {
  explicit SocketNode(const RunningRedis& redis, const std::string& name, Flags flags = {})
      : path(directory / "node.sock") {
    flags.insert(flags.end(), {"--api-socket", path});
    process.emplace(redis, name, flags);
  }
  std::string ask(const std::string& lines) const {
    return answers_to(connect_to_socket(path), "!text\n" + lines);
  }

  TemporaryDirectory directory;
  std::string path;
  std::optional<NodeProcess> process;
};

TEST_F(Node, TakesTheLinesOfManyClientsAtItsSocket) {
  const RunningRedis redis;
  SocketNode a(redis, "a");
  SocketNode b(redis, "b");
  EXPECT_EQ(a.ask("+pear\n+apple\n!publish\n"), "");
  EXPECT_EQ(a.ask("+plum\n-apple\n!publish\n"), "");
  ASSERT_TRUE(comes_true([&] { return b.ask("?plum\n") == "plum\ta\n"; }));
  EXPECT_EQ(b.ask("?pear\n?apple\n?quince\n"), "pear\ta\napple\t\nquince\t\n");
  EXPECT_EQ(b.ask("!json\n?pear\n!text\n?pear\n"), "{\"key\":\"pear\",\"peers\":[\"a\"]}\npear\ta\n");
  EXPECT_THAT(b.ask("!status\n"), HasSubstr("!peer\tname=a\tis_current=true"));
  EXPECT_EQ(a.process->status().at("keys"), 2);

  // All at once, each with lines in two parts.
  std::vector<LoopbackSocket> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(connect_to_socket(b.path));
    ASSERT_TRUE(clients.back().send((i % 2 == 0 ? "!text\n" : "!json\n") + std::string("+own-") +
                                    std::to_string(i) + "\n?pe"));
  }
  for (const LoopbackSocket& client : clients) ASSERT_TRUE(client.send("ar\n"));
  for (std::size_t i = 0; i < clients.size(); ++i)
    EXPECT_EQ(clients[i].receive("\n"), i % 2 == 0 ? "pear\ta\n" : "{\"key\":\"pear\",\"peers\":[\"a\"]}\n");
  EXPECT_EQ(b.process->status().at("keys"), 100);
}

TEST_F(Node, AnswersHttpAndLinesAtOneSocket) {
  const RunningRedis redis;
  const SocketNode node(redis, "a");
  EXPECT_EQ(node.ask("+x\n?x\n"), "x\t\n");
  const std::string health = "GET /health HTTP/1.1\r\nHost: any\r\n\r\n";
  EXPECT_THAT(answers_to(connect_to_socket(node.path), health), StartsWith("HTTP/1.1 200 OK"));
  // What began as lines stays so, and the other way round.
  EXPECT_THAT(node.ask(health), StartsWith("!refused\t'GET /health HTTP/1.1\r' is not a command"));
  const LoopbackSocket http = connect_to_socket(node.path);
  http.send(health);
  EXPECT_THAT(http.receive("{\"status\":\"ok\"}"), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(answers_to(http, "?y\n"), StartsWith("HTTP/1.1 400"));
}

TEST_F(Node, SaysAtItsSocketWhatItRefuses) {
  const RunningRedis redis;
  const SocketNode node(redis, "a", {"--keys", "10"});
  EXPECT_THAT(node.ask("\nx\n!unknown\n"),
              HasSubstr("!refused\t'' is not a command; give +KEY, -KEY, ?KEY, !status"));
  EXPECT_EQ(node.ask("-absent\n-missing\n"), "!refused\t2 removals: the keys are provably absent\n");
  EXPECT_EQ(node.ask("!json\n-absent\n"), "{\"refused\":\"1 removals: the keys are provably absent\"}\n");
  EXPECT_THAT(node.ask("?" + std::string((1 << 20) + 1, 'x')),
              HasSubstr("!refused\ta line has more than 1048576 bytes"));
  EXPECT_EQ(node.ask("?x\n"), "x\t\n");
}

TEST_F(Node, SaysAtItsSocketThatItsFilterIsFull) {
  const RunningRedis redis;
  SocketNode node(redis, "a", {"--kind", "dleft", "--keys", "20"});
  std::string lines;
  for (int i = 0; i < 5000; ++i) lines += "+" + key_of("a", i) + "\n";
  std::istringstream answers(node.ask(lines));
  std::uint64_t num_refused = 0;
  for (std::string line; std::getline(answers, line);) {
    std::uint64_t number = 0;
    EXPECT_EQ(std::sscanf(line.c_str(), "!refused\t%lu insertions: the filter is full", &number), 1) << line;
    num_refused += number;
  }
  EXPECT_GT(num_refused, 0U);
  EXPECT_EQ(node.process->status().at("keys").get<std::uint64_t>() + num_refused, 5000U);
}

TEST_F(Node, TakesNoLineThatIsNotComplete) {
  const RunningRedis redis;
  SocketNode node(redis, "a");
  EXPECT_EQ(node.ask("+pear\n+pea"), "");
  EXPECT_EQ(node.process->status().at("keys"), 1);
}

TEST_F(Node, WaitsForOneClientAndAnswersTheOthers) {
  const RunningRedis redis;
  const SocketNode a(redis, "a");
  const LoopbackSocket waiting = connect_to_socket(a.path);
  waiting.send("!text\n!wait 1 20s\n?pear\n");
  EXPECT_EQ(a.ask("?x\n"), "x\t\n");
  const SocketNode b(redis, "b");
  EXPECT_EQ(b.ask("+pear\n!wait 1 20s\n"), "!wait\tdone\t1\n");
  EXPECT_THAT(waiting.receive("pear\t"), StartsWith("!wait\tdone\t1\n"));
  EXPECT_EQ(a.ask("!wait 9 10ms\n"), "!wait\tlate\t1\n");
}

TEST_F(Node, LosesNoLineOfAClientThatHangsUp) {
  const RunningRedis redis;
  SocketNode node(redis, "a", {"--keys", "100000"});
  std::string lines = "!wait 9 1h\n";
  std::size_t num_keys = 0;
  while (lines.size() < 100'000) lines += "+" + key_of("a", static_cast<int>(num_keys++)) + "\n?x\n!status\n";
  EXPECT_TRUE(connect_to_socket(node.path).send(lines));
  EXPECT_TRUE(comes_true([&] { return node.process->status().at("keys") == num_keys; }))
      << node.process->status().at("keys") << " of " << num_keys;
}

TEST_F(Node, LosesNoLineOfAClientThatLeavesItsAnswersUnread) {
  const RunningRedis redis;
  SocketNode node(redis, "a", {"--keys", "100000"});
  int num_keys = 0;
  for (const int num_more : {1, 100, 8000}) {
    const LoopbackSocket client = connect_to_socket(node.path);
    ASSERT_TRUE(client.send("?x\n"));
    pollfd polled{client.file(), POLLIN, 0};  // the answer is there
    ASSERT_EQ(::poll(&polled, 1, 20'000), 1);
    std::string lines;
    for (int i = 0; i < num_more; ++i) lines += "+" + key_of("a", num_keys++) + "\n";
    ASSERT_TRUE(client.send(lines));
  }
  EXPECT_TRUE(comes_true([&] { return node.process->status().at("keys") == num_keys; }))
      << node.process->status().at("keys") << " of " << num_keys;
}

TEST_F(Node, AnswersOthersWhileAClientAsksAndDoesNotRead) {
  const RunningRedis redis;
  const SocketNode node(redis, "a");
  const LoopbackSocket deaf = connect_to_socket(node.path);
  ::shutdown(deaf.file(), SHUT_RD);
  std::atomic<bool> is_over = false;
  std::thread flood([&] {
    std::string lines;
    for (int i = 0; i < 10'000; ++i) lines += "?x\n";
    while (!is_over && deaf.send(lines)) {
    }
  });
  for (int i = 0; i < 50; ++i) EXPECT_EQ(node.ask("?x\n"), "x\t\n");
  // It is still there: somebody who only sends may do so for as long as it likes.
  EXPECT_TRUE(deaf.send("+key\n"));
  is_over = true;
  flood.join();
}

TEST_F(Node, GivesEachLineTenSecondsAndSaysWhenTheyAreOver) {
  using namespace std::chrono_literals;
  const RunningRedis redis;
  SocketNode node(redis, "a");
  const LoopbackSocket steady = connect_to_socket(node.path);
  const LoopbackSocket waiting = connect_to_socket(node.path);
  const LoopbackSocket half_line = connect_to_socket(node.path);
  const LoopbackSocket half_request = connect_to_socket(node.path);
  ASSERT_TRUE(waiting.send("!text\n!wait 9 12s\n+wai"));
  ASSERT_TRUE(half_line.send("!text\n+hal"));
  ASSERT_TRUE(half_request.send("POST /keys HTTP/1.1\r\nContent-"));
  // Of a buffered writer, whose buffers end in the middle of a line.
  constexpr int num_seconds = 13;
  ASSERT_TRUE(steady.send("+0-"));
  for (int i = 1; i <= num_seconds; ++i) {
    std::this_thread::sleep_for(1s);
    ASSERT_TRUE(steady.send("\n+" + std::to_string(i) + "-")) << i;
  }
  ASSERT_TRUE(steady.send("\n"));
  EXPECT_EQ(half_line.receive(),
            "!refused\tthe end of a line did not come within 10 s; the connection is closed\n");
  const std::string late = half_request.receive();
  EXPECT_THAT(late, StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
  EXPECT_THAT(late, HasSubstr("{\"error\":\"the request was not complete within 10 s"));
  EXPECT_EQ(waiting.receive("\n"), "!wait\tlate\t0\n");
  EXPECT_TRUE(waiting.send("ting\n"));
  EXPECT_TRUE(comes_true([&] { return node.process->status().at("keys") == num_seconds + 2; }))
      << node.process->status().at("keys");
}

TEST_F(Node, TakesLinesOverTcpOnlyAfterItsToken) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  const std::uint16_t port = free_port();
  NodeProcess node(redis, "a",
                   {"--api-listen", ":" + std::to_string(port), "--api-token-file",
                    directory.write("token", "open sesame\n")});
  const auto ask = [&](const std::string& lines) {
    return answers_to(LoopbackSocket::connected(port), lines);
  };
  ASSERT_TRUE(comes_true([&] {
    try {
      return !ask("!token open sesame\n?x\n").empty();
    } catch (const std::system_error&) {
      return false;
    }
  }));
  EXPECT_EQ(ask("!token open sesame\n!text\n+a\n?x\n"), "x\t\n");
  for (const char* const lines : {"+b\n", "!token \n+b\n", "!token open sesam\n+b\n", "!token open sesame!\n",
                                  "!text\n!token open sesame\n+b\n"})
    EXPECT_THAT(ask(lines), HasSubstr("the token is missing or wrong")) << lines;
  EXPECT_EQ(node.status().at("keys"), 1);
}

TEST_F(Node, HasASocketWhereTheServiceManagerOrTheSessionWantsIt) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  for (const auto& [variable, name] :
       {std::pair{"RUNTIME_DIRECTORY", "a.sock"}, {"XDG_RUNTIME_DIR", "tally-default-a.sock"}}) {
    ::setenv(variable, (directory / "").c_str(), 1);
    std::optional<NodeProcess> node(std::in_place, redis, "a");
    // A second one of this name finds the socket taken, and goes on without it.
    EXPECT_EQ(answers_to(connect_to_socket(directory / name), "!text\n?x\n"), "x\t\n");
    NodeProcess second(redis, "a");
    EXPECT_EQ(second.status().at("name"), "a");
    EXPECT_EQ(answers_to(connect_to_socket(directory / name), "!text\n?x\n"), "x\t\n");
    node->command().close_input();
    EXPECT_EQ(node->command().wait().exit_code, 0);
    EXPECT_FALSE(std::filesystem::exists(directory / name));
    NodeProcess without(redis, "a", {"--api-socket", "none"});
    EXPECT_EQ(without.status().at("name"), "a");
    EXPECT_FALSE(std::filesystem::exists(directory / name));
    ::unsetenv(variable);
  }
}

}  // namespace
}  // namespace tally::test
