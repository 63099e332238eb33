// Files of tally top --save and of windows: written, ranked together, merged, shown, and refused by every other command.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "command_runner.hpp"
#include "key_report.hpp"
#include "key_streams.hpp"
#include "running_command.hpp"
#include "tally/serialization/sketch_files.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

class SketchFileCommands : public ::testing::Test {
 protected:
  /// The file of a run over these lines.
  std::string saved(const std::string& name, const std::string& input, Arguments flags = {}) {
    const std::string path = directory / name;
    flags.insert(flags.begin(), {"top", "--save", path, "--force"});
    const CommandResult result = run_tally(flags, input);
    EXPECT_LE(result.exit_code, 1) << result.error;
    return path;
  }
  std::string window_file() {
    CountMinWindow<PairwiseRows> window({50, 3, 1, 32}, 0x74616c6c79);
    window.add("apple", 5);
    window.advance();
    window.add("apple", 7);
    save(window, directory / "window", Overwrite::replace);
    return directory / "window";
  }
  void refused(const Arguments& line, const std::string& message, const std::string& input = "a\n") {
    const CommandResult result = run_tally(line, input);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_THAT(result.output, IsEmpty()) << message;
    EXPECT_THAT(result.error, HasSubstr(message));
  }

  TemporaryDirectory directory;
};

TEST_F(SketchFileCommands, WhatWasSavedIsPrintedAsTheRunPrintedIt) {
  const std::string input = zipf_lines(30'000, 10'000, 1.0, 1);
  for (const Arguments& flags : std::vector<Arguments>{
           {}, {"--memory", "64KiB"}, {"--memory", "64KiB", "--method", "space-saving"}, {"--error", "1%"}}) {
    const std::string path = directory / "saved";
    for (const Arguments& print :
         std::vector<Arguments>{{}, {"25"}, {"-e"}, {"--share", "2%"}, {"--json", "5"}, {"-z"}}) {
      Arguments line{"top", "--save", path, "--force"};
      line.insert(line.end(), flags.begin(), flags.end());
      line.insert(line.end(), print.begin(), print.end());
      std::string lines = input;
      if (print == Arguments{"-z"}) std::ranges::replace(lines, '\n', '\0');
      const CommandResult run = run_tally(line, lines);
      ASSERT_EQ(run.exit_code, 0) << run.error;
      EXPECT_THAT(run.error, AllOf(HasSubstr("saved to '" + path + "'"), HasSubstr("seed 499850701945")));
      Arguments again{"top"};
      again.insert(again.end(), print.begin(), print.end());
      again.insert(again.end(), {"--from", path});
      const CommandResult ranked = run_tally(again);
      EXPECT_EQ(ranked.exit_code, 0) << ranked.error;
      if (print.empty() || print[0] != "--json") {
        EXPECT_EQ(ranked.output, run.output);
        continue;
      }
      std::vector<Json> before = json_lines(run.output), after = json_lines(ranked.output);
      ASSERT_EQ(after.size(), 6u);
      for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(after[i], before[i]);
      EXPECT_EQ(after[5]["summary"]["num_files"], 1);
      for (const char* field : {"total", "num_keys", "num_certain", "others_at_most", "not_kept_at_most",
                                "num_candidates", "hash", "seed"}) {
        EXPECT_EQ(after[5]["summary"][field], before[5]["summary"][field]) << field;
      }
      EXPECT_FALSE(after[5]["summary"].contains("num_lines"));
    }
  }
}

TEST_F(SketchFileCommands, FilesOfSeveralMachinesAreRankedTogetherWithinTheirBounds) {
  std::vector<std::string> paths;
  std::string all;
  const Arguments small{"--memory", "64KiB"};
  for (const Arguments& flags :
       std::vector<Arguments>{small, {"--memory", "64KiB", "--method", "space-saving"}}) {
    paths.clear();
    all.clear();
    for (int machine = 0; machine < 4; ++machine) {
      const std::string input = zipf_lines(20'000, 5'000, 1.0, 10 + machine);
      all += input;
      paths.push_back(saved("m" + std::to_string(machine), input, flags));
    }
    const Counts exact = count_exactly(split_keys(all));
    const auto expect_bounds = [&](const Arguments& files) {
      Arguments line{"top", "50", "--json", "--from"};
      line.insert(line.end(), files.begin(), files.end());
      const std::vector<Json> lines = json_lines(run_tally(line).output);
      ASSERT_EQ(lines.size(), 51u);
      const Json& summary = lines.back()["summary"];
      EXPECT_EQ(summary["total"], 80'000);
      EXPECT_GT(summary["num_certain"], 0);
      EXPECT_GT(summary["not_kept_at_most"], 0);  // so it is no exact count that is tested here
      for (std::size_t i = 0; i < 50; ++i) {
        const std::uint64_t truth = exact.at(lines[i]["key"].get<std::string>());
        EXPECT_GE(lines[i]["count"].get<std::uint64_t>(), truth);
        EXPECT_LE(lines[i]["count"].get<std::uint64_t>() - lines[i]["error"].get<std::uint64_t>(), truth);
      }
      std::map<std::string, bool> is_printed;
      for (std::size_t i = 0; i < 50; ++i) is_printed[lines[i]["key"].get<std::string>()] = true;
      for (const auto& [key, truth] : exact) {
        if (!is_printed.contains(key)) {
          EXPECT_LE(truth, summary["others_at_most"].get<std::uint64_t>()) << key;
        }
      }
    };
    expect_bounds(paths);
    const std::string merged = directory / "merged";
    Arguments merge{"merge", "--force", "-o", merged};
    merge.insert(merge.end(), paths.begin(), paths.end());
    const CommandResult result = run_tally(merge);
    ASSERT_EQ(result.exit_code, 0) << result.error;
    EXPECT_THAT(result.error, AllOf(HasSubstr("merged 4 "), HasSubstr("total count 80000")));
    expect_bounds({merged});
    Arguments together{"top", "100", "--from"};
    together.insert(together.end(), paths.begin(), paths.end());
    EXPECT_EQ(run_tally(together).output, run_tally({"top", "100", "--from", merged}).output);
  }
}

TEST_F(SketchFileCommands, SumsAreSavedToo) {
  const std::string a = saved("a", "x\t10\ny\t5\n", {"-f", "1", "--sum", "2"});
  const std::string b = saved("b", "y\t20\n", {"-f", "1", "--sum", "2"});
  EXPECT_EQ(run_tally({"top", "--from", a, b}).output, "25\ty\n10\tx\n");
  EXPECT_EQ(run_tally({"top", "--share", "80%", "--from", a, b}).exit_code, 1);  // nothing is above it
  EXPECT_EQ(run_tally({"top", "--from", saved("empty", "")}).exit_code, 1);
}

TEST_F(SketchFileCommands, AKeyedHashNeedsItsKeyFile) {
  const std::string secret = directory.write("secret", std::string(32, 'x'));
  const std::string path = saved("keyed", "a\na\nb\n", {"--key-file", secret});
  EXPECT_EQ(run_tally({"top", "--key-file", secret, "--from", path, path}).output, "4\ta\n2\tb\n");
  EXPECT_EQ(run_tally({"merge", "--key-file", secret, "-o", directory / "m", path, path}).exit_code, 0);
  EXPECT_THAT(run_tally({"info", "--key-file", secret, path}).output, HasSubstr("key id"));
  refused({"top", "--from", path}, path + ": tally file: made with the keyed hash");
  refused({"info", path}, path + ": tally file: made with the keyed hash");
  refused({"top", "--keyed", "--save", directory / "x"}, "--save excludes --keyed");
}

TEST_F(SketchFileCommands, ARunThatIsInterruptedIsSavedAndOneThatFailsIsNot) {
  const std::string path = directory / "saved";
  RunningCommand running({TALLY_COMMAND, "top", "--save", path});
  running.write("a\na\nb\n");
  while (!running.has_read_all()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  running.send(SIGINT);
  EXPECT_EQ(running.wait().exit_code, 0);
  EXPECT_EQ(run_tally({"top", "--from", path}).output, "2\ta\n1\tb\n");
  refused({"top", "--sum", "2", "--save", directory / "none"}, "--sum", "a\tx\n");
  EXPECT_FALSE(std::filesystem::exists(directory / "none"));
  EXPECT_EQ(directory.num_files(), 1u);
}

TEST_F(SketchFileCommands, StatesAndSavedFilesGoTogether) {
  const std::string state = directory / "state";
  saved("first", "a\nb\n", {"--state", state});
  const std::string path = saved("second", "b\nc\n", {"--state", state});
  EXPECT_EQ(run_tally({"top", "--from", path}).output, "2\tb\n1\ta\n1\tc\n");
  refused({"top", "--state", state, "--save", state, "--force"}, "--save and --state both name");
  const std::string link = directory / "link";
  std::filesystem::create_symlink("state", link);
  refused({"top", "--state", state, "--save", link, "--force"}, "--save and --state both name");
}

TEST_F(SketchFileCommands, WhatIsThereIsReplacedOnlyWithForce) {
  const std::string path = saved("saved", "a\n");
  const std::string bytes = read_file(path);
  refused({"top", "--save", path}, "--save: '" + path + "' exists; give --force to overwrite it");
  EXPECT_EQ(read_file(path), bytes);
  const std::string input = directory.write("input", "a\n");
  refused({"top", "--save", input, "--force", input}, "input file is output file");
  refused({"top", "--save", "-"}, "--save: '-' is standard output, which has the keys; give a file");
  refused({"top", "--save", directory / "no/such"}, "no/such");
  refused({"top", "--force"}, "--force requires --save");
}

TEST_F(SketchFileCommands, FromReadsNoInputAndTakesNoOptionOfOne) {
  const std::string path = saved("saved", "a\n");
  for (const Arguments& flags : std::vector<Arguments>{{"--window", "5m"},
                                                       {"--sum", "2"},
                                                       {"--fields", "1"},
                                                       {"--delimiter", ","},
                                                       {"--time", "1"},
                                                       {"--skip-bad"},
                                                       {"--slots", "3"},
                                                       {"--interval", "5s"},
                                                       {"--memory", "1MiB"},
                                                       {"--error", "1%"},
                                                       {"--method", "sketch"},
                                                       {"--state", "x"},
                                                       {"--save", "x"},
                                                       {"--exact"},
                                                       {"--seed", "5"},
                                                       {"--keyed"},
                                                       {"--no-decompress"}}) {
    Arguments line{"top"};
    line.insert(line.end(), flags.begin(), flags.end());
    line.insert(line.end(), {"--from", path});
    const CommandResult result = run_tally(line);
    EXPECT_EQ(result.exit_code, 2) << flags[0];
    EXPECT_THAT(result.error, AllOf(HasSubstr("excludes"), HasSubstr("--from"), HasSubstr(flags[0])));
  }
  refused({"top", path, "--from", path}, "'" + path + "' and --from are both given: --from reads no input");
  refused({"top", "--save", directory / "x", "--window", "5m"}, "excludes");
  EXPECT_EQ(directory.num_files(), 1u);
}

TEST_F(SketchFileCommands, AShareThatTheFilesCannotAnswerIsRefused) {
  std::string input;
  for (int i = 0; i < 3000; ++i) input += "k" + std::to_string(i) + "\n";
  const std::string path = saved("small", input, {"5", "--error", "10%"});
  refused({"top", "--share", "0.01%", "--from", path}, "a key that is not in the files may have");
  EXPECT_EQ(run_tally({"top", "--share", "50%", "--from", path}).exit_code, 1);
}

TEST_F(SketchFileCommands, FilesThatDifferAreRefusedByNameAndNothingIsWritten) {
  const std::string a = saved("a", "a\n");
  const std::string out = directory / "out";
  const auto both_refuse = [&](const std::string& b, const std::string& message) {
    refused({"merge", "-o", out, a, b}, message);
    refused({"top", "--from", a, b}, message);
    EXPECT_FALSE(std::filesystem::exists(out));
  };
  const auto differ = [&](const std::string& b, const std::string& field, const std::string& here,
                          const std::string& there) {
    both_refuse(b, "cannot merge: " + field + " is " + here + " in '" + a + "' and " + there + " in '" + b +
                       "'; save both with the same --seed, --error and --memory");
  };
  differ(saved("seed", "a\n", {"--seed", "5"}), "seed", "499850701945", "5");
  differ(saved("method", "a\n", {"--method", "space-saving"}), "kind", "top-keys", "space-saving");
  differ(saved("error", "a\n", {"--error", "1%"}), "capacity", "16384", "100");
  const std::string bloom = directory / "bloom";
  ASSERT_EQ(run_tally({"build", "-q", "-n", "9", "-o", bloom}, "a\n").exit_code, 0);
  both_refuse(bloom, bloom +
                         ": is a bloom file; must be top-keys, space-saving or "
                         "count-min-window (at byte 10); 'tally query'");
  refused({"merge", "-o", out, bloom, a}, a + ": is a top-keys file; must be a filter");
  refused({"top", "--from", window_file()},
          "is a count-min-window file; must be top-keys or space-saving (at byte 10); 'tally merge'");
}

TEST_F(SketchFileCommands, WindowsMergeAndAreShown) {
  const std::string path = window_file();
  const std::string merged = directory / "merged";
  const CommandResult result = run_tally({"merge", "--json", "-o", merged, path, path, path});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(Json::parse(result.output)["sketch"]["total_count"], 36);
  const auto window = load_sketch<CountMinWindow<PairwiseRows>>(merged);
  EXPECT_EQ(window.newer().estimate("apple").value, 21u);
  EXPECT_EQ(window.older().estimate("apple").value, 15u);
  EXPECT_THAT(run_tally({"info", merged}).output,
              AllOf(HasSubstr("kind                 count-min-window\n"),
                    HasSubstr("scheme               pairwise\n"), HasSubstr("total of newer half  21\n"),
                    HasSubstr("total of older half  15\n")));
  const Json info = Json::parse(run_tally({"info", "--json", merged}).output);
  EXPECT_EQ(info["shape"]["kind"], "count-min-window");
  EXPECT_EQ(info["shape"]["width"], 50);
  EXPECT_EQ(info["newer"]["total_count"], 21);
  EXPECT_EQ(info["body_verified"], true);
}

TEST_F(SketchFileCommands, InfoShowsWhatTopSaved) {
  const std::string path = saved("top", "a\na\nb\n");
  EXPECT_THAT(
      run_tally({"info", path}).output,
      AllOf(HasSubstr("kind                 top-keys\n"), HasSubstr("seed 499850701945\n"),
            HasSubstr("candidates           2 of 16384\n"),
            HasSubstr("counters             4 rows of 65536\n"), HasSubstr("total count          3\n"),
            HasSubstr("a count is           at most 0 too high\n"), HasSubstr("checksum verified")));
  const Json info = Json::parse(run_tally({"info", "--json", path}).output);
  EXPECT_EQ(info["shape"]["kind"], "top-keys");
  EXPECT_EQ(info["shape"]["capacity"], 16384);
  EXPECT_EQ(info["num_candidates"], 2);
  EXPECT_EQ(info["total_count"], 3);
  EXPECT_EQ(info["not_kept_at_most"], 0);
  EXPECT_EQ(info["problems"], Json::array());
  const std::string saving =
      saved("saving", "a\na\nb\n", {"--method", "space-saving", "1", "--error", "60%"});
  const Json of_saving = Json::parse(run_tally({"info", "--json", saving}).output);
  EXPECT_EQ(of_saving["shape"], Json::parse(R"({"kind": "space-saving", "capacity": 2})"));
  refused({"info", "--plot", path}, "--plot: a top-keys file has no plot");
  refused({"info", "-p", "1%", path}, "--false-positive-rate: a top-keys file has no such rate");
  // From a pipe, which can be read only once.
  EXPECT_EQ(run_shell("cat " + path + " | $TALLY info /dev/stdin").output, run_tally({"info", path}).output);
  EXPECT_EQ(run_shell("cat " + path + " | $TALLY top --from /dev/stdin").output, "2\ta\n1\tb\n");
}

/// BAD is the file; OUT is to be written.
const std::map<std::string, std::vector<Arguments>>& other_readers() {
  static const std::map<std::string, std::vector<Arguments>> table{
      {"filters",
       {{"add", "BAD"},
        {"remove", "BAD"},
        {"halve", "BAD"},
        {"query", "BAD"},
        {"query", "--no-verify", "BAD"},
        {"count", "BAD"},
        {"build", "-o", "OUT", "--like", "BAD"},
        {"verify", "--file", "BAD", "--trials", "2"}}},
      {"summaries",
       {{"diff", "BAD"},
        {"patch", "BAD", "/dev/null"},
        {"watch", "BAD"},
        {"node", "n", "--redis", "unix:///nonexistent", "--load", "BAD"}}}};
  return table;
}

TEST_F(SketchFileCommands, EveryOtherCommandSaysWhatTheFileIsAndWhoReadsIt) {
  const std::map<std::string, std::pair<std::string, std::string>> files{
      {"top-keys", {saved("top", "a\n"), "'tally top --from' prints its keys"}},
      {"space-saving", {saved("saving", "a\n", {"--method", "space-saving"}), "'tally top --from'"}},
      {"count-min-window", {window_file(), "'tally merge' merges such files, 'tally info' describes it"}}};
  for (const auto& [kind, file] : files) {
    for (const auto& [group, lines] : other_readers()) {
      for (Arguments line : lines) {
        std::ranges::replace(line, std::string("BAD"), file.first);
        std::ranges::replace(line, std::string("OUT"), directory / "out");
        refused(line, file.first + ": is a " + kind + " file; must be a filter (at byte 10); ");
        refused(line, file.second);
        EXPECT_FALSE(std::filesystem::exists(directory / "out"));
      }
    }
  }
}

TEST_F(SketchFileCommands, ADamagedFileIsRefusedByNameWherever) {
  const std::string good = saved("good", zipf_lines(2'000, 500, 1.0, 1), {"--memory", "64KiB"});
  const std::string bytes = read_file(good);
  for (std::size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 40) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    const std::string bad = directory.write("bad", flipped);
    for (const Arguments& line : std::vector<Arguments>{{"top", "--from", bad},
                                                        {"top", "--from", good, bad},
                                                        {"info", bad},
                                                        {"merge", "-o", directory / "out", good, bad},
                                                        {"merge", "-o", directory / "out", bad, good}}) {
      const CommandResult result = run_tally(line);
      EXPECT_EQ(result.exit_code, 2) << at;
      EXPECT_THAT(result.output, IsEmpty()) << at;
      EXPECT_THAT(result.error,
                  AllOf(HasSubstr(bad + ": "), HasSubstr("(at byte "), Not(HasSubstr(good + " "))));
      EXPECT_FALSE(std::filesystem::exists(directory / "out"));
    }
  }
}

}  // namespace
}  // namespace tally::test
