#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>

#include "comes_true.hpp"
#include "command_runner.hpp"
#include "http.hpp"
#include "running_nodes.hpp"
#include "running_redis.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A client of the socket of a node.
LoopbackSocket client_of(const std::string& path) {
  int file = -1;
  EXPECT_TRUE(comes_true([&] {
    file = connect_to_redis(path);
    return file >= 0;
  }));
  return LoopbackSocket(file);
}

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
  std::string ask(const std::string& lines) const { return answers_to(client_of(path), "!text\n" + lines); }

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
}

TEST_F(Node, AnswersHttpAndLinesAtOneSocket) {
  const RunningRedis redis;
  const SocketNode node(redis, "a");
  EXPECT_EQ(node.ask("+x\n?x\n"), "x\t\n");
  const std::string health = "GET /health HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n";
  EXPECT_THAT(answers_to(client_of(node.path), health), StartsWith("HTTP/1.1 200 OK"));
  // What began as lines stays so, and the other way round.
  EXPECT_THAT(node.ask(health), StartsWith("!refused\t'GET /health HTTP/1.1\r' is not a command"));
  EXPECT_THAT(answers_to(client_of(node.path), health + "+y\n"), ::testing::Not(HasSubstr("y\t")));
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
  const LoopbackSocket waiting = client_of(a.path);
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
  {
    std::string lines = "!wait 9 1h\n";
    for (int i = 0; i < 5000; ++i) lines += "+" + key_of("a", i) + "\n?x\n!status\n";
    client_of(node.path).send(lines.substr(0, 100'000));
  }
  EXPECT_TRUE(comes_true([&] { return node.process->status().at("keys") > 3000; }));
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
    EXPECT_EQ(answers_to(client_of(directory / name), "!text\n?x\n"), "x\t\n");
    NodeProcess second(redis, "a");
    EXPECT_EQ(second.status().at("name"), "a");
    EXPECT_EQ(answers_to(client_of(directory / name), "!text\n?x\n"), "x\t\n");
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
