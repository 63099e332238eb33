// What a node has when it starts again, and how its input goes on.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>

#include "command_runner.hpp"
#include "running_nodes.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;

TEST_F(Node, ThatSavesItsDirectoryHasItAfterARestart) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  const Flags flags{"--save", directory / "keys.tally", "--save-interval", "20ms"};
  NodeProcess b(redis, "b");
  auto a = std::make_unique<NodeProcess>(redis, "a", flags);
  a->add_keys(0, 500);
  ASSERT_TRUE(converge({a.get(), &b}));
  a->command().close_input();  // saves at the end
  EXPECT_EQ(a->command().wait().exit_code, 0);
  a = std::make_unique<NodeProcess>(redis, "a", flags);
  EXPECT_EQ(a->status().at("keys"), 500);
  a->add_keys(500, 600);
  ASSERT_TRUE(converge({a.get(), &b}));
  EXPECT_EQ(b.num_missed("a", 0, 600), 0);

  // Killed, it has what was saved at the last interval.
  const std::string path = directory / "keys.tally";
  ASSERT_TRUE(comes_true([&] {
    return Json::parse(run_tally({"info", "--json", path}).output).at("num_insertions") == 600;
  }));
  a->command().send(SIGKILL);
  (void)a->command().wait();
  a = std::make_unique<NodeProcess>(redis, "a", flags);
  EXPECT_EQ(a->status().at("keys"), 600);
  ASSERT_TRUE(converge({a.get(), &b}));
  EXPECT_EQ(b.num_missed("a", 0, 600), 0);
  EXPECT_EQ(directory.num_files(), 2u) << "the file and its lock, and no part of a file";
}

TEST_F(Node, LocksTheFileThatItSaves) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  const std::string path = directory / "keys.tally";
  NodeProcess a(redis, "a", {"--save", path});
  ASSERT_TRUE(a.wait_for(0));
  const CommandResult result =
      run_tally({"node", "b", "--redis", "unix://" + redis.socket(), "--save", path}, "");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("keys.tally"));
}

TEST_F(Node, SaysWhenItCannotSaveAndGoesOn) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "place");
  const std::string path = directory / "place/keys.tally";
  NodeProcess a(redis, "a", {"--save", path, "--save-interval", "20ms"}), b(redis, "b");
  a.add_keys(0, 10);
  ASSERT_TRUE(converge({&a, &b}));
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(path); }));
  std::filesystem::rename(directory / "place", directory / "elsewhere");
  a.add_keys(10, 20);
  EXPECT_TRUE(a.reports(HasSubstr("trying again every 20ms")));
  ASSERT_TRUE(converge({&a, &b}));
  std::filesystem::rename(directory / "elsewhere", directory / "place");
  EXPECT_TRUE(a.reports(HasSubstr("saved")));
  EXPECT_EQ(b.num_missed("a", 0, 20), 0);
}

// As many insertions as before, so that nothing but the contents differs.
TEST_F(Node, SavesWhatItHasReloaded) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  const std::string keys = directory / "keys.tally", saved = directory / "saved.tally";
  const auto build = [&](const std::string& lines) {
    ASSERT_EQ(
        run_tally({"build", "-q", "--force", "-o", keys, "--kind", "counting-bloom", "-n", "2000"}, lines)
            .exit_code,
        0);
  };
  build("k1\nk2\n");
  RunningCommand a({TALLY_COMMAND, "node", "a", "--json", "--quiet", "--redis", "unix://" + redis.socket(),
                    "--load", keys, "--save", saved, "--save-interval", "20ms", "--interval", "50ms",
                    "--heartbeat", "100ms"});
  NodeProcess b(redis, "b");
  ASSERT_TRUE(comes_true([&] { return b.who_may_have("k1").contains("a"); }));
  build("k2\n");
  a.send(SIGHUP);
  ASSERT_TRUE(comes_true([&] { return b.who_may_have("k1").empty(); }));
  a.close_input();
  EXPECT_EQ(a.wait().exit_code, 0);
  EXPECT_EQ(run_tally({"query", saved}, "k1\nk2\n").output, "k2\n");
}

TEST_F(Node, PublishesWhatItCannotSave) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "place");
  NodeProcess a(redis, "a", {"--save", directory / "place/keys.tally"}), b(redis, "b");
  a.add_keys(0, 10);
  ASSERT_TRUE(converge({&a, &b}));
  std::filesystem::rename(directory / "place", directory / "elsewhere");
  a.add_keys(10, 20);
  a.command().close_input();
  const CommandResult result = a.command().wait();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("--save: "));
  ASSERT_TRUE(comes_true([&] { return b.num_missed("a", 0, 20) == 0; }));
}

TEST_F(Node, ReadsItsFileAgainAtSighup) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  const std::string path = directory / "keys.tally";
  const auto build = [&](const std::string& kind, const std::string& seed, const std::string& keys) {
    const Flags flags{"build", "-q", "--force", "-o", path, "--kind", kind, "-n", "2000", "--seed", seed};
    ASSERT_EQ(run_tally(flags, keys).exit_code, 0);
  };
  build("counting-bloom", "5", "k1\nk2\n");
  const Flags sized{"node",       "a",    "--json", "--quiet", "--redis",     "unix://" + redis.socket(),
                    "--interval", "50ms", "--load", path,      "--heartbeat", "100ms"};
  Flags words{TALLY_COMMAND};
  words.insert(words.end(), sized.begin(), sized.end());
  RunningCommand a(words);
  NodeProcess b(redis, "b", {"--seed", "5"});
  ASSERT_TRUE(comes_true([&] { return b.who_may_have("k1").contains("a"); }));
  for (const char* kind : {"counting-bloom", "dleft"}) {
    build(kind, "5", std::string(kind) + "\nk2\n");
    a.send(SIGHUP);
    ASSERT_TRUE(comes_true([&] { return b.who_may_have(kind).contains("a"); })) << kind;
    EXPECT_TRUE(b.who_may_have("k2").contains("a"));
    EXPECT_TRUE(b.who_may_have("k1").empty());
    EXPECT_EQ(a.read_error_line(), "tally node: reloaded '" + path + "'\n");
  }
  // What cannot be used changes nothing.
  build("counting-bloom", "6", "k3\n");
  a.send(SIGHUP);
  EXPECT_THAT(a.read_error_line(), HasSubstr("not reloaded"));
  (void)directory.write("keys.tally", "garbage");
  a.send(SIGHUP);
  EXPECT_THAT(a.read_error_line(), HasSubstr("not reloaded"));
  EXPECT_TRUE(b.who_may_have("dleft").contains("a"));
  a.close_input();
  EXPECT_EQ(a.wait().exit_code, 0);
}

TEST_F(Node, PublishesNothingBeforeItHasLoadedItsKeys) {
  const RunningRedis redis;
  NodeProcess b(redis, "b");
  auto a = std::make_unique<NodeProcess>(redis, "a");
  a->add_keys(0, 500);
  ASSERT_TRUE(converge({a.get(), &b}));
  a->command().send(SIGKILL);
  (void)a->command().wait();
  b.add_keys(0, 50);
  a = std::make_unique<NodeProcess>(redis, "a", Flags{"--publish-when-loaded"});
  a->add_keys(0, 250);
  ASSERT_TRUE(a->wait_for(1)) << "it follows";
  EXPECT_EQ(a->num_missed("b", 0, 50), 0) << "it answers";
  EXPECT_FALSE(a->status().at("is_publishing"));
  usleep(300'000);  // six intervals
  EXPECT_EQ(b.num_missed("a", 0, 500), 0);
  a->add_keys(250, 500);
  a->say("!loaded");
  ASSERT_TRUE(converge({a.get(), &b}));
  EXPECT_EQ(b.num_missed("a", 0, 500), 0);
}

TEST_F(Node, TakesTheEndOfItsInputForTheEndOfLoading) {
  const RunningRedis redis;
  NodeProcess b(redis, "b");
  ASSERT_TRUE(b.wait_for(0)) << "it listens before the other one speaks and ends";
  const Flags flags{"node", "a", "--quiet", "--redis", "unix://" + redis.socket(), "--publish-when-loaded"};
  EXPECT_EQ(run_tally(flags, "+k1\n").exit_code, 0);
  ASSERT_TRUE(comes_true([&] { return b.who_may_have("k1").contains("a"); }));
}

TEST_F(Node, ThatStaysReadsFromTheNextWriterOfItsPipe) {
  const RunningRedis redis;
  const TemporaryDirectory directory;
  const std::string fifo = directory / "commands";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  NodeProcess b(redis, "b");
  const std::string node = std::string(TALLY_COMMAND) +
                           " node a --stay --quiet --interval 50ms --redis unix://" + redis.socket() + " <" +
                           fifo;
  RunningCommand a({"sh", "-c", "exec " + node});
  for (const char* key : {"k1", "k2", "k3", "k4"}) {
    // Each writer comes, writes a line without its end, and goes. Opening waits for the reader.
    const int file = open(fifo.c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    const std::string line = std::string("+") + key;
    EXPECT_EQ(write(file, line.data(), line.size()), static_cast<ssize_t>(line.size()));
    close(file);
    ASSERT_TRUE(comes_true([&] { return b.who_may_have(key).contains("a"); })) << key;
  }
  const double before = a.processor_seconds();
  usleep(200'000);
  EXPECT_LT(a.processor_seconds() - before, 0.1) << "it waits and does not spin";
  a.send(SIGTERM);
  EXPECT_EQ(a.wait().exit_code, 0);
}

}  // namespace
}  // namespace tally::test
