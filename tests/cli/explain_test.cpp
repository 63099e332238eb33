// --explain, beside the summaries of real runs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "../../tools/tally/text/output.hpp"
#include "command_runner.hpp"
#include "key_report.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Words = std::vector<std::string>;

/// The paragraph, in one line.
std::string explain(Words words, const std::string& input = "") {
  words.emplace_back("--explain");
  const CommandResult result = run_tally(words, input);
  EXPECT_EQ(result.exit_code, 0) << words.front() << ": " << result.error;
  EXPECT_THAT(result.error, IsEmpty()) << words.front();
  std::string text = result.output;
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// The numbers of bytes in it.
std::vector<std::uint64_t> bytes_in_text(const std::string& text) {
  static const std::regex bytes("\\((\\d+) bytes\\)");
  std::vector<std::uint64_t> all;
  for (std::sregex_iterator found(text.begin(), text.end(), bytes), end; found != end; ++found)
    all.push_back(std::stoull((*found)[1]));
  return all;
}

std::string keys_from_1_to(int last) {
  std::string keys;
  for (int key = 1; key <= last; ++key) keys += std::to_string(key) + "\n";
  return keys;
}

TEST(Explain, TheMemoryAtTheStartIsThatOfARunWithoutInput) {
  for (const Words& words : std::vector<Words>{{"over", "3"},
                                               {"over", "3", "--keys", "1M"},
                                               {"over", "3", "--memory", "1MiB"},
                                               {"over", "3", "--memory", "64MiB", "-p", "0.1%"},
                                               {"over", "3", "--window", "10m"},
                                               {"over", "3", "-f", "1", "--sum", "2", "--memory", "4MiB"},
                                               {"uniq"},
                                               {"uniq", "--memory", "16MiB"},
                                               {"uniq", "--approximate", "-n", "1M"},
                                               {"uniq", "--may-repeat", "--memory", "1MiB"},
                                               {"top"},
                                               {"top", "--share", "1%", "--window", "10m"},
                                               {"top", "--method", "space-saving", "--memory", "1MiB"},
                                               {"over", "3", "--keys", "1M", "--counts-at-end"},
                                               {"kmers", "-k", "31", "--size", "1M"},
                                               {"kmers", "-k", "31", "--size", "1M", "--counts"},
                                               {"kmers", "-k", "40", "-L", "1", "--histogram", "-"},
                                               {"kmers", "-k", "40", "-L", "1"}}) {
    const std::string text = explain(words);
    const std::vector<std::uint64_t> bytes = bytes_in_text(text);
    ASSERT_FALSE(bytes.empty()) << text;
    EXPECT_EQ(bytes.front(), run_for_keys(words, "").summary.at("memory_bytes")) << words[0] << " " << text;
  }
}

TEST(Explain, NoRunTakesMoreThanTheGreatestMemory) {
  const std::string input = keys_from_1_to(60'000) + keys_from_1_to(60'000);
  for (const Words& words : std::vector<Words>{{"over", "2"},
                                               {"over", "2", "--keys", "60k"},
                                               {"over", "2", "--memory", "200KiB"},
                                               {"over", "2", "--window", "10m", "--memory", "1MiB"},
                                               {"uniq", "--memory", "2MiB"}}) {
    const std::vector<std::uint64_t> bytes = bytes_in_text(explain(words));
    ASSERT_EQ(bytes.size(), 2U) << words[0];
    EXPECT_LE(run_for_keys(words, input).summary.at("memory_bytes"), bytes.back()) << words[0];
  }
  for (const Words& words :
       std::vector<Words>{{"top"}, {"uniq", "-a", "-n", "60k"}, {"uniq", "-r", "-m", "64KiB"}}) {
    EXPECT_EQ(run_for_keys(words, input).summary.at("memory_bytes"), bytes_in_text(explain(words)).back())
        << words[0];
  }
}

TEST(Explain, TheProbabilityOfAnErrorIsTheOneThatTheRunIsPlannedFor) {
  for (const Words& words : std::vector<Words>{{"over", "3"},
                                               {"over", "3", "-n", "1M", "-m", "1MiB"},
                                               {"over", "5", "-n", "10k", "-p", "0.3%"}}) {
    const double rate = run_for_keys(words, "").summary.at("false_positive_rate_planned");
    EXPECT_THAT(explain(words), HasSubstr("with a probability of at most " + cli::human_rate(rate)));
  }
  const Words uniq{"uniq", "-a", "-n", "20k", "-p", "2%"};
  const double dropped =
      run_for_keys(uniq, keys_from_1_to(20'000)).summary.at("dropped_with_probability_at_most");
  EXPECT_THAT(explain(uniq),
              HasSubstr("with a probability that is 2% when 20.0 K distinct keys have been read"));
  EXPECT_NEAR(dropped, 0.02, 0.002);
}

TEST(Explain, ReadsNothingAndWritesNothing) {
  TemporaryDirectory directory;
  const std::string missing = directory / "missing";
  EXPECT_THAT(explain({"over", "3", missing}), HasSubstr("No key"));
  EXPECT_THAT(explain({"uniq", missing, "--key-file", missing}), HasSubstr("No key"));
  EXPECT_THAT(explain({"top", missing, "--key-file", missing, "--save", directory / "top"}),
              HasSubstr("no key"));
  EXPECT_THAT(explain({"kmers", "-k", "5", missing}), HasSubstr("Reads the files twice"));
  EXPECT_THAT(explain({"kmers", "-k", "5", "-s", "1k", "-o", directory / "kmers", missing}),
              HasSubstr("No k-mer"));
  EXPECT_EQ(directory.num_files(), 0U);
}

TEST(Explain, SaysWhatHappensWhenTheMemoryIsFullAndWhoCouldBreakThePromise) {
  EXPECT_THAT(explain({"over", "3"}), HasSubstr("No key is printed twice."));
  EXPECT_THAT(
      explain({"over", "3", "-m", "1MiB"}),
      AllOf(HasSubstr("when it is full, a key may be printed again"), Not(HasSubstr("printed twice"))));
  EXPECT_THAT(explain({"uniq", "-m", "1MiB"}), HasSubstr("When it is full, the run ends with an error"));
  EXPECT_THAT(explain({"over", "3"}), HasSubstr("unless keys are chosen against the seed"));
  EXPECT_THAT(explain({"over", "3", "--keyed"}), Not(HasSubstr("chosen against")));
}

TEST(Explain, RefusesWhatItCannotExplain) {
  for (const Words& words : std::vector<Words>{{"over", "3", "--explain", "--json"},
                                               {"over", "3", "--explain", "--state", "s"},
                                               {"uniq", "--explain", "--store", "redis://none/x"},
                                               {"top", "--explain", "--from", "f"}}) {
    const CommandResult result = run_tally(words);
    EXPECT_EQ(result.exit_code, 2) << words[0];
    EXPECT_THAT(result.error, HasSubstr("--explain")) << words[0];
  }
  EXPECT_EQ(run_tally({"over", "3", "--explain", "--memory", "4KiB", "-n", "1M", "-p", "1%"}).exit_code, 2);
}

}  // namespace
}  // namespace tally::test
