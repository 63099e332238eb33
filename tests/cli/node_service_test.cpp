// A node that is run as a service: its file of options, its log, and what it tells the service manager.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
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

/// What the node at the socket answers to `text`; nothing if nobody is there.
std::string ask(const std::string& path, const std::string& text) {
  const int file = connect_to_redis(path);
  if (file < 0) return "";
  const LoopbackSocket client(file);
  client.send(text);
  ::shutdown(file, SHUT_WR);
  return client.receive();
}
bool is_healthy(const std::string& path) {
  return ask(path, "GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      .starts_with("HTTP/1.1 200");
}

/// A variable of the environment, for the commands that are started meanwhile.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : Variable(name) { ::setenv(name, value.c_str(), 1); }
  /// There is none meanwhile.
  explicit Variable(const char* name) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    ::unsetenv(name);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

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
  EXPECT_THAT(none.error, StartsWith("tally node: --config: '/nowhere/a.toml': No such file"));
  EXPECT_THAT(none.error, HasSubstr("See 'tally node --help'"));
  const TemporaryDirectory directory;
  const CommandResult folder = run_tally({"node", "a", "--config", directory / "", "--check-config"});
  EXPECT_EQ(folder.exit_code, 2);
  EXPECT_THAT(folder.error, HasSubstr("Is a directory"));
}

TEST(NodeConfig, IsRefusedIfTheNodeCouldNotStartWithIt) {
  const TemporaryDirectory directory;
  const auto with = [](const std::string& name, const std::string& value) {
    return name + " = \"" + value + "\"\n";
  };
  EXPECT_THAT(refusal_of(with("save", "/nowhere/a.tally")), HasSubstr("/nowhere"));
  EXPECT_THAT(refusal_of(with("save", directory / "")), HasSubstr("irectory"));
  EXPECT_THAT(refusal_of(with("api-socket", directory / std::string(200, 'a'))),
              HasSubstr("must have at most 107"));
  EXPECT_THAT(refusal_of(with("api-socket", "/nowhere/a.sock")), HasSubstr("--api-socket: '/nowhere'"));
  const CommandResult good =
      checked(with("save", directory / "a.tally") + with("api-socket", directory / "a.sock"));
  EXPECT_EQ(good.exit_code, 0) << good.error;
  EXPECT_EQ(directory.num_files(), 0U);
}

TEST(NodeConfig, NamesFilesOfSecretsWhoseFirstLineIsText) {
  const TemporaryDirectory directory;
  const auto check = [&](const std::string& line) {
    const std::string path = directory.write("token", line);
    return checked("api-listen = \":1\"\napi-token-file = \"" + path + "\"\n");
  };
  for (const char* const good : {"token", "token\n", "token\r\n", "to ken\nmore"})
    EXPECT_EQ(check(good).exit_code, 0) << good;
  for (const char* const blank : {" token\n", "token \n", "token \r\n"})
    EXPECT_THAT(check(blank).error, HasSubstr("begins or ends with a blank")) << blank;
  for (const char* const control : {"to\tken\n", "token\x7f\n", "token\r\r\n"})
    EXPECT_THAT(check(control).error, HasSubstr("has control characters")) << control;
  EXPECT_THAT(check("\r\n").error, HasSubstr("is empty"));
  EXPECT_THAT(refusal_of("api-listen = \":1\"\napi-token-file = \"" + directory / "" + "\"\n"),
              HasSubstr("Is a directory"));
}

TEST(NodeConfig, WarnsOfAPasswordThatOthersCanRead) {
  const std::string url = "redis://tally:secret@localhost";
  const Flags check{"node", "a", "--quiet", "--check-config"};
  Flags given = check;
  given.insert(given.end(), {"--redis", url});
  const auto warning =
      AllOf(HasSubstr("--redis: others can read this password"), HasSubstr("--password-file"));
  EXPECT_THAT(run_tally(given).error, warning);
  EXPECT_THAT(checked("redis = \"" + url + "\"\n", {"--quiet"}).error, warning);
  EXPECT_THAT(checked("publish-redis = \"sentinel://:secret@a/m\"\n").error,
              HasSubstr("--publish-redis: others"));
  EXPECT_EQ(checked("redis = \"redis://tally@localhost\"\npassword-file = \"/dev/null\"\n").exit_code, 2);
  const Variable environment("TALLY_REDIS", url);
  EXPECT_EQ(run_tally(check).error, "");
  EXPECT_EQ(run_tally(check).exit_code, 0);
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

TEST_F(Node, PrefersTheCommandLineToItsFileAndThatToTheEnvironment) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  const std::string good = "unix://" + redis.socket(), bad = "unix:///nowhere";
  const auto config = [&](const std::string& url) {
    return directory.write("node.toml", "redis = \"" + url + "\"\n");
  };
  const auto connects = [&](const std::string& environment, const Flags& more) {
    const Variable variable("TALLY_REDIS", environment);
    Flags flags{"node", "a", "--quiet", "--linger", "1ms"};
    flags.insert(flags.end(), more.begin(), more.end());
    return run_tally(flags, "+k\n!wait 0 1s\n").output == "!wait\tdone\t0\n";
  };
  EXPECT_TRUE(connects(good, {}));
  EXPECT_FALSE(connects(bad, {}));
  EXPECT_TRUE(connects(bad, {"--config", config(good)}));
  EXPECT_FALSE(connects(good, {"--config", config(bad)}));
  EXPECT_TRUE(connects(bad, {"--config", config(bad), "--redis", good}));
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
    return comes_true([&] { return next().starts_with(wanted); });
  }
  /// The next word; empty if there is none within 10 ms.
  std::string next() const {
    std::array<char, 1024> bytes{};
    const ssize_t count = ::recv(socket_.file(), bytes.data(), bytes.size(), 0);
    return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
  }
  /// Fills its queue, so that it takes nothing more.
  void be_busy() const {
    const LoopbackSocket other(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    const auto* const to = reinterpret_cast<const sockaddr*>(&address);
    while (::sendto(other.file(), "x", 1, 0, to, sizeof address) == 1) continue;
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
  NodeProcess node(*redis, "a", {"--no-input", "--api-socket", "none"});
  ::unsetenv("WATCHDOG_USEC");
  EXPECT_TRUE(manager.hears("READY=1"));
  EXPECT_TRUE(manager.hears("STATUS=connected, 0 peers, 0 keys"));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(manager.hears("WATCHDOG=1"));
  redis.reset();
  EXPECT_TRUE(manager.hears("STATUS=not connected"));
  node.command().send(SIGTERM);
  EXPECT_TRUE(manager.hears("STOPPING=1"));
}

TEST_F(Node, TellsTheServiceManagerItsStatusAtMostOnceASecond) {
  const RunningRedis redis;
  const NotifySocket manager;
  NodeProcess node(redis, "a");
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2500);
  int num_statuses = 0;
  std::string last;
  for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
    if (i < 100) node.add_keys(i, i + 1);
    const std::string word = manager.next();
    if (!word.starts_with("STATUS=")) continue;
    ++num_statuses;
    last = word;
  }
  EXPECT_GE(num_statuses, 2);
  EXPECT_LE(num_statuses, 4);
  EXPECT_EQ(last, "STATUS=connected, 0 peers, 100 keys");
}

TEST_F(Node, RepeatsWhatABusyServiceManagerDidNotTake) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  NotifySocket manager;
  manager.be_busy();
  const Variable watchdog("WATCHDOG_USEC", "300000000");
  NodeProcess node(redis, "a", {"--api-socket", directory / "a.sock"});
  ASSERT_TRUE(comes_true([&] { return is_healthy(directory / "a.sock"); }));
  EXPECT_TRUE(manager.hears("READY=1"));
  EXPECT_TRUE(manager.hears("WATCHDOG=1"));
  node.command().send(SIGTERM);
  EXPECT_TRUE(manager.hears("STOPPING=1"));
}

TEST_F(Node, StaysAtSighupAsAService) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  for (const bool speaks : {true, false}) {
    const std::string path = directory / (speaks ? "a.sock" : "b.sock");
    Flags flags{"--no-input", "--api-socket", path};
    if (!speaks) flags.insert(flags.end(), {"--log-level", "warning"});
    NodeProcess node(redis, "a", flags);
    ASSERT_TRUE(comes_true([&] { return is_healthy(path); }));
    node.command().send(SIGHUP);
    // A remark of a running node is information, which --quiet does not leave out.
    EXPECT_EQ(node.command().read_error_line(speaks ? 20'000 : 300),
              speaks ? "tally node: SIGHUP: there is no --load to read again\n" : "");
    EXPECT_TRUE(is_healthy(path));
    node.command().send(SIGTERM);
    EXPECT_EQ(node.command().wait().exit_code, 0);
  }
}

TEST_F(Node, LosesNoKeyThatItTookWhileItWasEnding) {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.sock", file = directory / "a.tally";
  NodeProcess node("unix:///nowhere", "a",
                   {"--no-input", "--api-socket", path, "--save", file, "--linger", "1s"});
  ASSERT_TRUE(comes_true([&] { return is_healthy(path); }));
  int num_taken = 0;
  const auto add_a_key = [&] {
    const std::string body = "{\"keys\":[\"" + key_of("a", num_taken) + "\"]}";
    const std::string answer =
        ask(path, "POST /keys HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: " +
                      std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body);
    num_taken += answer.starts_with("HTTP/1.1 200") ? 1 : 0;
    return !answer.empty();
  };
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(add_a_key());
  node.command().send(SIGTERM);
  const auto before = std::chrono::steady_clock::now();
  while (add_a_key()) continue;
  // Soon nobody is there, so a client that goes on does not keep it from ending.
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(700));
  EXPECT_EQ(node.command().wait().exit_code, 2);  // Redis has none of them
  EXPECT_EQ(Json::parse(run_tally({"info", "--json", file}).output).at("num_insertions"), num_taken);
}

TEST(NodeService, IsRefusedIfNobodyCouldReachIt) {
  const Variable none("RUNTIME_DIRECTORY"), neither("XDG_RUNTIME_DIR");
  const Flags service{"node", "a", "--no-input", "--quiet", "--redis", "unix:///nowhere"};
  const CommandResult without = run_tally(service);
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.error, AllOf(HasSubstr("--no-input: nobody could reach this node"),
                                   HasSubstr("$RUNTIME_DIRECTORY"), HasSubstr("give --api-socket")));
  const Variable nowhere("RUNTIME_DIRECTORY", "/nowhere");
  EXPECT_THAT(run_tally(service).error,
              AllOf(HasSubstr("nobody could reach this node"), HasSubstr("/nowhere/a.sock")));
  // With an input it is reached, but whoever expects the socket should know.
  const CommandResult with_input = run_tally({"node", "a", "--quiet", "--redis", "unix:///nowhere"}, "");
  EXPECT_EQ(with_input.exit_code, 0);
  EXPECT_THAT(with_input.error, HasSubstr("answering at no unix socket"));
}

TEST_F(Node, ReadsNoInputAsAServiceAndIsLoadedThroughItsSocket) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  const std::string path = directory / "a.sock";
  NodeProcess a(redis, "a",
                {"--no-input", "--publish-when-loaded", "--api-socket", path, "--api-socket-mode", "660"});
  a.command().close_input();
  NodeProcess b(redis, "b");
  ASSERT_TRUE(comes_true([&] { return is_healthy(path); }));
  EXPECT_THAT(ask(path, "!json\n+pear\n!publish\n!status\n"), HasSubstr("\"is_publishing\":false"));
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0660));
  EXPECT_TRUE(b.who_may_have("pear").empty());
  EXPECT_THAT(ask(path, "POST /loaded HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
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
  const TemporaryDirectory directory;  // this machine may have no /var/lib/tally
  const CommandResult result = run_tally(
      {"node", "a", "--config", path, "--no-input", "--check-config", "--save", directory / "a.tally"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
}

}  // namespace
}  // namespace tally::test
