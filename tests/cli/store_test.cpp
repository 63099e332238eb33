// --store with a server that a test plays: what the commands print, what a killed run leaves, and the file of --state.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "comes_true.hpp"
#include "command_runner.hpp"
#include "fake_redis.hpp"
#include "running_command.hpp"
#include "store/output_place.hpp"
#include "store/writer_log.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class StoreCommand : public testing::Test {
 protected:
  StoreCommand() {
    server_ = std::make_unique<FakeRedis>([this](const FakeRedis::Words& words) -> FakeRedis::Answer {
      const std::scoped_lock lock(mutex_);
      const bool is_batch = words[0] == "TALLY.BATCH";
      num_batches_ += is_batch ? 1 : 0;
      if (num_batches_ <= last_batch_) return store_.serve(words);
      // No reply comes any more; some batches are applied all the same.
      if (is_batch && num_batches_ % 2 == 1) (void)store_.serve(words);
      return "";
    });
  }
  std::string url() const { return "redis://" + server_->host_and_port() + "/name"; }
  CommandResult run(std::vector<std::string> words, std::string_view input) {
    words.insert(words.begin() + 1, {"--store", url()});
    return run_tally(words, input);
  }
  static std::string lines(int first, int last, int times) {
    std::string text;
    for (int round = 0; round < times; ++round) {
      for (int i = first; i < last; ++i) text += "key" + std::to_string(i) + "\n";
    }
    return text;
  }
  static std::vector<std::string> sorted_lines(const std::string& text) {
    std::vector<std::string> sorted;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      sorted.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    std::ranges::sort(sorted);
    return sorted;
  }

  std::mutex mutex_;
  FakeStore store_;
  std::atomic<std::uint64_t> num_batches_ = 0;
  std::atomic<std::uint64_t> last_batch_ = ~std::uint64_t{0};
  std::unique_ptr<FakeRedis> server_;
  TemporaryDirectory directory_;
};

TEST_F(StoreCommand, OverPrintsEachKeyAtItsNthSightInTheOrderOfTheInput) {
  const CommandResult first = run({"over", "3", "--shards", "5"}, "a\nb\na\nc\na\na\nb\n");
  EXPECT_EQ(first.exit_code, 0) << first.error;
  EXPECT_EQ(first.output, "a\n");
  EXPECT_THAT(first.error, HasSubstr("made the store 'name': 5 shards"));
  EXPECT_THAT(first.error, HasSubstr("7 lines in "));
  const CommandResult second = run({"over", "3", "--json"}, "c\nb\nc\na\n");
  EXPECT_THAT(second.output, ::testing::StartsWith("{\"key\":\"b\"}\n{\"key\":\"c\"}\n{\"summary\":{"));
  EXPECT_THAT(second.output, HasSubstr("\"num_printed\":2"));
  EXPECT_EQ(run({"over", "3", "-d", " ", "-f", "2"}, "x d\nx d\ny d\n").output, "d\n");
  EXPECT_EQ(run({"over", "3"}, "a\n").exit_code, 1);  // nothing was printed
}

TEST_F(StoreCommand, OneFrequentKeyIsSentInPartsThatTheServerTakes) {
  std::string input;
  for (int i = 0; i < 200'000; ++i) input += "always\n";
  const CommandResult result = run({"over", "200k", "--shards", "100", directory_.write("input", input)}, "");
  EXPECT_EQ(result.output, "always\n") << result.error;
}

TEST_F(StoreCommand, APipeThatPausesIsCountedAtOnce) {
  RunningCommand tally({TALLY_COMMAND, "uniq", "--store", url()});
  tally.write("first\n");
  EXPECT_EQ(tally.read_line(), "first\n");
  tally.write("first\nsecond\n");
  EXPECT_EQ(tally.read_line(), "second\n");
  tally.close_input();
  EXPECT_EQ(tally.wait().exit_code, 0);
}

TEST_F(StoreCommand, AFollowedFileIsCountedWheneverNothingIsWrittenToIt) {
  const std::string log = directory_.write("log", "first\nfirst\n");
  RunningCommand tally({TALLY_COMMAND, "uniq", "--store", url(), "--follow", log});
  EXPECT_EQ(tally.read_line(), "first\n");
  std::ofstream(log, std::ios::app) << "second\n";
  EXPECT_EQ(tally.read_line(), "second\n");
  tally.send(SIGTERM);
  EXPECT_EQ(tally.wait().exit_code, 0);
  const CommandResult result =
      run({"uniq", "--follow", "--new-lines", "--state", directory_ / "state", log}, "");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("--follow and --state are both given"));
}

TEST_F(StoreCommand, OptionsThatDoNotFitAreNamed) {
  const auto error = [&](std::vector<std::string> words, bool with_store = true) {
    const CommandResult result = with_store ? run(words, "a\n") : run_tally(words, "a\n");
    EXPECT_EQ(result.exit_code, 2) << words.back();
    return result.error;
  };
  for (const char* option : {"--with-count", "--exact", "--keyed"}) {
    EXPECT_THAT(error({"over", "2", option}),
                HasSubstr(std::string(option) + " cannot be combined with --store"))
        << option;
  }
  EXPECT_THAT(error({"over", "2", "--sum", "2"}), HasSubstr("--sum cannot be combined with --store"));
  EXPECT_THAT(error({"uniq", "--approximate", "-n", "5"}),
              HasSubstr("--approximate cannot be combined with --store"));
  EXPECT_THAT(error({"top", "--share", "1%"}), HasSubstr("--share cannot be combined with --store"));
  EXPECT_THAT(error({"build", "-o", "x", "-n", "5"}), HasSubstr("--output cannot be combined with --store"));
  EXPECT_THAT(error({"build"}), HasSubstr("--store: the size is missing"));
  for (const char* option : {"--wait", "--patience", "--shards"}) {
    EXPECT_THAT(error({"over", "2", option, "1"}, false),
                HasSubstr(std::string(option) + " is only for --store"))
        << option;
  }
  EXPECT_THAT(error({"uniq", "--state", "x"}, false), HasSubstr("--state is only for --store"));
  EXPECT_THAT(error({"query"}, false), HasSubstr("filter is required; give a filter file, or --store"));
  EXPECT_THAT(error({"build", "-n", "5"}, false), HasSubstr("--output is required; give a file, or --store"));
  EXPECT_THAT(error({"over", "2", "--shards", "16385"}), HasSubstr("--shards"));
  EXPECT_THAT(error({"uniq", "--store", "redis://host"}, false),
              HasSubstr("--store: there is no name after the server; give redis://"));
  EXPECT_THAT(error({"uniq", "--password-file", "/no/such/file"}),
              HasSubstr("--password-file: '/no/such/file'"));
  EXPECT_THAT(error({"query", "-"}),
              HasSubstr("there is no store 'name'; make one with 'tally build --store'"));
}

TEST_F(StoreCommand, AStoreOfOtherOptionsIsRefused) {
  ASSERT_EQ(run({"over", "3", "-n", "100k"}, "a\na\na\n").exit_code, 0);
  EXPECT_THAT(run({"over", "4"}, "a\n").error,
              HasSubstr("'name' was made with N 3, but now it is 4; give the same value"));
  EXPECT_THAT(run({"over", "3", "-n", "5k"}, "a\n").error,
              HasSubstr("with --keys 100000, but now it is 5000"));
  EXPECT_THAT(run({"over", "3", "-p", "2%"}, "a\n").error,
              HasSubstr("with --false-positive-rate not given, but now it is 0.02"));
  EXPECT_EQ(run({"over", "3"}, "b\nb\nb\n").output, "b\n");
  EXPECT_THAT(run({"add", "-"}, "a\n").error,
              HasSubstr("was made by another command: it is of the kind 'over', not 'filter'"));
  const std::scoped_lock lock(mutex_);
  store_.texts["name"] = "something else";
}

TEST_F(StoreCommand, WithoutAnAnswerItEndsAndSaysWhichLinesMayNotBeCounted) {
  ASSERT_EQ(run({"over", "3"}, "a\na\na\n").exit_code, 0);
  last_batch_ = num_batches_.load();
  const CommandResult result = run({"over", "3", "--patience", "1s"}, "a\nb\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(
      result.error,
      HasSubstr("lines 1 to 2 of the input may not be counted; --state keeps such lines for the next run"));
  EXPECT_THAT(result.error, HasSubstr("has had no answer for 1 s"));
  last_batch_ = num_batches_.load();
  const std::string state = directory_ / "state";
  const CommandResult kept = run({"over", "3", "--patience", "1s", "--state", state}, "b\nb\nb\n");
  EXPECT_EQ(kept.exit_code, 2);
  EXPECT_THAT(kept.error, HasSubstr("the next run with this --state sends them, and they count once"));
  last_batch_ = ~std::uint64_t{0};
  const CommandResult next = run({"over", "3", "--state", state}, "c\n");
  EXPECT_THAT(
      next.error,
      HasSubstr("the last run had no answer for lines 1 to 3 of its input; sent again, and counted once"));
  EXPECT_THAT(
      next.error,
      HasSubstr("the last run was stopped after line 3 of its input; lines that it had read after that"));
  EXPECT_EQ(next.output, "b\n");
  EXPECT_THAT(run({"over", "3", "--state", state}, "c\n").error, Not(HasSubstr("last run")));
}

TEST_F(StoreCommand, ASignalEndsARunThatWaitsForAnAnswer) {
  ASSERT_EQ(run({"uniq"}, "a\n").exit_code, 0);
  last_batch_ = num_batches_.load();
  RunningCommand tally({TALLY_COMMAND, "uniq", "--store", url(), "--patience", "1h"});
  tally.write("b\n");
  ASSERT_TRUE(comes_true([&] { return num_batches_ > last_batch_; }));
  tally.send(SIGINT);
  const CommandResult result = tally.wait(30'000);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("line 1 of the input may not be counted"));
  EXPECT_THAT(result.error, HasSubstr("has had no answer for 5 s"));
}

TEST_F(StoreCommand, ARunThatIsKilledIsContinuedWithoutLossAndWithoutRepetition) {
  const std::string input = directory_.write("input", lines(0, 60'000, 3));
  const std::string output = directory_ / "output";
  const std::string command = std::string("exec '") + TALLY_COMMAND + "' over 3 -q --store " + url() +
                              " --shards 3 --seed 1 --state " + (directory_ / "state") + " " + input + " >>" +
                              output;
  for (const std::uint64_t num_answered : {1, 3, 5, 4, 6}) {
    last_batch_ = num_batches_ + num_answered;
    const SpawnedProcess child = spawn_with_pipes({"sh", "-c", command});
    ASSERT_TRUE(comes_true([&] { return num_batches_ > last_batch_; }));
    kill(child.id, SIGKILL);
    child.wait();
    for (const int file : {child.input, child.output, child.error}) close(file);
  }
  last_batch_ = ~std::uint64_t{0};
  const CommandResult last = run_shell(command);
  EXPECT_EQ(last.exit_code, 0) << last.error;
  EXPECT_EQ(sorted_lines(read_file(output)), sorted_lines(lines(0, 60'000, 1)));
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, shard] : store_.shards) {
    for (const auto& [digest, count] : shard.counts) ASSERT_EQ(count, 3U) << key;
  }
}

// The moment between printing and the record that it is done is too short to be hit: its log is made here.
TEST_F(StoreCommand, WhatAKilledRunHadPrintedIsNotPrintedAgain) {
  EXPECT_EQ(run({"over", "2", "--shards", "1", "--seed", "1"}, "z\n").exit_code, 1);
  for (const bool is_same_file : {true, false}) {
    const std::string output = directory_.write("output", "a\n");
    const std::string state = directory_ / "state";
    {
      struct stat found {};
      ASSERT_EQ(stat(output.c_str(), &found), 0);
      cli::InputUnit unit(1);
      for (const char* key : {"a", "a", "b", "b"}) unit.add(key, KeyHasher(1)(std::string_view(key)), 0);
      unit.number = 1;
      unit.first_line = 1;
      cli::WriterLog log(state, true);
      log.begin({.store = "name seed 1",
                 .writer = is_same_file ? "first" : "second",
                 .positions = {{0, 1}},
                 .next_unit = 1,
                 .input = {},
                 .num_lines = 0,
                 .is_finished = false,
                 .units = {},
                 .printing = {}});
      log.add(unit);
      log.print(unit, {found.st_dev, found.st_ino + (is_same_file ? 0 : 1), 0});
    }
    const CommandResult result =
        run_shell("$TALLY over 2 --store " + url() + " --state " + state + " >>" + output);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    if (is_same_file) {
      EXPECT_EQ(read_file(output), "a\nb\n");
    } else {
      EXPECT_EQ(read_file(output), "a\na\nb\n");
      EXPECT_THAT(
          result.error,
          HasSubstr("the last run was printing keys of lines 1 to 4 when it was stopped; they are printed"));
    }
    std::filesystem::remove(state);
    const std::scoped_lock lock(mutex_);
    for (auto& [key, shard] : store_.shards) shard.counts.clear();
  }
}

TEST_F(StoreCommand, TheStateOfAnotherStoreIsRefused) {
  const std::string state = directory_ / "state";
  ASSERT_EQ(run({"uniq", "--state", state}, "a\n").exit_code, 0);
  {
    const std::scoped_lock lock(mutex_);
    store_.texts.clear();  // and a new one is made, with another seed
  }
  const CommandResult result = run({"uniq", "--state", state}, "a\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("belongs to the store 'name seed "));
  EXPECT_THAT(result.error, HasSubstr("give another file"));
  const std::string filter = directory_ / "filter.tally";
  ASSERT_EQ(run_tally({"build", "-o", filter, "-n", "10", "-q"}, "a\n").exit_code, 0);
  EXPECT_THAT(run({"uniq", "--state", filter}, "a\n").error,
              HasSubstr("was not written by a run with --store"));
}

TEST_F(StoreCommand, InputThatIsReadAgainIsCountedAgainUnlessTheRunWasKilled) {
  const std::string input = directory_.write("input", "a\nb\n");
  const std::string state = directory_ / "state";
  EXPECT_EQ(run({"over", "2", "--state", state, input}, "").output, "");
  EXPECT_EQ(run({"over", "2", "--state", state, input}, "").output, "a\nb\n");
}

// The file of --state.

using cli::InputUnit;
using cli::WriterLog;
using cli::WriterState;

InputUnit unit_of(std::uint64_t number, std::uint64_t first_line, const std::vector<std::string>& keys) {
  InputUnit unit(1);
  for (const std::string& key : keys) unit.add(key, {}, 0);
  unit.number = number;
  unit.first_line = first_line;
  return unit;
}

WriterState state_of_log() {
  return {.store = "name seed 1",
          .writer = "w",
          .positions = {{0, 1}, {2, 5}},
          .next_unit = 1,
          .input = {{3, 4}},
          .num_lines = 0,
          .is_finished = false,
          .units = {},
          .printing = {}};
}

/// A log with everything in it.
std::string write_log(const std::string& path) {
  WriterLog log(path, true);
  log.begin(state_of_log());
  log.add(unit_of(1, 1, {"a", "", "b"}));
  log.add(unit_of(2, 4, {"c"}));
  log.done(unit_of(1, 1, {"a", "", "b"}), {{0, 2}, {2, 6}});
  log.moved(1, {3, 1});
  log.add(unit_of(3, 5, {"d", "e"}));
  log.print(unit_of(2, 4, {"c"}), {7, 8, 9});
  return read_file(path);
}

TEST(WriterLogs, HaveWhatIsNotDone) {
  const TemporaryDirectory directory;
  const std::string path = directory / "log";
  write_log(path);
  WriterLog log(path, true);
  ASSERT_TRUE(log.state());
  const WriterState& state = *log.state();
  EXPECT_EQ(state.store, "name seed 1");
  EXPECT_EQ(state.writer, "w");
  EXPECT_EQ(state.positions, (std::vector<redis_client::WriterPosition>{{0, 2}, {3, 1}}));
  EXPECT_EQ(state.next_unit, 4U);
  EXPECT_EQ(state.num_lines, 6U);
  EXPECT_FALSE(state.is_finished);
  EXPECT_EQ(state.input, (cli::InputIdentity{{3, 4}}));
  ASSERT_EQ(state.units.size(), 2U);
  EXPECT_EQ(state.units[0], (std::pair<std::uint64_t, std::vector<std::string>>{4, {"c"}}));
  EXPECT_EQ(state.units[1], (std::pair<std::uint64_t, std::vector<std::string>>{5, {"d", "e"}}));
  ASSERT_TRUE(state.printing);
  EXPECT_EQ(state.printing->offset, 9U);
  // The same after it was written anew.
  const WriterState before = state;
  log.begin(before);
  EXPECT_THROW(WriterLog(path, true), std::runtime_error) << "it is locked";
}

TEST(WriterLogs, BeginAnewAsTheyWere) {
  const TemporaryDirectory directory;
  const std::string path = directory / "log";
  write_log(path);
  std::optional<WriterState> before;
  {
    WriterLog log(path, true);
    before = log.state();
    log.begin(*before);
  }
  const WriterLog log(path, true);
  const WriterState after = *const_cast<WriterLog&>(log).state();
  EXPECT_EQ(after.units, before->units);
  EXPECT_EQ(after.positions, before->positions);
  EXPECT_EQ(after.next_unit, before->next_unit);
  EXPECT_EQ(after.num_lines, before->num_lines);
  EXPECT_EQ(after.printing->offset, 9U);
}

TEST(WriterLogs, ThatAreCutOffHaveAllWholeRecords) {
  const TemporaryDirectory directory;
  const std::string bytes = write_log(directory / "log");
  std::size_t last_units = 0;
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const std::string path = directory.write("cut", std::string_view(bytes).substr(0, size));
    try {
      WriterLog log(path, true);
      const std::size_t num_units = log.state() ? log.state()->next_unit : 0;
      EXPECT_GE(num_units, last_units) << size;
      last_units = num_units;
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(last_units, 0U) << size << ": " << error.what();
      EXPECT_THAT(error.what(), HasSubstr("--state: '" + path + "'"));
    }
  }
  EXPECT_EQ(last_units, 4U);
}

TEST(WriterLogs, ThatAreDamagedAreRefusedOrReadToTheDamage) {
  const TemporaryDirectory directory;
  const std::string bytes = write_log(directory / "log");
  std::size_t num_refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    const std::string path = directory.write("damaged", damaged);
    try {
      WriterLog log(path, true);
    } catch (const std::runtime_error& error) {
      ++num_refused;
      EXPECT_THAT(error.what(), HasSubstr("--state: '" + path + "'"));
      EXPECT_THAT(error.what(), HasSubstr("; give another file, or delete it"));
    }
  }
  EXPECT_GT(num_refused, bytes.size() / 2);
}

std::uint64_t number_at(const std::string& bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 8; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// Whoever can write the file can also write its checksums.
TEST(WriterLogs, OfHostileBytesWithRightChecksumsTakeNoMoreMemoryThanTheFile) {
  const TemporaryDirectory directory;
  const std::string bytes = write_log(directory / "log");
  std::mt19937_64 random(3);
  std::size_t num_refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string hostile = bytes;
    // Some record: its kind, size and checksum in 24 bytes, and then the payload.
    std::size_t at = 8;
    for (std::uint64_t skipped = random() % 7; skipped > 0; --skipped) at += 24 + number_at(hostile, at + 8);
    const std::uint64_t size = number_at(hostile, at + 8);
    const std::size_t changed = at + 24 + random() % size;
    const bool is_length = random() % 2 == 0;
    for (std::size_t i = 0; i < (is_length ? 8 : 1) && changed + i < at + 24 + size; ++i) {
      hostile[changed + i] = static_cast<char>(is_length ? 0xff : random());
    }
    const std::uint64_t checksum =
        KeyHasher(number_at(hostile, at))(std::string_view(hostile).substr(at + 24, size)).low;
    for (int i = 0; i < 8; ++i) hostile[at + 16 + i] = static_cast<char>(checksum >> (8 * i));
    const std::string path = directory.write("hostile", hostile);
    try {
      WriterLog log(path, true);
    } catch (const std::runtime_error& error) {
      ++num_refused;
      EXPECT_THAT(error.what(), HasSubstr("--state: '" + path + "' is damaged"));
    }
  }
  EXPECT_GT(num_refused, 300U);
}

TEST(OutputPlaces, AreNotThereForAPipe) {
  const CommandResult result = run_shell("echo a | cat");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_FALSE(cli::num_bytes_written({}, "text"));
}

TEST(InputIdentities, AreThoseOfRegularFilesOnly) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("a", "x");
  EXPECT_EQ(cli::identity_of({path, path}).size(), 2U);
  EXPECT_TRUE(cli::identity_of({}).empty());
  EXPECT_TRUE(cli::identity_of({path, "-"}).empty());
  EXPECT_TRUE(cli::identity_of({path, "/dev/null"}).empty());
  EXPECT_TRUE(cli::identity_of({directory / "none"}).empty());
}

}  // namespace
}  // namespace tally::test
