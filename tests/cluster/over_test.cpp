// `tally over --store` on a cluster: every key that reaches N is printed once, whatever fails meanwhile.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <vector>

#include "running_cluster.hpp"

namespace tally::test {
namespace {

using Counts = std::unordered_map<std::string, std::uint64_t>;

/// Writes the sights of one writer: few keys are frequent, many are rare.
void write_sights(const std::string& path, std::uint64_t seed, std::uint64_t num_sights,
                  std::uint64_t num_keys, Counts& counts) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(0, std::log(static_cast<double>(num_keys)));
  std::ofstream file(path, std::ios::binary);
  std::string lines;
  for (std::uint64_t i = 0; i < num_sights; ++i) {
    const std::string key = "key:" + std::to_string(static_cast<std::uint64_t>(std::exp(exponent(random))));
    ++counts[key];
    lines += key;
    lines += '\n';
    if (lines.size() < (std::size_t{1} << 20) && i + 1 < num_sights) continue;
    file << lines;
    lines.clear();
  }
}

/// `tally over` in the background, into a file that it appends to.
class Writer {
 public:
  Writer(std::vector<std::string> arguments, std::string output)
      : arguments_(std::move(arguments)), output_(std::move(output)) {
    start();
  }
  ~Writer() {
    if (id_ == 0) return;
    kill(id_, SIGKILL);
    kill(id_, SIGCONT);
    waitpid(id_, nullptr, 0);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void start() {
    std::string command = "exec \"$0\" \"$@\" >>" + output_ + " 2>>" + output_ + ".errors";
    std::vector<std::string> words{"sh", "-c", command, TALLY_COMMAND};
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    const SpawnedProcess child = spawn_with_pipes(words);
    for (const int file : {child.input, child.output, child.error}) close(file);
    const std::scoped_lock lock(mutex_);
    id_ = child.id;
  }
  void send(int signal) const {
    const std::scoped_lock lock(mutex_);
    if (id_ != 0) kill(id_, signal);
  }
  bool runs() {
    const std::scoped_lock lock(mutex_);
    if (id_ != 0 && waitpid(id_, &status_, WNOHANG) == id_) id_ = 0;
    return id_ != 0;
  }
  void kill_now() {
    const std::scoped_lock lock(mutex_);
    kill(id_, SIGKILL);
    kill(id_, SIGCONT);
    waitpid(id_, &status_, 0);
    id_ = 0;
  }
  int exit_code() const { return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1; }
  std::string errors() const { return read_file(output_ + ".errors"); }
  const std::string& output() const { return output_; }

 private:
  std::vector<std::string> arguments_;
  std::string output_;
  mutable std::mutex mutex_;
  pid_t id_ = 0;
  int status_ = 0;
};

/// Lets writers run for a share of the time only, and only until they have printed this many bytes: so a test of some seconds
/// needs few sights, and they are still running at its end on a slow machine.
class Pacer {
 public:
  Pacer(const std::vector<std::unique_ptr<Writer>>& writers, int milliseconds_between,
        std::uint64_t most_bytes)
      : writers_(writers), thread_([&writers, milliseconds_between, most_bytes](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            for (const auto& writer : writers) writer->send(SIGSTOP);
            std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds_between));
            for (const auto& writer : writers) {
              std::error_code none_yet;
              const std::uint64_t bytes = std::filesystem::file_size(writer->output(), none_yet);
              if (none_yet || bytes < most_bytes) writer->send(SIGCONT);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }) {}
  ~Pacer() {
    thread_.request_stop();
    thread_.join();
    for (const auto& writer : writers_) writer->send(SIGCONT);
  }
  Pacer(const Pacer&) = delete;
  Pacer& operator=(const Pacer&) = delete;

 private:
  const std::vector<std::unique_ptr<Writer>>& writers_;
  std::jthread thread_;
};

class ClusterOver : public testing::Test {
 protected:
  static constexpr std::uint64_t threshold = 10;

  void make_sights(std::uint64_t num_writers, std::uint64_t num_sights, std::uint64_t num_keys) {
    for (std::uint64_t i = 0; i < num_writers; ++i) {
      write_sights(directory_ / ("sights" + std::to_string(i)), i + 1, num_sights, num_keys, counts_);
    }
  }
  void start_writers(std::uint64_t num_writers, const std::vector<std::string>& options) {
    for (std::uint64_t i = 0; i < num_writers; ++i) {
      const std::string number = std::to_string(i);
      std::vector<std::string> words{"over",
                                     std::to_string(threshold),
                                     directory_ / ("sights" + number),
                                     "--store",
                                     cluster_.url("events"),
                                     "--state",
                                     directory_ / ("state" + number)};
      words.insert(words.end(), options.begin(), options.end());
      writers_.push_back(std::make_unique<Writer>(words, directory_ / ("out" + number)));
    }
  }
  /// Half of what one of four writers will print.
  std::uint64_t half_of_an_output() const {
    std::uint64_t bytes = 0;
    for (const auto& [key, count] : counts_) bytes += count >= threshold ? key.size() + 1 : 0;
    return bytes / 8;
  }
  std::uint64_t num_printed_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& writer : writers_) bytes += read_file(writer->output()).size();
    return bytes;
  }
  void wait_for_writers() {
    for (const auto& writer : writers_) {
      EXPECT_TRUE(comes_true([&] { return !writer->runs(); }, std::chrono::minutes(10))) << writer->errors();
      EXPECT_EQ(writer->exit_code(), 0) << writer->errors();
    }
  }

  struct Result {
    std::uint64_t num_over = 0;  ///< keys that reach the threshold
    std::uint64_t num_missed = 0;
    std::uint64_t num_twice = 0;
    std::uint64_t num_early = 0;  ///< printed, but below the threshold
  };
  Result result() const {
    std::unordered_map<std::string, std::uint64_t> printed;
    for (const auto& writer : writers_) {
      std::ifstream lines(writer->output());
      for (std::string key; std::getline(lines, key);) ++printed[key];
    }
    Result found;
    for (const auto& [key, count] : counts_) {
      if (count < threshold) continue;
      ++found.num_over;
      found.num_missed += printed.count(key) == 0 ? 1 : 0;
    }
    for (const auto& [key, times] : printed) {
      found.num_twice += times > 1 ? 1 : 0;
      const auto count = counts_.find(key);
      found.num_early += count == counts_.end() || count->second < threshold ? 1 : 0;
    }
    return found;
  }
  std::string errors() const {
    std::string text;
    for (const auto& writer : writers_) text += writer->errors();
    return text;
  }

  void expect_each_key_once(std::uint64_t num_sights);
  void expect_each_key_once_while_servers_fail(std::uint64_t num_sights);
  void expect_losses_to_be_repaired(std::uint64_t num_sights);

  RunningCluster cluster_;
  TemporaryDirectory directory_;
  std::vector<std::unique_ptr<Writer>> writers_;
  Counts counts_;
};

void ClusterOver::expect_each_key_once(std::uint64_t num_sights) {
  const std::uint64_t num_keys = num_sights / 5;
  make_sights(4, num_sights, num_keys);
  start_writers(4, {"--keys", std::to_string(num_keys), "--seed", "1"});
  wait_for_writers();
  const Result found = result();
  EXPECT_GT(found.num_over, num_sights / 100);
  EXPECT_EQ(found.num_missed, 0U);
  EXPECT_EQ(found.num_twice, 0U);
  // Planned for a false positive rate of 1% of the keys that do not reach N.
  EXPECT_LT(static_cast<double>(found.num_early),
            0.01 * static_cast<double>(counts_.size() - found.num_over));
  RecordProperty("over", static_cast<int>(found.num_over));
}

void ClusterOver::expect_each_key_once_while_servers_fail(std::uint64_t num_sights) {
  make_sights(4, num_sights, num_sights / 5);
  start_writers(4, {"--wait", "1", "--seed", "1"});
  std::optional<Pacer> pacer(std::in_place, writers_, 150, half_of_an_output());
  std::this_thread::sleep_for(std::chrono::milliseconds(600));

  // A writer dies, and is started again with its state.
  ASSERT_TRUE(writers_[0]->runs()) << writers_[0]->errors();
  writers_[0]->kill_now();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  writers_[0]->start();

  // A master dies: its replica takes over, and a new replica makes --wait 1 possible again.
  const int lost = cluster_.ports()[0];
  const int witness = cluster_.ports()[1];
  cluster_.send(lost, SIGKILL);
  ASSERT_TRUE(comes_true([&] {
    const auto masters = cluster_.masters(witness);
    return masters.size() == 3 &&
           std::ranges::none_of(masters, [&](const auto& node) { return node.port == lost; });
  })) << cluster_.call(witness, {"cluster", "nodes"});
  cluster_.start_server(lost);
  ASSERT_TRUE(
      comes_true([&] { return cluster_.call(lost, {"role"}).find("connected") != std::string::npos; }));

  // Slots move to another master.
  const auto masters = cluster_.masters(witness);
  ASSERT_EQ(masters.size(), 3U);
  const std::string server = "127.0.0.1:" + std::to_string(witness);
  const SpawnedProcess moving =
      spawn_with_pipes({"redis-cli", "--cluster", "reshard", server, "--cluster-from", masters[0].id,
                        "--cluster-to", masters[1].id, "--cluster-slots", "3000", "--cluster-yes"},
                       "/dev/null");
  int moved = 0;
  ASSERT_TRUE(comes_true([&] { return waitpid(moving.id, &moved, WNOHANG) == moving.id; }));
  EXPECT_EQ(WEXITSTATUS(moved), 0);

  // The network of a master pauses for longer than its replica waits.
  const auto current = cluster_.masters(witness);
  const int paused =
      std::ranges::find_if(current, [&](const auto& node) { return node.port != witness; })->port;
  cluster_.send(paused, SIGSTOP);
  ASSERT_TRUE(comes_true([&] {
    const auto now = cluster_.masters(witness);
    return now.size() == 3 &&
           std::ranges::none_of(now, [&](const auto& node) { return node.port == paused; });
  })) << cluster_.call(witness, {"cluster", "nodes"});
  cluster_.send(paused, SIGCONT);
  for (const auto& writer : writers_) EXPECT_TRUE(writer->runs()) << writer->errors();
  pacer.reset();
  wait_for_writers();

  const Result found = result();
  EXPECT_GT(found.num_over, num_sights / 100);
  EXPECT_EQ(found.num_missed, 0U) << errors();
  EXPECT_EQ(found.num_twice, 0U) << errors();
  EXPECT_EQ(errors().find("warning"), std::string::npos) << errors();
}

void ClusterOver::expect_losses_to_be_repaired(std::uint64_t num_sights) {
  make_sights(4, num_sights, num_sights / 5);
  start_writers(4, {"--seed", "1"});
  std::optional<Pacer> pacer(std::in_place, writers_, 60, half_of_an_output());
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  const int lost = cluster_.ports()[0];
  const int witness = cluster_.ports()[1];
  // The replica has nothing of what its master counts last.
  const auto nodes = cluster_.nodes(witness);
  const auto master = std::ranges::find(nodes, lost, &RunningCluster::Node::port);
  ASSERT_NE(master, nodes.end());
  const auto replica = std::ranges::find(nodes, master->id, &RunningCluster::Node::master);
  ASSERT_NE(replica, nodes.end());
  cluster_.send(replica->port, SIGSTOP);
  cluster_.call(lost, {"client", "kill", "type", "replica"});
  const std::uint64_t before = num_printed_bytes();
  ASSERT_TRUE(comes_true([&] { return num_printed_bytes() > before + 30000; })) << errors();
  cluster_.send(lost, SIGKILL);
  cluster_.send(replica->port, SIGCONT);
  ASSERT_TRUE(comes_true([&] {
    const auto masters = cluster_.masters(witness);
    return masters.size() == 3 &&
           std::ranges::none_of(masters, [&](const auto& node) { return node.port == lost; });
  }));
  for (const auto& writer : writers_) EXPECT_TRUE(writer->runs()) << writer->errors();
  pacer.reset();
  wait_for_writers();
  EXPECT_NE(errors().find("a failover has lost"), std::string::npos) << errors();
  const Result found = result();
  if (errors().find("they are gone") == std::string::npos) {
    EXPECT_EQ(found.num_missed, 0U) << errors();
  }
  // Before the failover one writer printed a key, and after it another one.
  RecordProperty("twice", static_cast<int>(found.num_twice));
}

using SlowClusterOver = ClusterOver;

// `sights` are those of each of four writers.

TEST_F(ClusterOver, OfFourWritersOnePrintsEachKeyThatReachesN) { expect_each_key_once(250'000); }
TEST_F(SlowClusterOver, OfFourWritersOnePrintsEachKeyThatReachesN) { expect_each_key_once(25'000'000); }

TEST_F(ClusterOver, NothingIsMissedOrPrintedTwiceWhileServersAndWritersFail) {
  expect_each_key_once_while_servers_fail(1'500'000);
}
TEST_F(SlowClusterOver, NothingIsMissedOrPrintedTwiceWhileServersAndWritersFail) {
  expect_each_key_once_while_servers_fail(25'000'000);
}

TEST_F(ClusterOver, WithoutWaitingForReplicasWhatAFailoverLosesIsSentAgain) {
  expect_losses_to_be_repaired(2'000'000);
}
TEST_F(SlowClusterOver, WithoutWaitingForReplicasWhatAFailoverLosesIsSentAgain) {
  expect_losses_to_be_repaired(25'000'000);
}

}  // namespace
}  // namespace tally::test
