#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "key_streams.hpp"
#include "simulated_reads.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* variable = "TALLY_INSTRUCTION_SET";

/// Commands started while this lives see this value of the variable; none where it is null.
class Environment {
 public:
  explicit Environment(const char* value) {
    if (const char* const before = std::getenv(variable)) before_ = before;
    set(value);
  }
  ~Environment() { set(before_ ? before_->c_str() : nullptr); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  static void set(const char* value) {
    if (value == nullptr) {
      unsetenv(variable);
    } else {
      setenv(variable, value, 1);
    }
  }
  std::optional<std::string> before_;
};

CommandResult run_with(const std::string& set, std::vector<std::string> arguments,
                       const std::string& input = "") {
  const Environment environment(set.c_str());
  return run_tally(std::move(arguments), input);
}

std::string version_line() { return split_keys(run_tally({"--version"}).output).at(1); }

/// Those the command was compiled for, as it lists them.
std::vector<std::string> compiled_sets() {
  const std::string line = version_line();
  std::vector<std::string> sets;
  for (std::size_t at = line.find(" of ") + 4; at < line.size();) {
    const std::size_t end = std::min(line.find(", ", at), line.size());
    sets.push_back(line.substr(at, end - at));
    at = end + 2;
  }
  return sets;
}

/// All that commands print and write of these keys and bases, whose numbers of lines are no multiples of what vectors
/// hold.
std::vector<std::string> results(const std::string& keys, const std::string& others,
                                 const std::string& bases) {
  TemporaryDirectory directory;
  std::vector<std::string> all;
  const auto run = [&](std::vector<std::string> arguments, const std::string& input) {
    const CommandResult result = run_tally(arguments, input);
    EXPECT_NE(result.exit_code, 2) << arguments[0] << ": " << result.error;
    all.push_back(result.output);
  };
  run({"uniq", "--seed", "1"}, keys);
  EXPECT_EQ(split_keys(all.back()), keys_over(split_keys(keys), 1));
  run({"uniq", "--seed", "1", "--may-repeat", "-m", "32KiB"}, keys);
  run({"uniq", "--seed", "1", "--approximate", "-n", "10K", "-p", "1%"}, keys);
  run({"over", "3", "--seed", "1", "-n", "20K", "-p", "1%"}, keys);
  run({"over", "3", "--seed", "1", "-t", "2"}, keys);
  run({"over", "3", "--seed", "1", "-f", "2", "-d", "7"}, keys);
  run({"top", "20", "--seed", "1", "-m", "64KiB"}, keys);
  run({"kmers", "-k", "21", "--seed", "1", "-s", "2"}, bases);
  const std::vector<std::vector<std::string>> kinds{
      {"bloom", "-n", "20K"},
      {"blocked-bloom", "-n", "20K"},
      {"blocked-bloom", "-n", "20K", "--scheme", "register-blocked"},
      {"counting-bloom", "-n", "20K"},
      {"threshold", "-n", "20K", "-t", "2"},
      {"dleft", "-n", "40K", "--frequent-keys", "20K"},
      {"count-min", "--epsilon", "0.1%"}};
  for (const std::vector<std::string>& kind : kinds) {
    const std::string path = directory / (kind[0] + std::to_string(all.size()));
    std::vector<std::string> build{"build", "-q", "--seed", "1", "-o", path, "--kind"};
    build.insert(build.end(), kind.begin(), kind.end());
    run(build, keys);
    if (kind[0] == "dleft") {
      run({"add", "-q", path}, others);
      run({"remove", "-q", path}, keys);
      run({"count", path}, others);
    }
    run({kind[0] == "count-min" ? "count" : "query", path}, others + keys);
    all.push_back(read_file(path));
    EXPECT_FALSE(all.back().empty()) << kind[0];
  }
  return all;
}

TEST(InstructionSets, GiveTheSameOutputsAndFiles) {
  const std::string keys = zipf_lines(60'007, 20'000, 0.7, 1);
  const std::string others = zipf_lines(20'001, 30'000, 0.3, 2);
  const std::string genome = random_genome(30'011, 3);
  const std::string bases = ">a\n" + genome + "\n>b\n" + genome.substr(7003) + "\n";
  const std::vector<std::string> expected = [&] {
    const Environment best(nullptr);
    return results(keys, others, bases);
  }();
  std::size_t num_run = 0;
  for (const std::string& set : compiled_sets()) {
    if (run_with(set, {"--version"}).exit_code != 0) {
      std::cout << "not run: this processor has no " << set << '\n';
      continue;
    }
    SCOPED_TRACE(set);
    const Environment environment(set.c_str());
    const std::vector<std::string> here = results(keys, others, bases);
    ASSERT_EQ(here.size(), expected.size());
    for (std::size_t i = 0; i < here.size(); ++i) EXPECT_TRUE(here[i] == expected[i]) << "result " << i;
    ++num_run;
  }
  EXPECT_GE(num_run, 1u);
}

TEST(InstructionSets, AreTakenByNameAndTheVersionSaysWhich) {
  const std::vector<std::string> sets = compiled_sets();
  for (const std::string& set : sets) {
    const CommandResult result = run_with(set, {"--version"});
    if (result.exit_code == 0) {
      EXPECT_THAT(result.output, HasSubstr("\ninstruction set: " + set + " of "));
    } else {
      EXPECT_THAT(result.error,
                  HasSubstr("TALLY_INSTRUCTION_SET is '" + set + "', which this processor does not"));
    }
  }
  EXPECT_THAT(run_with("baseline", {"--version"}).output,
              HasSubstr("instruction set: " + sets.back() + " of "));
  const Environment none("");
  EXPECT_THAT(run_tally({"--version"}).output, StartsWith("tally "));
}

TEST(InstructionSets, ThatAreNoneAreRefusedBeforeAnythingIsDone) {
  for (const char* set : {"SSE9", "avx2", "AVX2,SSE4", "base", " "}) {
    const CommandResult result = run_with(set, {"uniq"}, "a\n");
    EXPECT_EQ(result.exit_code, 2) << set;
    EXPECT_THAT(result.output, IsEmpty()) << set;
    EXPECT_THAT(result.error,
                AllOf(HasSubstr("TALLY_INSTRUCTION_SET is '" + std::string(set) + "'; must be one of "),
                      HasSubstr(compiled_sets().back() + ", baseline")));
  }
}

}  // namespace
}  // namespace tally::test
