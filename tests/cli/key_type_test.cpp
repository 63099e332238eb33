// --key-type: keys of the command that are the integers of the library.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "command_runner.hpp"
#include "fake_redis.hpp"
#include "key_report.hpp"
#include "running_nodes.hpp"
#include "store/writer_log.hpp"
#include "tally/filters/bloom.hpp"
#include "tally/redis_client/batch_writer.hpp"
#include "tally/serialization.hpp"
#include "tally/serialization/sketch_files.hpp"
#include "tally/sketches/space_saving.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::int64_t most_negative = std::numeric_limits<std::int64_t>::min();
constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
constexpr BloomShape roomy{1 << 20, 10};

class KeyTypes : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_ / name; }
  std::string write(const std::string& name, const std::string& bytes) const {
    return directory_.write(name, bytes);
  }
  std::size_t num_files() const { return directory_.num_files(); }

 private:
  TemporaryDirectory directory_;
};

TEST_F(KeyTypes, AFilterOfIntegersOfTheLibraryAnswersInTheCommand) {
  BloomFilter<> filter(roomy, 1);
  filter.insert(42);
  filter.insert(0U);
  filter.insert(largest);
  save(filter, path("f"));
  const std::string input = "42\n43\n0\n18446744073709551615\n00042\n";
  const CommandResult numbers = run_tally({"query", path("f"), "--key-type", "u64"}, input);
  EXPECT_EQ(numbers.output, "42\n0\n18446744073709551615\n00042\n") << numbers.error;
  EXPECT_EQ(run_tally({"query", path("f")}, input).output, "") << "text is another key";
  EXPECT_EQ(run_tally({"query", path("f"), "--key-type", "text"}, input).output, "");
}

TEST_F(KeyTypes, AFilterOfTheCommandAnswersInTheLibrary) {
  ASSERT_EQ(run_tally({"build", "-q", "-n", "1000", "-p", "1e-9", "--key-type", "u64", "-o", path("f")},
                      "42\n007\n18446744073709551615\n")
                .exit_code,
            0);
  const AnyFilter filter = load(path("f"));
  for (const std::uint64_t key : std::vector<std::uint64_t>{42, 7, largest}) {
    EXPECT_TRUE(filter.may_contain(key)) << key;
  }
  EXPECT_FALSE(filter.may_contain(43));
  EXPECT_FALSE(filter.may_contain("42")) << "the text is another key";
  ASSERT_EQ(run_tally({"add", "-q", "--key-type", "u64", path("f")}, "43\n").exit_code, 0);
  EXPECT_TRUE(load(path("f")).may_contain(43));
}

TEST_F(KeyTypes, ANegativeNumberIsSignExtendedAsInTheLibrary) {
  BloomFilter<> filter(roomy, 1);
  filter.insert(std::int8_t{-1});
  filter.insert(most_negative);
  filter.insert(5);
  save(filter, path("f"));
  EXPECT_EQ(
      run_tally({"query", path("f"), "--key-type", "i64"}, "-1\n-2\n-9223372036854775808\n5\n-001\n").output,
      "-1\n-9223372036854775808\n5\n-001\n");
  EXPECT_EQ(run_tally({"query", path("f"), "--key-type", "u64"}, "18446744073709551615\n5\n").output,
            "18446744073709551615\n5\n")
      << "the same 64 bits";
  ASSERT_EQ(run_tally({"build", "-q", "-n", "9", "--key-type", "i64", "-o", path("g")}, "-3\n").exit_code, 0);
  EXPECT_TRUE(load(path("g")).may_contain(-3));
}

TEST_F(KeyTypes, FieldsAreNumbersTooAndLinesBetweenNuls) {
  BloomFilter<> filter(roomy, 1);
  filter.insert(42);
  save(filter, path("f"));
  EXPECT_EQ(
      run_tally({"query", path("f"), "--key-type", "u64", "-f", "2", "-d", ","}, "a,42,b\na,41,b\n").output,
      "42\n");
  EXPECT_EQ(run_tally({"query", path("f"), "--key-type", "u64", "-z"}, std::string("1\0"
                                                                                   "42\0",
                                                                                   5))
                .output,
            std::string("42\0", 3));
}

TEST_F(KeyTypes, CountsAndRemovalsAreOfNumbers) {
  const std::vector<std::string> type{"-q", "--key-type", "i64"};
  const auto run = [&](std::vector<std::string> words, const std::string& input) {
    words.insert(words.end(), type.begin(), type.end());
    return run_tally(words, input);
  };
  ASSERT_EQ(
      run({"build", "--kind", "counting-bloom", "-n", "100", "-p", "1e-9", "-o", path("f")}, "-5\n-05\n9\n")
          .exit_code,
      0);
  EXPECT_EQ(run({"count", path("f")}, "-5\n9\n5\n").output, "2\t-5\n1\t9\n0\t5\n");
  EXPECT_EQ(load(path("f")).count(-5).value, 2U);
  EXPECT_EQ(run({"remove", path("f")}, "-5\n").exit_code, 0);
  EXPECT_EQ(load(path("f")).count(-5).value, 1U);
  EXPECT_EQ(run({"remove", path("f")}, "5\n").exit_code, 1);
}

TEST_F(KeyTypes, APlannedSizeCountsDistinctNumbers) {
  const std::string input = write("keys", "7\n07\n007\n8\n");
  const CommandResult result = run_tally({"build", "--key-type", "u64", "-o", path("f"), input});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.error, HasSubstr("counted 4 keys, about 2 of them distinct"));
}

struct Refused {
  std::string type;
  std::string key;
};

TEST_F(KeyTypes, WhatIsNoNumberInRangeIsRefusedWithFileLineAndRange) {
  const std::string unsigned_range = "is not a whole number from 0 to 2^64 - 1 (--key-type u64";
  const std::string signed_range = "is not a whole number from -2^63 to 2^63 - 1 (--key-type i64";
  const std::string good = write("good", "1\n2\n3\n");
  for (const auto& [type, key] : std::vector<Refused>{{"u64", ""},
                                                      {"u64", " 1"},
                                                      {"u64", "1 "},
                                                      {"u64", "1\r"},
                                                      {"u64", "+1"},
                                                      {"u64", "-1"},
                                                      {"u64", "-0"},
                                                      {"u64", "18446744073709551616"},
                                                      {"u64", "99999999999999999999999"},
                                                      {"u64", "0x10"},
                                                      {"u64", "1.0"},
                                                      {"u64", "1e3"},
                                                      {"u64", "key"},
                                                      {"i64", ""},
                                                      {"i64", "-"},
                                                      {"i64", "+1"},
                                                      {"i64", "--1"},
                                                      {"i64", "- 1"},
                                                      {"i64", "9223372036854775808"},
                                                      {"i64", "-9223372036854775809"}}) {
    const std::string bad = write("bad", "4\n" + key + "\n5\n");
    const CommandResult result =
        run_tally({"build", "-n", "10", "--key-type", type, "-o", path("f"), good, bad});
    EXPECT_EQ(result.exit_code, 2) << key;
    EXPECT_THAT(result.error, StartsWith("tally build: " + bad + ", line 2: the key '" + key + "' " +
                                         (type == "u64" ? unsigned_range : signed_range)));
    EXPECT_THAT(result.error, HasSubstr("--skip-bad skips such lines"));
    EXPECT_EQ(num_files(), 2U) << "no filter was written for " << key;
  }
  const CommandResult word = run_tally({"uniq", "--key-type", "u32"}, "1\n");
  EXPECT_EQ(word.exit_code, 2);
  EXPECT_THAT(word.error, HasSubstr("--key-type: 'u32' is not one of: text, u64, i64"));
}

TEST_F(KeyTypes, ABadKeyLeavesAFilterAsItWas) {
  ASSERT_EQ(
      run_tally({"build", "-q", "-n", "9", "--kind", "counting-bloom", "-o", path("f"), "--key-type", "u64"},
                "1\n")
          .exit_code,
      0);
  const std::string before = read_file(path("f"));
  for (const std::string command : {"add", "remove", "query", "count"}) {
    const CommandResult result = run_tally({command, path("f"), "--key-type", "u64"}, "1\nx\n");
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_THAT(result.error, StartsWith("tally " + command + ": line 2: the key 'x' is not a whole number"));
    EXPECT_THAT(result.error, HasSubstr("--skip-bad skips such lines"));
    EXPECT_EQ(read_file(path("f")), before) << command;
  }
}

TEST_F(KeyTypes, SkipBadSkipsAndCountsLinesWithOtherKeys) {
  const std::string input = "x\n7\n\n+7\n007\n8\n-\n";
  const std::string file = write("input", input);
  CommandResult result =
      run_tally({"build", "-n", "10", "--skip-bad", "--key-type", "u64", "-o", path("f")}, input);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.error,
              AllOf(HasSubstr("4 lines skipped: missing or invalid field"), HasSubstr("3 keys")));
  const KeyReport over = run_for_keys({"over", "2", "--skip-bad", "--key-type", "u64"}, input);
  EXPECT_EQ(over.keys, std::vector<std::string>{"007"});
  EXPECT_EQ(over.summary["num_skipped_lines"], 4);
  EXPECT_EQ(over.summary["num_lines"], 3);
  const KeyReport top = run_for_keys({"top", "5", "--skip-bad", "--key-type", "u64"}, input);
  EXPECT_EQ(top.keys, (std::vector<std::string>{"7", "8"}));
  EXPECT_EQ(top.summary["num_skipped_lines"], 4);
}

TEST_F(KeyTypes, ABadWeightNamesItsFileToo) {
  const std::string first = write("first", "a\t1\n");
  const std::string second = write("second", "a\t1\na\tx\n");
  const CommandResult result = run_tally({"over", "9", "-f", "1", "--sum", "2", first, second});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, StartsWith("tally over: " + second + ", line 2: 'x' in the --sum field"));
}

TEST_F(KeyTypes, StreamsCompareNumbersAndPrintLinesAsTheyWere) {
  EXPECT_EQ(run_tally({"uniq", "-q", "--key-type", "i64"}, "-7\n7\n-007\n007\n0\n-0\n").output, "-7\n7\n0\n");
  EXPECT_EQ(run_tally({"over", "2", "-q", "--key-type", "u64"}, "7\n8\n007\n8\n").output, "007\n8\n");
  EXPECT_EQ(run_tally({"over", "5", "-q", "-c", "-f", "1", "--sum", "2", "--key-type", "u64"},
                      "7\t3\n08\t1\n007\t4\n")
                .output,
            "7\t007\n");
  EXPECT_EQ(run_tally({"over", "2", "-q", "--window", "1m", "--key-type", "u64"}, "7\n8\n007\n").output,
            "007\n");
}

TEST_F(KeyTypes, AnExactCountIsOfNumbersToo) {
  const KeyReport report =
      run_for_keys({"over", "2", "--exact", "--keys", "1000", "--key-type", "u64"}, "7\n007\n8\n");
  EXPECT_EQ(report.keys, std::vector<std::string>{"007"});
  EXPECT_EQ(report.summary["exact"]["num_distinct_keys"], 2);
  EXPECT_EQ(report.summary["exact"]["num_keys_over_threshold"], 1);
  EXPECT_EQ(report.summary["exact"]["num_false_reports"], 0);
  const KeyReport top = run_for_keys({"top", "1", "--exact", "--key-type", "u64"}, "7\n007\n8\n");
  EXPECT_EQ(top.summary["exact"]["num_distinct_keys"], 2);
  EXPECT_EQ(top.summary["exact"]["num_missed"], 0);
}

/// Numbers, every second one with leading zeros, each twice.
std::string padded_numbers(std::uint64_t last) {
  std::string text;
  for (const bool is_padded : {false, true}) {
    for (std::uint64_t i = 0; i < last; ++i)
      text += (is_padded && i % 2 == 0 ? "000" : "") + std::to_string(i) + '\n';
  }
  return text;
}

TEST_F(KeyTypes, TwoThreadsPrintWhatOneDoes) {
  const std::string first = write("first", padded_numbers(100'000));
  const std::string second = write("second", "x\n" + padded_numbers(70'000));
  const auto over = [&](const std::string& num_threads) {
    return run_for_keys(
        {"over", "3", one_seed, "--skip-bad", "--key-type", "u64", "--threads", num_threads, first, second},
        "");
  };
  const KeyReport one = over("1");
  const KeyReport two = over("2");
  EXPECT_EQ(one.keys.size(), 70'000U);
  EXPECT_EQ(one.keys, two.keys);
  EXPECT_EQ(two.summary["num_skipped_lines"], 1);
  EXPECT_EQ(two.summary["num_lines"], one.summary["num_lines"]);
}

TEST_F(KeyTypes, TwoThreadsNameTheLineThatOneDoes) {
  const std::string first = write("first", padded_numbers(100'000));
  const std::string second = write("second", padded_numbers(60'000) + "12x\n" + padded_numbers(30'000));
  for (const std::string num_threads : {"1", "2"}) {
    const CommandResult result =
        run_tally({"over", "3", "--key-type", "u64", "--threads", num_threads, first, second});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.error, HasSubstr("tally over: " + second + ", line 120001: the key '12x' is not"))
        << num_threads;
  }
}

TEST_F(KeyTypes, TopPrintsNumbersAndStoresTheirEightBytes) {
  const CommandResult top =
      run_tally({"top", "--key-type", "i64", "--save", path("s")}, "-5\n9\n-005\n-5\n9\n");
  EXPECT_EQ(top.output, "3\t-5\n2\t9\n") << top.error;
  EXPECT_EQ(run_tally({"top", "-q", "--key-type", "i64", "--from", path("s")}).output, "3\t-5\n2\t9\n");
  EXPECT_EQ(run_tally({"top", "-q", "--from", path("s")}).output,
            std::string("3\t\xfb\xff\xff\xff\xff\xff\xff\xff\n2\t\t\0\0\0\0\0\0\0\n", 22));
}

TEST_F(KeyTypes, TopMergesWithKeysThatTheLibraryAdded) {
  const std::vector<std::string> flags{"top", "-q", "--method", "space-saving", "--key-type", "u64"};
  std::vector<std::string> saving = flags;
  saving.insert(saving.end(), {"--save", path("s")});
  ASSERT_EQ(run_tally(saving, "300\n300\n7\n").exit_code, 0);
  const SpaceSaving of_command = std::get<SpaceSaving>(load_sketch(path("s")));
  SpaceSaving of_library(of_command.capacity(), of_command.hasher());
  constexpr std::array<unsigned char, 8> three_hundred{0x2c, 0x01};
  of_library.add(three_hundred, 5);
  save(of_library, path("t"));
  std::vector<std::string> reading = flags;
  reading.erase(reading.begin() + 2, reading.begin() + 4);
  reading.insert(reading.end(), {"--from", path("s"), path("t")});
  const CommandResult both = run_tally(reading);
  EXPECT_EQ(both.output, "7\t300\n1\t7\n") << both.error;
}

TEST_F(KeyTypes, KeysOfOtherLengthsAreNotPrintedAsNumbers) {
  ASSERT_EQ(run_tally({"top", "-q", "--save", path("s")}, "8 bytes!\n8 bytes!\nabc\n").exit_code, 0);
  const CommandResult result = run_tally({"top", "--key-type", "u64", "--from", path("s")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.error, HasSubstr("--key-type is u64, but a key has 3 bytes; a number has 8; leave"));
}

TEST_F(KeyTypes, AStateOfAnotherKeyTypeIsRefused) {
  const std::string state = path("s");
  const auto run = [&](std::vector<std::string> words, const std::string& type) {
    words.insert(words.end(), {"-q", "--state", state});
    if (!type.empty()) words.insert(words.end(), {"--key-type", type});
    return run_tally(words, "7\n");
  };
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"over", "2"},
                                             {"over", "2", "--window", "1h", "--memory", "64KiB"},
                                             {"top", "2", "--memory", "64KiB"}}) {
    const auto refuses = [&](const std::string& type, const std::string& message) {
      const std::string before = read_file(state);
      const CommandResult result = run(words, type);
      EXPECT_EQ(result.exit_code, 2) << words[0] << type;
      EXPECT_THAT(result.error,
                  HasSubstr("was written with --key-type " + message + "; give the same value"));
      EXPECT_EQ(read_file(state), before);
    };
    EXPECT_LE(run(words, "").exit_code, 1);
    refuses("u64", "not given, but now it is u64");
    EXPECT_EQ(run(words, "text").exit_code, 0) << "the same as without";
    std::filesystem::remove(state);
    EXPECT_LE(run(words, "u64").exit_code, 1);
    refuses("i64", "u64, but now it is i64");
    refuses("", "u64, but now it is not given");
    EXPECT_EQ(run(words, "u64").exit_code, 0);
    std::filesystem::remove(state);
  }
}

TEST_F(KeyTypes, KeysThatCannotBeNumbersHaveNoType) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"squid", "query", "f"}, {"squid", "build", "-o", path("f")}, {"kmers", "-k", "5"}, {"plan"}}) {
    std::vector<std::string> typed = words;
    typed.insert(typed.end(), {"--key-type", "u64"});
    const CommandResult result = run_tally(typed, "1\n");
    EXPECT_EQ(result.exit_code, 2) << words[0];
    EXPECT_THAT(result.error, HasSubstr("--key-type")) << words[0];
  }
}

// With --store.

/// The digest of a key as TALLY.BATCH gets it.
std::string packed_digest(std::uint64_t seed, std::uint64_t key) {
  return redis_client::packed(std::array{KeyHasher(seed)(key)});
}

class StoredNumbers : public KeyTypes {
 protected:
  CommandResult run(std::vector<std::string> words, std::string_view input) {
    words.insert(words.end(), {"-q", "--store", "redis://" + server_.host_and_port() + "/name"});
    return run_tally(words, input);
  }
  std::vector<FakeRedis::Words> batches() {
    const std::scoped_lock lock(mutex_);
    return batches_;
  }

 private:
  std::mutex mutex_;
  FakeStore store_;
  std::vector<FakeRedis::Words> batches_;
  FakeRedis server_{[this](const FakeRedis::Words& words) -> FakeRedis::Answer {
    const std::scoped_lock lock(mutex_);
    if (words[0] == "TALLY.TOPK.RESERVE") return "+OK\r\n";
    if (words[0] == "TALLY.TOPK.LIST")
      return array_of({bulk(std::string("\x2c\x01\0\0\0\0\0\0", 8)), integer(3)});
    if (words[0] == "TALLY.BATCH") batches_.push_back(words);
    if (words.size() > 5 && words[5] == "TOP") return array_of({});
    return store_.serve(words);
  }};
};

TEST_F(StoredNumbers, ADigestIsThatOfTheNumberAndTheLineIsPrinted) {
  const CommandResult result =
      run({"over", "2", "--shards", "1", "--seed", "5", "--key-type", "u64"}, "7\n007\n");
  EXPECT_EQ(result.output, "007\n") << result.error;
  ASSERT_EQ(batches().size(), 1U);
  EXPECT_EQ(batches()[0].back(), packed_digest(5, 7) + packed_digest(5, 7));
  const CommandResult bad = run({"over", "2", "--key-type", "u64"}, "x\n");
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.error, HasSubstr("line 1: the key 'x' is not a whole number"));
}

TEST_F(StoredNumbers, TopSendsEightBytesAndPrintsNumbers) {
  const CommandResult result =
      run({"top", "3", "--shards", "1", "--seed", "5", "--key-type", "u64"}, "300\n0300\n300\n");
  EXPECT_EQ(result.output, "3\t300\n") << result.error;
  ASSERT_EQ(batches().size(), 1U);
  EXPECT_EQ(batches()[0][6], std::string("\x2c\x01\0\0\0\0\0\0", 8));
}

TEST_F(StoredNumbers, TheStateOfARunWithAnotherTypeIsRefused) {
  const std::vector<std::string> over{"over", "2", "--shards", "1", "--seed", "5", "--state", path("s")};
  const auto run_typed = [&](const std::string& type, std::string_view input) {
    std::vector<std::string> words = over;
    if (!type.empty()) words.insert(words.end(), {"--key-type", type});
    return run(words, input);
  };
  EXPECT_EQ(run_typed("", "7\n").exit_code, 1);
  EXPECT_THAT(run_typed("u64", "7\n").error,
              HasSubstr("was written with --key-type text, but now it is u64; give the same value"));
  std::filesystem::remove(path("s"));
  EXPECT_EQ(run_typed("u64", "8\n").exit_code, 1);
  EXPECT_THAT(run_typed("", "8\n").error, HasSubstr("was written with --key-type u64, but now it is text"));
  EXPECT_EQ(run_typed("u64", "8\n").output, "8\n");
}

TEST_F(StoredNumbers, WhatAKilledRunLeftIsSentAsNumbers) {
  const std::vector<std::string> over{"over", "2",       "--shards", "1",          "--seed",
                                      "5",    "--state", path("s"),  "--key-type", "u64"};
  EXPECT_EQ(run(over, "1\n").exit_code, 1);
  {
    cli::WriterLog log(path("s"), true);
    ASSERT_TRUE(log.state());
    EXPECT_EQ(log.state()->reading, "u64");
    log.begin(*log.state());
    cli::InputUnit unit(1);
    unit.add("007", {}, 0);
    unit.number = log.state()->next_unit;
    unit.first_line = 2;
    log.add(unit);
  }
  EXPECT_EQ(run(over, "7\n").output, "7\n");
  ASSERT_EQ(batches().size(), 3U);
  EXPECT_EQ(batches()[1].back(), packed_digest(5, 7));
}

TEST_F(StoredNumbers, WhatAKilledRunLeftOfWholeLinesIsSentAsTheirKeys) {
  const std::vector<std::string> over{"over",   "2",       "--shards", "1",          "--seed",
                                      "5",      "--state", path("s"),  "--key-type", "u64",
                                      "--line", "-d",      " ",        "-f",         "2"};
  EXPECT_EQ(run(over, "a 1\n").exit_code, 1);
  {
    cli::WriterLog log(path("s"), true);
    ASSERT_TRUE(log.state());
    EXPECT_THAT(log.state()->reading, HasSubstr("u64 --line"));
    log.begin(*log.state());
    cli::InputUnit unit(1);
    unit.add("x 007", {}, 0);
    unit.number = log.state()->next_unit;
    unit.first_line = 2;
    log.add(unit);
  }
  EXPECT_EQ(run(over, "y 7\n").output, "y 7\n");
  ASSERT_EQ(batches().size(), 3U);
  EXPECT_EQ(batches()[1].back(), packed_digest(5, 7));
}

// A node.

TEST_F(Node, TakesNumbersAsKeys) {
  const RunningRedis redis;
  const auto run = [&](const std::string& input, const Flags& more = {}) {
    Flags all{"node", "x", "--redis", "unix://" + redis.socket(), "--key-type", "i64"};
    all.insert(all.end(), more.begin(), more.end());
    return run_tally(all, input);
  };
  const TemporaryDirectory directory;
  const CommandResult kept = run("+-7\n+8\n-08\n", {"--save", directory / "f", "--keys", "100"});
  EXPECT_EQ(kept.exit_code, 0) << kept.error;
  const AnyFilter filter = load(directory / "f");
  EXPECT_TRUE(filter.may_contain(-7));
  EXPECT_FALSE(filter.may_contain(8));
  EXPECT_FALSE(filter.may_contain("-7"));
  const CommandResult refused = run("+1\n?x\n+2\n");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.error, HasSubstr("line 2: the key 'x' is not a whole number from -2^63 to 2^63 - 1"));
}

}  // namespace
}  // namespace tally::test
