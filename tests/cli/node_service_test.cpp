// A node that is run as a service: its file of options, its log, and what it tells the service manager.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <csignal>
#include <cstring>
#include <optional>
#include <regex>
#include <set>
#include <string>

#include "comes_true.hpp"
#include "command_runner.hpp"
#include "http.hpp"
#include "running_nodes.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

CommandResult checked(const std::string& config, Flags flags = {}) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("node.toml", config);
  flags.insert(flags.begin(), {"node", "a"});
  flags.insert(flags.end(), {"--config", path, "--check-config"});
  return run_tally(flags);
}

std::string refusal_of(const std::string& config, const Flags& flags = {}) {
  const CommandResult result = checked(config, flags);
  EXPECT_EQ(result.exit_code, 2) << config;
  EXPECT_EQ(result.output, "");
  return result.error;
}

TEST(NodeConfig, IsCheckedWithoutAServer) {
  const CommandResult result = checked(
      "# comment\nredis = \"unix:///nowhere\"\nkeys = 1000\nstay = true\njson = false\n[node]\ninterval = "
      "'2s'\n");
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(result.output, "the configuration is valid\n");
  EXPECT_EQ(checked("").exit_code, 0);
}

TEST(NodeConfig, SaysWhatIsWrongInIt) {
  EXPECT_THAT(refusal_of("intervall = \"2s\"\n"),
              AllOf(HasSubstr("node.toml"), HasSubstr("'intervall' is not an option of 'tally node'")));
  EXPECT_THAT(refusal_of("[other]\ninterval = \"2s\"\n"), HasSubstr("'other.interval' is not an option"));
  EXPECT_THAT(refusal_of("config = \"x\"\n"), HasSubstr("'config' is not an option"));
  EXPECT_THAT(refusal_of("stay = 3\n"), HasSubstr("'stay' must be true or false"));
  EXPECT_THAT(refusal_of("interval = \"2x\"\n"), HasSubstr("--interval: '2x' has an unknown unit"));
  EXPECT_THAT(refusal_of("interval = \"\"\n"), HasSubstr("--interval: '' is not a time"));
  EXPECT_THAT(refusal_of("keys = 100000000\nmax-message = \"1MB\"\n"), HasSubstr("--max-message"));
  EXPECT_THAT(refusal_of("api-listen = \"0.0.0.0:1\"\n"), HasSubstr("--api-token-file"));
  EXPECT_THAT(refusal_of("api-listen = \":1\"\napi-token-file = \"/nowhere/token\"\n"),
              HasSubstr("/nowhere/token"));
  EXPECT_THAT(refusal_of("api-socket-mode = \"066\"\n"), HasSubstr("must be 600 to 777"));
  EXPECT_THAT(refusal_of("key-file = \"/nowhere/key\"\n"), HasSubstr("/nowhere/key"));
  EXPECT_THAT(refusal_of("redis = \"rediss://localhost\"\n"), HasSubstr("rediss:// is not supported"));
  const CommandResult none = run_tally({"node", "a", "--config", "/nowhere/a.toml", "--check-config"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.error, HasSubstr("'/nowhere/a.toml': No such file"));
}

TEST(NodeConfig, GivesWayToTheCommandLine) {
  EXPECT_THAT(refusal_of("keys = 100000000\nmax-message = \"1MB\"\n"), HasSubstr("--max-message"));
  for (const Flags& flags : {Flags{"--keys", "1000"}, {"--keys=1000"}, {"-n", "1000"}, {"-n1000"}})
    EXPECT_EQ(checked("keys = 100000000\nmax-message = \"1MB\"\n", flags).exit_code, 0) << flags[0];
}

TEST(NodeConfig, MayHaveEveryOption) {
  std::istringstream help(run_tally({"node", "--help"}).output);
  std::set<std::string> options;
  const std::regex option(R"(--([a-z][a-z0-9-]+)[ ,].*)");
  for (std::string line; std::getline(help, line);) {
    std::smatch found;
    const std::string start = line.substr(0, line.find("  ", line.find_first_not_of(' ')));
    if (std::regex_search(line, found, option) && start.find("--") != std::string::npos)
      options.insert(found[1]);
  }
  for (const char* const known : {"interval", "keys", "redis", "key-file", "api-listen", "stay", "null"})
    EXPECT_TRUE(options.contains(known)) << known;
  for (const std::string& name : options) {
    if (name == "config" || name == "help") continue;
    const std::string error = checked(name + " = \"no value of any option\"\n").error;
    EXPECT_THAT(error, ::testing::Not(HasSubstr("is not an option"))) << name;
  }
}

TEST_F(Node, TakesItsOptionsFromAFile) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  const std::string config =
      directory.write("node.toml", "group = \"others\"\nkeys = 20\nkind = \"dleft\"\n");
  NodeProcess a(redis, "a", {"--keys", "2000", "--config", config});
  NodeProcess b(redis, "b", {"--config", config});
  NodeProcess c(redis, "c");
  a.add_keys(0, 10);
  ASSERT_TRUE(converge({&a, &b}));
  EXPECT_EQ(b.who_may_have(key_of("a", 3)), std::set<std::string>{"a"});
  EXPECT_TRUE(c.status().at("peers").empty());
}

TEST_F(Node, IsCheckedBesideOneThatRuns) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  const std::uint16_t port = free_port();
  const Flags flags{"--save",       directory / "a.tally", "--api-listen", ":" + std::to_string(port),
                    "--api-socket", directory / "a.sock"};
  NodeProcess node(redis, "a", flags);
  EXPECT_EQ(node.status().at("name"), "a");
  Flags check{"node", "a", "--check-config"};
  check.insert(check.end(), flags.begin(), flags.end());
  const CommandResult result = run_tally(check);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(node.status().at("name"), "a");
}

TEST_F(Node, LogsAsLinesOfJson) {
  const RunningRedis redis;
  const auto log_of = [&](const Flags& more) {
    Flags flags{"node", "a", "--redis", "unix://" + redis.socket(), "--log", "json"};
    flags.insert(flags.end(), more.begin(), more.end());
    const CommandResult result = run_tally(flags, "nonsense\n");
    EXPECT_EQ(result.exit_code, 1);
    std::vector<std::string> levels;
    std::istringstream lines(result.error);
    for (std::string line; std::getline(lines, line);) {
      const Json json = Json::parse(line);
      EXPECT_TRUE(std::regex_match(json.at("time").get<std::string>(),
                                   std::regex(R"(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ)")));
      EXPECT_EQ(json.at("command"), "tally node");
      EXPECT_FALSE(json.at("message").get<std::string>().empty());
      levels.push_back(json.at("level"));
    }
    return levels;
  };
  EXPECT_EQ(log_of({}), (std::vector<std::string>{"info", "info", "info"}));
  EXPECT_TRUE(log_of({"--log-level", "warning"}).empty());
  // Errors that end it, too.
  const CommandResult failed =
      run_tally({"node", "a", "--log", "json", "--load", "/nowhere/a.tally", "--redis", "unix:///nowhere"});
  EXPECT_EQ(failed.exit_code, 2);
  EXPECT_EQ(Json::parse(failed.error).at("level"), "error");
  const CommandResult lost = run_tally({"node", "a", "--log", "json", "--log-level", "warning", "--redis",
                                        "unix:///nowhere", "--linger", "1ms"},
                                       "+a\n");
  EXPECT_EQ(lost.exit_code, 2);
  EXPECT_THAT(lost.error, HasSubstr("\"level\":\"warning\""));
}

/// What a service manager hears.
class NotifySocket {
 public:
  NotifySocket() : path_(directory_ / "notify") {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    if (::bind(socket_.file(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::system_error(errno, std::generic_category(), path_);
    const timeval limit{0, 10'000};
    ::setsockopt(socket_.file(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setenv("NOTIFY_SOCKET", path_.c_str(), 1);
  }
  ~NotifySocket() { ::unsetenv("NOTIFY_SOCKET"); }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  bool hears(const std::string& wanted) {
    return comes_true([&] {
      std::array<char, 1024> bytes{};
      const ssize_t count = ::recv(socket_.file(), bytes.data(), bytes.size(), 0);
      return count > 0 && std::string(bytes.data(), static_cast<std::size_t>(count)).starts_with(wanted);
    });
  }

 private:
  TemporaryDirectory directory_;
  std::string path_;
  LoopbackSocket socket_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

TEST_F(Node, TellsTheServiceManagerHowItIs) {
  std::optional<RunningRedis> redis(std::in_place);
  NotifySocket manager;
  ::setenv("WATCHDOG_USEC", "300000", 1);
  NodeProcess node(*redis, "a", {"--no-input"});
  ::unsetenv("WATCHDOG_USEC");
  EXPECT_TRUE(manager.hears("READY=1"));
  EXPECT_TRUE(manager.hears("STATUS=connected, 0 peers, 0 keys"));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(manager.hears("WATCHDOG=1"));
  redis.reset();
  EXPECT_TRUE(manager.hears("STATUS=not connected"));
  node.command().send(SIGTERM);
  EXPECT_TRUE(manager.hears("STOPPING=1"));
}

TEST_F(Node, ReadsNoInputAsAServiceAndIsLoadedThroughItsSocket) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  const std::string path = directory / "a.sock";
  NodeProcess a(redis, "a",
                {"--no-input", "--publish-when-loaded", "--api-socket", path, "--api-socket-mode", "660"});
  a.command().close_input();
  NodeProcess b(redis, "b");
  const auto ask = [&](const std::string& text) {
    int file = -1;
    EXPECT_TRUE(comes_true([&] { return (file = connect_to_redis(path)) >= 0; }));
    const LoopbackSocket client(file);
    client.send(text);
    ::shutdown(file, SHUT_WR);
    return client.receive();
  };
  EXPECT_THAT(ask("!json\n+pear\n!publish\n!status\n"), HasSubstr("\"is_publishing\":false"));
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0660));
  EXPECT_TRUE(b.who_may_have("pear").empty());
  EXPECT_THAT(ask("POST /loaded HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
              HasSubstr("{\"is_publishing\":true}"));
  EXPECT_TRUE(comes_true([&] { return b.who_may_have("pear") == std::set<std::string>{"a"}; }));
}

TEST(NodeService, HasAUnitThatSystemdUnderstands) {
  const std::string root = TALLY_TEST_DATA_DIR "/../../packaging/systemd/";
  std::string unit = read_file(root + "tally-node@.service");
  ASSERT_THAT(unit, HasSubstr("/usr/bin/tally node %i"));
  unit = std::regex_replace(unit, std::regex("/usr/bin/tally "), TALLY_COMMAND " ");
  unit = std::regex_replace(unit, std::regex("Documentation=.*\n"), "");
  const TemporaryDirectory directory;
  const std::string path = directory.write("tally-node@a.service", unit);
  const CommandResult found = run_program({"sh", "-c", "command -v systemd-analyze"});
  if (found.exit_code != 0) GTEST_SKIP() << "systemd-analyze is not installed (script/packages.txt)";
  const CommandResult verified = run_program({"systemd-analyze", "verify", path});
  EXPECT_EQ(verified.exit_code, 0) << verified.error;
  EXPECT_EQ(verified.error, "");
  // Of 100, from well protected to not at all.
  const CommandResult security =
      run_program({"systemd-analyze", "security", "--offline=true", "--threshold=15", path});
  EXPECT_EQ(security.exit_code, 0) << security.output.substr(0, 4000);
}

TEST(NodeService, HasAnExampleOfItsFile) {
  const std::string path = TALLY_TEST_DATA_DIR "/../../packaging/systemd/node.toml";
  const CommandResult result = run_tally({"node", "a", "--config", path, "--no-input", "--check-config"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
}

}  // namespace
}  // namespace tally::test
