#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "command_runner.hpp"
#include "key_streams.hpp"
#include "running_command.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

std::string numbers(int first, int last) {
  std::string lines;
  for (int i = first; i <= last; ++i) lines += std::to_string(i) + "\n";
  return lines;
}

// A directory with a filter of the keys 1 to 1000.
class FilterCommands : public ::testing::Test {
 protected:
  std::string build(const std::string& name, std::vector<std::string> flags, const std::string& input) {
    const std::string path = directory / name;
    std::vector<std::string> arguments{"build", "-q", "-o", path};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    if (name == "threshold") arguments.insert(arguments.end(), {"-t", "1"});  // the kind needs one
    const CommandResult result = run_tally(arguments, input);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return path;
  }

  TemporaryDirectory directory;
  const std::string keys = numbers(1, 1000);
};

TEST_F(FilterCommands, EveryKeyBuiltInIsFoundForEveryKind) {
  for (const char* kind :
       {"bloom", "blocked-bloom", "counting-bloom", "threshold", "dleft", "blocked-counting-bloom"}) {
    const std::string path = build(kind, {"--kind", kind, "-n", "1000"}, keys);
    const CommandResult found = run_tally({"query", path}, keys);
    EXPECT_EQ(found.output, keys) << kind;
    EXPECT_EQ(found.exit_code, 0);
    const CommandResult absent = run_tally({"query", "-v", path}, keys);
    EXPECT_THAT(absent.output, IsEmpty()) << kind;
    EXPECT_EQ(absent.exit_code, 1);
  }
}

TEST_F(FilterCommands, QueryCountsAndInverts) {
  const std::string path = build("a", {"-n", "1000", "-p", "1e-9"}, keys);
  EXPECT_EQ(run_tally({"query", "-c", path}, numbers(991, 1010)).output, "10\n");
  EXPECT_EQ(run_tally({"query", "-v", path}, numbers(999, 1002)).output, "1001\n1002\n");
  const Json json = Json::parse(run_tally({"query", "--json", path}, numbers(991, 1020)).output);
  EXPECT_EQ(json["num_keys"], 30);
  EXPECT_EQ(json["num_found"], 10);
  EXPECT_EQ(json["num_absent"], 20);
}

TEST_F(FilterCommands, BuildCountsTheDistinctKeysOfFilesFirst) {
  const std::string input = directory.write("keys", keys + keys + keys);
  const CommandResult result = run_tally({"build", "--json", "-o", directory / "a", input});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_THAT(result.error, HasSubstr("counted 3000 keys, about 1000 of them distinct"));
  EXPECT_LE(Json::parse(result.output)["filter"]["memory_bytes"], 1300);

  const CommandResult redirected = run_shell("$TALLY build -q -o " + (directory / "b") + " < " + input);
  EXPECT_EQ(redirected.exit_code, 0) << redirected.error;
  EXPECT_EQ(run_tally({"query", directory / "b"}, keys).output, keys);

  const CommandResult piped = run_tally({"build", "-o", directory / "c"}, keys);
  EXPECT_EQ(piped.exit_code, 2);
  EXPECT_THAT(piped.error, HasSubstr("cannot be read twice"));
  EXPECT_THAT(piped.error, HasSubstr("--keys"));
}

TEST_F(FilterCommands, MoreKeysThanPlannedAreKeptAndWarnedOf) {
  const std::string path = directory / "a";
  const CommandResult result = run_tally({"build", "-q", "-n", "100", "-o", path}, keys);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.error, HasSubstr("warning: planned for 100 distinct keys"));
  EXPECT_EQ(run_tally({"query", path}, keys).output, keys);
  EXPECT_THAT(run_tally({"info", path}).output, HasSubstr("problem: fill"));
  EXPECT_EQ(run_tally({"info", "-p", "1%", path}).exit_code, 1);
}

TEST_F(FilterCommands, AddedKeysAreFoundAndRemovedOnesAreNot) {
  const std::string path = build("c", {"--kind", "counting-bloom", "-n", "2000", "-p", "1e-9"}, keys);
  EXPECT_EQ(run_tally({"add", path}, "x\ny\nx\n").exit_code, 0);
  EXPECT_EQ(run_tally({"count", path}, "x\ny\nz\n").output, "2\tx\n1\ty\n0\tz\n");
  const CommandResult removed = run_tally({"remove", path}, "x\ny\n");
  EXPECT_EQ(removed.exit_code, 0) << removed.error;
  EXPECT_EQ(run_tally({"count", path}, "x\ny\n").output, "1\tx\n0\ty\n");

  const CommandResult refused = run_tally({"remove", "--json", path}, "nobody\nx\n");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.error, HasSubstr("refused 1"));
  EXPECT_EQ(Json::parse(refused.output)["num_refused"], 1);
  EXPECT_EQ(Json::parse(refused.output)["num_removed"], 1);
  EXPECT_EQ(run_tally({"query", path}, keys).output, keys);
}

TEST_F(FilterCommands, ASaturatedCountSaysSo) {
  std::string many;
  for (int i = 0; i < 20; ++i) many += "x\n";
  const std::string path = build("c", {"--kind", "counting-bloom", "-n", "10", "--counter-bits", "4"}, many);
  EXPECT_EQ(run_tally({"count", path}, "x\n").output, ">=15\tx\n");
  const Json json = Json::parse(run_tally({"count", "--json", path}, "x\n").output);
  EXPECT_EQ(json["count"], 15);
  EXPECT_EQ(json["is_saturated"], true);
}

TEST_F(FilterCommands, AThresholdFilterAnswersAtItsThreshold) {
  const std::string path = build("t", {"--threshold", "3", "-n", "1000", "-p", "1e-9"}, "a\na\na\nb\nb\nc\n");
  EXPECT_EQ(run_tally({"query", path}, "a\nb\nc\n").output, "a\n");
  EXPECT_EQ(run_tally({"query", "--at-least", "3", path}, "a\nb\n").output, "a\n");
  EXPECT_EQ(run_tally({"query", "--at-least", "2", path}, "a\n").exit_code, 2);
  const std::string counting =
      build("c", {"--kind", "counting-bloom", "--threshold", "5", "-n", "1000", "-p", "1e-9"},
            "a\na\na\nb\nb\nc\n");
  EXPECT_EQ(run_tally({"query", "--at-least", "2", counting}, "a\nb\nc\n").output, "a\nb\n");
}

TEST_F(FilterCommands, WrongKindsAreRefusedBeforeAnyInputIsRead) {
  const std::string path = build("a", {"-n", "1000"}, keys);
  const std::string before = read_file(path);
  for (const char* command : {"remove", "count"}) {
    const CommandResult result = run_tally({command, path, "/nonexistent"});
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_THAT(result.error, HasSubstr("bloom filter")) << command;
  }
  EXPECT_EQ(run_tally({"query", "--at-least", "2", path}, "1\n").exit_code, 2);
  EXPECT_EQ(read_file(path), before);
}

TEST_F(FilterCommands, MergedFiltersHoldBothAndDifferencesAreNamed) {
  const std::string a = build("a", {"-n", "1000"}, numbers(1, 500));
  const std::string b = build("b", {"--like", a}, numbers(501, 1000));
  const CommandResult merged = run_tally({"merge", "-o", directory / "ab", a, b});
  EXPECT_EQ(merged.exit_code, 0) << merged.error;
  EXPECT_EQ(run_tally({"query", directory / "ab"}, keys).output, keys);

  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"-n", "1000", "--seed", "7"}, "seed"},
      {{"-n", "1000", "-p", "0.1%"}, "num_bits"},
      {{"-n", "1000", "--scheme", "standard"}, "scheme"},
      {{"-n", "1000", "--kind", "counting-bloom"}, "kind"}};
  for (const auto& [flags, field] : cases) {
    const std::string other = build("other-" + field, flags, keys);
    const CommandResult result = run_tally({"merge", "-o", directory / "x", a, other});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.error, HasSubstr(field));
    EXPECT_FALSE(std::filesystem::exists(directory / "x"));
  }
}

TEST_F(FilterCommands, TheShapeThatInfoPrintsBuildsTheSameShape) {
  for (const char* kind :
       {"bloom", "blocked-bloom", "counting-bloom", "threshold", "dleft", "blocked-counting-bloom"}) {
    const std::string path = build(kind, {"--kind", kind, "-n", "1000"}, keys);
    const std::string json = run_tally({"info", "--json", path}).output;
    const std::string shape = directory.write("shape.json", json);
    const std::string again = build(std::string(kind) + "-again", {"--shape", shape}, keys);
    EXPECT_EQ(read_file(path), read_file(again)) << kind;
  }
}

TEST_F(FilterCommands, AFileWithAKeyedHashOpensOnlyWithItsKey) {
  const std::string key = directory.write("key", std::string(64, 'a') + "\n");
  const std::string other = directory.write("other", std::string(32, 'b'));
  const std::string path = build("a", {"-n", "1000", "--key-file", key}, keys);
  EXPECT_EQ(run_tally({"query", "--key-file", key, path}, keys).output, keys);
  EXPECT_EQ(run_tally({"query", "--key-file", other, path}, keys).exit_code, 2);
  EXPECT_EQ(run_tally({"query", path}, keys).exit_code, 2);
  const std::string bad = directory.write("bad", "too short");
  const CommandResult result =
      run_tally({"build", "-n", "9", "-o", directory / "x", "--key-file", bad}, keys);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("--key-file"));
}

TEST_F(FilterCommands, NothingIsOverwrittenWithoutForce) {
  const std::string path = build("a", {"-n", "1000"}, keys);
  const std::string before = read_file(path);
  const CommandResult refused = run_tally({"build", "-n", "10", "-o", path}, "x\n");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.error, HasSubstr("--force"));
  EXPECT_EQ(run_tally({"merge", "-o", path, path, path}).exit_code, 2);
  EXPECT_EQ(read_file(path), before);
  EXPECT_EQ(run_tally({"build", "--force", "-n", "10", "-o", path}, "x\n").exit_code, 0);
  EXPECT_NE(read_file(path), before);
}

TEST_F(FilterCommands, AnErrorInTheInputLeavesNoFileAndChangesNone) {
  const CommandResult built = run_tally({"build", "-n", "10", "-o", directory / "x", "/nonexistent"});
  EXPECT_EQ(built.exit_code, 2);
  EXPECT_THAT(built.error, HasSubstr("/nonexistent"));
  EXPECT_EQ(directory.num_files(), 0U);
  const std::string path = build("a", {"-n", "1000"}, keys);
  const std::string before = read_file(path);
  EXPECT_EQ(run_tally({"add", path, directory.write("k", "1\n"), "/nonexistent"}).exit_code, 2);
  EXPECT_EQ(read_file(path), before);
}

TEST_F(FilterCommands, AnInterruptedBuildWritesNothing) {
  const CommandResult result = run_shell("(echo a; sleep 3) | $TALLY build -n 10 -o " + (directory / "x") +
                                         " & sleep 0.5; kill -TERM $!; wait $!");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, HasSubstr("interrupted"));
  EXPECT_EQ(directory.num_files(), 0U);
}

// The address sanitizer takes addresses for itself, and so does an emulator.
#if !defined(TALLY_COMMAND_IS_SANITIZED) && !defined(TALLY_COMMAND_IS_EMULATED)
TEST_F(FilterCommands, TakeNoAddressesInAdvanceWhereTheyAreLimited) {
  const CommandResult result =
      run_shell("ulimit -v 300000; echo a | $TALLY build -q --memory 200MiB -o " + (directory / "x"));
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.exit_code, 0);
}
#endif

TEST_F(FilterCommands, TwoAddsAtOnceLoseNothing) {
  const std::string path = build("a", {"-n", "1000", "-p", "1e-9"}, "0\n");
  const std::string low = directory.write("low", numbers(1, 500));
  const std::string high = directory.write("high", numbers(501, 1000));
  for (int round = 0; round < 5; ++round) {
    run_shell("$TALLY add -q " + path + " " + low + " & $TALLY add -q " + path + " " + high + "; wait");
    ASSERT_EQ(run_tally({"query", "-c", path}, keys).output, "1000\n");
  }
}

TEST_F(FilterCommands, DamagedFilesAreRefusedByEveryCommand) {
  const std::string good = read_file(build("a", {"-n", "1000"}, keys));
  std::string flipped = good;
  flipped[20] = static_cast<char>(flipped[20] ^ 1);
  const std::vector<std::pair<std::string, std::string>> damaged{
      {"empty", ""},        {"short", good.substr(0, 64)}, {"cut", good.substr(0, good.size() - 1)},
      {"long", good + "x"}, {"text", "hello\n"},           {"flipped", flipped}};
  for (const auto& [name, bytes] : damaged) {
    const std::string path = directory.write(name, bytes);
    for (const char* command : {"add", "query", "info"}) {
      const CommandResult result = run_tally({command, path, "/dev/null"});
      const CommandResult info = run_tally({"info", path});
      EXPECT_EQ((std::string(command) == "info" ? info : result).exit_code, 2) << name << " " << command;
      EXPECT_THAT(info.error, HasSubstr(path + ": ")) << name;
    }
    EXPECT_EQ(read_file(path), bytes) << name;
  }
  std::string body = good;
  body.back() = static_cast<char>(body.back() ^ 1);
  const std::string path = directory.write("body", body);
  EXPECT_EQ(run_tally({"info", path}).exit_code, 2);
  EXPECT_EQ(run_tally({"info", "--no-verify", path}).exit_code, 0);
  EXPECT_EQ(run_tally({"add", path}, "x\n").exit_code, 2);
}

TEST_F(FilterCommands, AbsentFilesAndDirectoriesAreNamed) {
  for (const std::string& path : {directory / "absent", directory / "."}) {
    for (const char* command : {"add", "query", "info"}) {
      const CommandResult result = run_tally({command, path});
      EXPECT_EQ(result.exit_code, 2) << command << path;
      EXPECT_THAT(result.error, HasSubstr(path));
    }
  }
  EXPECT_THAT(run_tally({"build", "-n", "9", "-o", directory / "."}).error, HasSubstr("is a directory"));
  EXPECT_EQ(run_tally({"build", "-n", "9", "-o", directory / "no/such/file"}, "x\n").exit_code, 2);
}

TEST_F(FilterCommands, ADLeftFilterCountsWithoutEndAndRemoves) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "x\n";
  const std::string path = build("d", {"--kind", "dleft", "-n", "2000", "-p", "1e-4"}, keys + many);
  EXPECT_EQ(run_tally({"count", path}, "x\n1\nnobody\n").output, "1000\tx\n1\t1\n0\tnobody\n");
  EXPECT_EQ(run_tally({"query", "--at-least", "1000", path}, "x\n1\n").output, "x\n");
  EXPECT_EQ(run_tally({"add", path}, "x\ny\n").exit_code, 0);
  const CommandResult removed = run_tally({"remove", path}, "x\ny\nnobody\n");
  EXPECT_EQ(removed.exit_code, 1);
  EXPECT_THAT(removed.error, HasSubstr("removed 2 keys, refused 1"));
  EXPECT_EQ(run_tally({"count", path}, "x\ny\n").output, "1000\tx\n0\ty\n");
}

TEST_F(FilterCommands, InfoShowsTheLoadsOfADLeftFilter) {
  const std::string path =
      build("d", {"--kind", "dleft", "-n", "1000", "-p", "0.1%"}, keys + "5\n5\n5\n5\n5\n");
  const CommandResult text = run_tally({"info", path});
  EXPECT_EQ(text.exit_code, 0) << text.error;
  for (const char* part : {"kind                 dleft", "scheme               rotation",
                           "side table           1 of ", "cells in use", "subtable 1", "5 or more"}) {
    EXPECT_THAT(text.output, HasSubstr(part));
  }
  const Json json = Json::parse(run_tally({"info", "--json", path}).output);
  EXPECT_EQ(json["dleft"]["num_keys"], 1005);
  EXPECT_EQ(json["dleft"]["num_spilled"], 1);
  EXPECT_EQ(json["dleft"]["spilled_total"], 2);
  EXPECT_THAT(json["problems"], IsEmpty());
  std::uint64_t num_used = 0;
  for (const Json& subtable : json["dleft"]["loads"]) {
    for (std::size_t load = 0; load < subtable.size(); ++load) {
      num_used += load * subtable[load].get<std::uint64_t>();
    }
  }
  EXPECT_EQ(num_used, json["num_nonzero"].get<std::uint64_t>());
  EXPECT_NEAR(json["estimated_num_keys"].get<double>(), 1000, 5);
  EXPECT_LE(json["estimated_false_positive_rate"].get<double>(), 0.001);
}

TEST_F(FilterCommands, BuildWritesTheSameFileInAnyNumberOfThreadsAndFromAPipe) {
  const std::string text = zipf_lines(100'000, 30'000, 0.7, 1);
  const std::string lines = directory / "lines";
  std::ofstream(lines) << text;
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {},                 // counts the keys first, which a pipe cannot be read for
           {"--keys", "16M"},  // in two halves, as is the next one
           {"--keys", "16M", "--kind", "blocked-bloom"},
           {"--keys", "30K", "--kind", "dleft"},
           {"--keys", "30K", "--kind", "threshold", "-t", "3", "--update", "conservative"},
           {"--kind", "count-min", "--epsilon", "0.001", "--failure-probability", "0.01"},
           {"--keys", "1K", "--kind", "dleft"}}) {
    const std::string path = directory / "filter";
    const auto build = [&](const std::string& num_threads, bool from_pipe) {
      std::vector<std::string> all{"build", "--seed", "1", "--threads", num_threads, "--force", "-o", path};
      all.insert(all.end(), flags.begin(), flags.end());
      if (!from_pipe) all.push_back(lines);
      return run_tally(all, from_pipe ? text : "");
    };
    const CommandResult one = build("1", false);
    const std::string file = one.exit_code == 0 ? read_file(path) : "";
    EXPECT_EQ(one.exit_code, flags.size() > 1 && flags[1] == "1K" ? 2 : 0);
    for (const auto& [num_threads, from_pipe] :
         {std::pair("2", false), std::pair("4", false), std::pair("1", true), std::pair("3", true)}) {
      if (from_pipe && flags.empty()) continue;
      const CommandResult other = build(num_threads, from_pipe);
      EXPECT_EQ(other.exit_code, one.exit_code);
      if (one.exit_code == 0) {
        EXPECT_EQ(other.error, one.error);
        EXPECT_TRUE(read_file(path) == file) << testing::PrintToString(flags) << num_threads << from_pipe;
      } else {
        EXPECT_THAT(other.error, HasSubstr("is full"));
      }
    }
  }
}

TEST_F(FilterCommands, AnInterruptOfABuildFromAnIdlePipeEndsItWithoutAFile) {
  for (const char* num_threads : {"1", "2", "4"}) {
    RunningCommand command(
        {TALLY_COMMAND, "build", "--keys", "100", "--threads", num_threads, "-o", directory / "filter"});
    command.write("a\nb\n");
    usleep(200'000);
    command.send(SIGINT);
    EXPECT_EQ(command.wait().exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(directory / "filter"));
  }
}

TEST_F(FilterCommands, QueryInAnyNumberOfThreadsPrintsWhatOneDoes) {
  const std::string lines = directory / "lines";
  std::ofstream(lines) << zipf_lines(100'000, 30'000, 0.7, 1);
  const std::string path = directory / "filter";
  ASSERT_EQ(
      run_tally({"build", "-q", "--seed", "1", "-n", "10K", "-p", "20%", "-o", path}, numbers(1, 15'000))
          .exit_code,
      0);
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{},
                                             {"-v"},
                                             {"-c"},
                                             {"--json"},
                                             {"-v", "--json"},
                                             {"-d", "1", "-f", "2", "--skip-bad", "--line"}}) {
    std::vector<CommandResult> results;
    for (const char* num_threads : {"1", "2", "4"}) {
      std::vector<std::string> all{"query", "--threads", num_threads, path, lines, lines};
      all.insert(all.end(), flags.begin(), flags.end());
      results.push_back(run_tally(all));
    }
    EXPECT_GT(results[0].output.size(), 4u);
    for (std::size_t i = 1; i < results.size(); ++i) {
      EXPECT_TRUE(results[i].output == results[0].output) << testing::PrintToString(flags);
      EXPECT_EQ(results[i].error, results[0].error);
      EXPECT_EQ(results[i].exit_code, results[0].exit_code);
    }
  }
}

TEST_F(FilterCommands, AFullDLeftFilterIsAnErrorThatNamesTheFixAndWritesNothing) {
  const std::string path = directory / "d";
  const CommandResult full = run_tally({"build", "--kind", "dleft", "-n", "100", "-o", path}, keys);
  EXPECT_EQ(full.exit_code, 2);
  for (const char* part : {"the filter is full", "was not written", "--keys", "--max-doublings"}) {
    EXPECT_THAT(full.error, HasSubstr(part));
  }
  EXPECT_FALSE(std::filesystem::exists(path));

  std::string often;
  for (int i = 0; i < 9; ++i) often += numbers(1, 500);
  const CommandResult spilled =
      run_tally({"build", "--kind", "dleft", "-n", "1000", "-m", "8KiB", "-o", path}, often);
  EXPECT_EQ(spilled.exit_code, 2);
  EXPECT_THAT(spilled.error, HasSubstr("its side table holds"));
  EXPECT_THAT(spilled.error, HasSubstr("--frequent-keys"));
  build("d", {"--kind", "dleft", "-n", "1000", "--frequent-keys", "500"}, often);

  // Without a bound of the memory, the side table takes what comes.
  const std::string grown = build("g", {"--kind", "dleft", "-n", "1000", "-p", "0.01%"}, often);
  EXPECT_GE(Json::parse(run_tally({"info", "--json", grown}).output)["shape"]["spill_capacity"], 500);
  std::string wanted;
  for (int i = 1; i <= 500; ++i) wanted += "9\t" + std::to_string(i) + '\n';
  EXPECT_EQ(run_tally({"count", grown}, numbers(1, 500)).output, wanted);

  const std::string small = build("s", {"--kind", "dleft", "-n", "100"}, numbers(1, 100));
  const CommandResult added = run_tally({"add", small}, keys);
  EXPECT_EQ(added.exit_code, 2);
  EXPECT_THAT(added.error, HasSubstr("the filter is full"));
  EXPECT_EQ(run_tally({"query", "-c", small}, numbers(1, 100)).output, "100\n");
  EXPECT_EQ(Json::parse(run_tally({"info", "--json", small}).output)["num_insertions"], 100);
}

TEST_F(FilterCommands, ADLeftFilterThatMayDoubleGrowsAndMerges) {
  const std::string path = build("d", {"--kind", "dleft", "-n", "100", "--max-doublings", "4"}, keys);
  // It was planned for 1600 keys: nobody need be warned of 1000.
  EXPECT_EQ(run_tally({"build", "-q", "--kind", "dleft", "-n", "100", "--max-doublings", "4", "-o",
                       directory / "q"},
                      keys)
                .error,
            "");
  EXPECT_EQ(run_tally({"query", path}, keys).output, keys);
  EXPECT_GE(Json::parse(run_tally({"info", "--json", path}).output)["shape"]["num_doublings"], 3);
  const std::string other =
      build("e", {"--kind", "dleft", "-n", "100", "--max-doublings", "4"}, numbers(1001, 1100));
  const CommandResult merged = run_tally({"merge", "-o", directory / "m", other, path});
  EXPECT_EQ(merged.exit_code, 0) << merged.error;
  EXPECT_EQ(run_tally({"query", directory / "m"}, numbers(1, 1100)).output, numbers(1, 1100));
}

TEST_F(FilterCommands, AMergeOfDLeftFiltersThatDoesNotFitIsAnErrorAndWritesNothing) {
  const std::string a = build("a", {"--kind", "dleft", "-n", "1000"}, numbers(1, 1000));
  const std::string b = build("b", {"--kind", "dleft", "-n", "1000"}, numbers(1001, 2000));
  const CommandResult merged = run_tally({"merge", "-o", directory / "m", a, b});
  EXPECT_EQ(merged.exit_code, 2);
  EXPECT_THAT(merged.error, HasSubstr("is full"));
  EXPECT_FALSE(std::filesystem::exists(directory / "m"));
}

TEST_F(FilterCommands, ADLeftFilterIsPlannedForAMemoryThatItNeverExceeds) {
  const auto built = [&](const std::string& name, std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"--kind", "dleft"});
    return Json::parse(run_tally({"info", "--json", build(name, flags, keys)}).output);
  };
  const Json from_keys = built("a", {"-n", "1000", "-m", "6KiB"});
  EXPECT_LE(from_keys["memory_bytes"], 6 * 1024);
  EXPECT_GT(from_keys["memory_bytes"], 5 * 1024);
  const Json from_rate = built("b", {"-p", "0.1%", "-m", "64KiB"});
  EXPECT_LE(from_rate["memory_bytes"], 64 * 1024);
  EXPECT_GT(from_rate["memory_bytes"], 63 * 1024);
  EXPECT_LE(from_rate["estimated_false_positive_rate"], 0.001);
  const Json alone = built("c", {"-m", "64KiB"});  // 1%
  EXPECT_LE(alone["memory_bytes"], 64 * 1024);
  EXPECT_GT(alone["num_keys_at_one_percent"], 25'000);
  EXPECT_EQ(
      run_tally({"build", "--kind", "dleft", "-n", "100000", "-m", "6KiB", "-o", directory / "d"}).exit_code,
      2);
}

TEST_F(FilterCommands, FlagsSpellOutTheShapeOfADLeftFilter) {
  const auto shape_of = [&](const std::string& name, std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"--kind", "dleft", "--buckets-per-subtable", "64", "--num-subtables", "4",
                                 "--cells-per-bucket", "8", "--remainder-bits", "14"});
    return Json::parse(run_tally({"info", "--json", build(name, flags, keys)}).output)["shape"];
  };
  const Json paper = shape_of("a", {});
  EXPECT_EQ(paper["buckets_per_subtable"], 64);
  EXPECT_EQ(paper["num_subtables"], 4);
  EXPECT_EQ(paper["cells_per_bucket"], 8);
  EXPECT_EQ(paper["remainder_bits"], 14);
  EXPECT_EQ(paper["counter_bits"], 2);
  EXPECT_EQ(paper["least_remainder_bits"], 14);
  EXPECT_EQ(paper["spill_capacity"], 64);
  EXPECT_EQ(paper["moves"], "search");
  EXPECT_EQ(paper["grows"], false);
  EXPECT_EQ(paper["scheme"], "rotation");
  const Json other = shape_of("b", {"--scheme", "multiplier", "--spill-capacity", "0", "--moves",
                                    "first-subtable", "--max-doublings", "3", "--counter-bits", "2"});
  EXPECT_EQ(other["least_remainder_bits"], 11);
  EXPECT_EQ(other["spill_capacity"], 0);
  EXPECT_EQ(other["moves"], "first-subtable");
  EXPECT_EQ(other["grows"], true);
  EXPECT_EQ(other["scheme"], "multiplier");
}

TEST_F(FilterCommands, TheShapeOfADLeftFilterSpelledOutIsTheSameShape) {
  const std::string path =
      build("a", {"--kind", "dleft", "-n", "1000", "--max-doublings", "3"}, numbers(1, 900));
  const Json shape = Json::parse(run_tally({"info", "--json", path}).output)["shape"];
  ASSERT_EQ(shape["num_doublings"], 0);
  const auto number = [&](const char* field) { return std::to_string(shape[field].get<std::uint64_t>()); };
  const std::uint64_t max_doublings =
      shape["remainder_bits"].get<std::uint64_t>() - shape["least_remainder_bits"].get<std::uint64_t>();
  const std::string again =
      build("b",
            {"--kind", "dleft", "--buckets-per-subtable", number("buckets_per_subtable"), "--num-subtables",
             number("num_subtables"), "--cells-per-bucket", number("cells_per_bucket"), "--remainder-bits",
             number("remainder_bits"), "--counter-bits", number("counter_bits"), "--spill-capacity",
             number("spill_capacity"), "--moves", shape["moves"].get<std::string>(), "--max-doublings",
             std::to_string(max_doublings)},
            numbers(1, 900));
  EXPECT_EQ(read_file(path), read_file(again));
}

TEST_F(FilterCommands, ThePlannedDLeftFilterIsTheOneThatIsBuilt) {
  const std::vector<std::string> wanted = {"-n", "1000", "-p", "0.1%", "--unique-keys", "--max-doublings",
                                           "2"};
  std::vector<std::string> arguments = {"plan", "--json", "--deletes"};
  arguments.insert(arguments.end(), wanted.begin(), wanted.end());
  const std::string plan = run_tally(arguments).output;
  std::vector<std::string> flags = {"--kind", "dleft"};
  flags.insert(flags.end(), wanted.begin(), wanted.end());
  const std::string shape = directory.write("plan.json", plan);
  EXPECT_EQ(read_file(build("a", flags, keys)),
            read_file(build("b", {"--kind", "dleft", "--shape", shape}, keys)));
  flags.insert(flags.end(), {"--num-subtables", "2"});
  const Json two = Json::parse(run_tally({"info", "--json", build("c", flags, keys)}).output);
  EXPECT_EQ(two["shape"]["num_subtables"], 2);
}

TEST_F(FilterCommands, ACompactFilterIsBuiltAsPlannedOrSpelledOut) {
  const std::vector<std::string> wanted = {"-n", "1000", "-p", "0.2%", "--unique-keys"};
  std::vector<std::string> flags = {"--kind", "compact-dleft"};
  flags.insert(flags.end(), wanted.begin(), wanted.end());
  const std::string path = build("a", flags, numbers(1, 900));
  std::vector<std::string> arguments = {"plan", "--json", "--deletes"};
  arguments.insert(arguments.end(), wanted.begin(), wanted.end());
  const std::string plan = run_tally(arguments).output;
  EXPECT_EQ(Json::parse(plan)["recommended"], "compact-dleft");
  const std::string planned = build("b", {"--shape", directory.write("plan.json", plan)}, numbers(1, 900));
  EXPECT_EQ(read_file(path), read_file(planned));
  const Json shape = Json::parse(run_tally({"info", "--json", path}).output)["shape"];
  const auto number = [&](const char* field) { return std::to_string(shape[field].get<std::uint64_t>()); };
  const std::string spelled_out =
      build("c",
            {"--kind", "compact-dleft", "--lines-per-subtable", number("num_lines_per_subtable"),
             "--remainder-bits", number("remainder_bits"), "--spill-capacity", number("spill_capacity"),
             "--moves", shape["moves"].get<std::string>()},
            numbers(1, 900));
  EXPECT_EQ(read_file(path), read_file(spelled_out));
}

TEST_F(FilterCommands, ACompactFilterRemovesMergesAndShowsItsLines) {
  const std::vector<std::string> flags = {"--kind", "compact-dleft",    "--lines-per-subtable",
                                          "20",     "--remainder-bits", "14"};
  const std::string first = build("a", flags, numbers(1, 400));
  const std::string second = build("b", flags, numbers(401, 500));
  const std::string both = directory / "both";
  EXPECT_EQ(run_tally({"merge", "-o", both, first, second}).exit_code, 0);
  EXPECT_EQ(run_tally({"remove", both}, numbers(1, 250)).exit_code, 0);
  EXPECT_EQ(run_tally({"query", both}, numbers(245, 255)).output, numbers(251, 255));
  const Json info = Json::parse(run_tally({"info", "--json", both}).output);
  EXPECT_EQ(info["compact_dleft"]["num_keys"], 250);
  EXPECT_EQ(info["compact_dleft"]["loads"].size(), 2u);
  const std::string text = run_tally({"info", both}).output;
  EXPECT_NE(text.find("1240: 2 subtables of 20 lines of 31"), std::string::npos) << text;
  EXPECT_NE(text.find("cells in use  subtable 1  subtable 2"), std::string::npos) << text;
}

TEST_F(FilterCommands, AFullCompactFilterSaysWhatToDo) {
  const std::vector<std::string> flags = {"--kind", "compact-dleft",    "--lines-per-subtable",
                                          "1",      "--remainder-bits", "9"};
  std::vector<std::string> arguments = {"build", "-o", directory / "full"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  const auto full = run_tally(arguments, numbers(1, 200));
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_NE(full.error.find("the filter is full: 86 of its 86 cells are in use"), std::string::npos)
      << full.error;
  arguments.insert(arguments.end(), {"--spill-capacity", "1"});
  const auto spilled = run_tally(arguments, "a\na\na\na\nb\nb\nb\nb\n");
  EXPECT_EQ(spilled.exit_code, 2);
  EXPECT_NE(spilled.error.find("its side table holds 1 fingerprints, of keys that occur more than 3 times"),
            std::string::npos)
      << spilled.error;
}

TEST_F(FilterCommands, FlagsThatACompactFilterDoesNotHaveAreRefusedWithTheFix) {
  const auto refused = [&](std::vector<std::string> flags, const char* part) {
    flags.insert(flags.begin(), {"build", "-o", directory / "x", "--kind", "compact-dleft"});
    const auto result = run_tally(flags, keys);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.error.find(part), std::string::npos) << result.error;
  };
  refused({"-n", "10"}, "--unique-keys: a compact-dleft filter is planned for keys that are in it once");
  refused({"--num-subtables", "2"}, "--num-subtables: a compact-dleft filter does not have this option");
  refused({"--max-doublings", "2"}, "--max-doublings: a compact-dleft filter does not have this option");
  refused({"--remainder-bits", "9"}, "--lines-per-subtable and --remainder-bits define a shape together");
  refused({"--lines-per-subtable", "9", "--remainder-bits", "9", "-n", "10"},
          "--lines-per-subtable: it gives the exact shape");
  refused({"--lines-per-subtable", "9", "--remainder-bits", "7"}, "--remainder-bits is 7; must be 8 to 14");
  refused({"--num-positions", "9", "--num-hashes", "2"},
          "a compact-dleft filter has lines with cells instead");
}

TEST_F(FilterCommands, FlagsThatADLeftFilterDoesNotHaveAreRefusedWithTheFix) {
  const auto refused = [&](std::vector<std::string> flags, const char* part) {
    std::vector<std::string> arguments{"build", "-o", directory / "x"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const CommandResult result = run_tally(arguments, keys);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.error, HasSubstr(part));
  };
  refused({"--kind", "dleft", "-k", "3", "--num-positions", "100"}, "or --keys, or --shape");
  refused({"--kind", "dleft", "-m", "100"}, "--memory is 100");
  refused({"--kind", "dleft", "-m", "1MiB", "--scheme", "multiplier"}, "cannot use the number of buckets");
  refused({"--kind", "dleft", "-n", "10", "-m", "1MiB", "-p", "1%"}, "leave one of the three out");
  refused({"--kind", "dleft", "-n", "10", "--counter-bits", "2"},
          "--counter-bits: for a dleft filter it is part of the exact shape");
  refused({"--kind", "dleft", "-n", "10", "--num-subtables", "7"}, "--num-subtables is 7; must be 2 to 4");
  refused({"--kind", "dleft", "-n", "10", "--remainder-bits", "6"},
          "--remainder-bits: it gives the exact shape, but --keys");
  refused({"--kind", "dleft", "--remainder-bits", "6"}, "give all four");
  std::vector<std::string> shape = {"--kind",
                                    "dleft",
                                    "--num-subtables",
                                    "2",
                                    "--buckets-per-subtable",
                                    "10",
                                    "--cells-per-bucket",
                                    "8",
                                    "--remainder-bits",
                                    "9"};
  refused(shape, "--remainder-bits + --counter-bits is 11; must be 8, 12, 16, 24 or 32");
  shape.insert(shape.end(), {"--counter-bits", "3", "--max-doublings", "9"});
  refused(shape, "--max-doublings: '9' is too large; must be less than --remainder-bits, which is 9");
  shape.back() = "2";
  shape.emplace_back("--unique-keys");
  refused(shape, "--unique-keys: it is for planning");
  refused({"-n", "10", "--moves", "none"},
          "--moves: a bloom filter does not have this option; use --kind dleft");
  refused({"-n", "10", "--num-subtables", "2"}, "--num-subtables: a bloom filter does not have this option");
  refused({"-n", "10", "--kind", "counting-bloom", "--counter-bits", "0"}, "'0' is too small");
  refused({"--kind", "dleft", "-n", "10", "--unique-keys", "--frequent-keys", "3"}, "--frequent-keys");
  refused({"--kind", "dleft", "-n", "10", "--failure-probability", "2"}, "--failure-probability");
  refused({"--kind", "dleft", "-n", "10", "-t", "3"},
          "--threshold: a dleft filter does not have this option");
  refused({"--kind", "dleft", "-n", "10", "--scheme", "triple"}, "must be one of rotation, multiplier");
  refused({"-n", "10", "--frequent-keys", "3"},
          "--frequent-keys: a bloom filter does not have this option; use --kind dleft");
  refused({"-n", "10", "--max-doublings", "3"}, "--max-doublings: a bloom filter does not have this option");
}

}  // namespace
}  // namespace tally::test
