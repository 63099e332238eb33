#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_runner.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;

CommandResult bench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"bench", "--rounds", "1"});
  return run_tally(arguments);
}

TEST(BenchCommand, TimesEveryCandidateOfThePlan) {
  const std::vector<std::string> wanted = {"--keys", "10k", "-p", "1%", "--deletes", "--json"};
  const CommandResult timed = bench(wanted);
  ASSERT_EQ(timed.exit_code, 0) << timed.error;
  std::vector<std::string> plan_arguments = wanted;
  plan_arguments.insert(plan_arguments.begin(), "plan");
  const Json planned = Json::parse(run_tally(plan_arguments).output).at("candidates");
  const Json candidates = Json::parse(timed.output).at("candidates");
  ASSERT_EQ(candidates.size(), planned.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    SCOPED_TRACE(candidates[i].at("name"));
    EXPECT_EQ(candidates[i].at("shape"), planned[i].at("shape"));
    EXPECT_EQ(candidates[i].at("predicted_false_positive_rate"), planned[i].at("false_positive_rate"));
    // Allocated are at least the bytes that were planned, and less than two lines more.
    EXPECT_GE(candidates[i].at("memory_bytes"), planned[i].at("memory_bytes"));
    EXPECT_LT(candidates[i].at("memory_bytes"), planned[i].at("memory_bytes").get<int>() + 128);
    const double rate = candidates[i].at("false_positive_rate");
    EXPECT_GT(rate, 0.5 * planned[i].at("false_positive_rate").get<double>());
    EXPECT_LT(rate, 1.5 * planned[i].at("false_positive_rate").get<double>());
    for (const char* how : {"batches", "single"}) {
      for (const char* operation : {"insert", "remove", "lookup_present", "lookup_absent", "line_read"}) {
        const Json& times = candidates[i].at(how).at(operation);
        EXPECT_GT(times.at("least_ns"), 0) << how << ' ' << operation;
        EXPECT_LE(times.at("least_ns"), times.at("median_ns"));
        EXPECT_LE(times.at("median_ns"), times.at("largest_ns"));
      }
    }
  }
}

TEST(BenchCommand, ABloomFilterHasNoTimeOfARemoval) {
  const CommandResult result = bench({"--keys", "10k", "-p", "1%", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  for (const Json& candidate : Json::parse(result.output).at("candidates")) {
    const bool can_remove = candidate.at("name") == "counting-bloom" ||
                            candidate.at("name").get<std::string>().starts_with("dleft");
    EXPECT_EQ(candidate.at("batches").contains("remove"), can_remove) << candidate.at("name");
  }
}

TEST(BenchCommand, PrintsATableAndWhichIsSmallestAndFastest) {
  const CommandResult result = bench({"--keys", "10k", "-p", "1%"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  for (const char* text : {"keys per call", "line read", "Smallest: bloom", "Fastest lookups in batches: "})
    EXPECT_NE(result.output.find(text), std::string::npos) << result.output;
}

TEST(BenchCommand, SaysWhatIsMissingOrTooMuch) {
  const CommandResult missing = bench({"-p", "1%"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.error.find("--keys"), std::string::npos) << missing.error;
  for (const std::vector<std::string>& few : {std::vector<std::string>{"--keys", "9999", "-p", "1%"},
                                              std::vector<std::string>{"--memory", "1000", "-p", "1%"}}) {
    const CommandResult result = bench(few);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.error.find(few[0]), std::string::npos) << result.error;
    EXPECT_NE(result.error.find("10000"), std::string::npos) << result.error;
  }
  const CommandResult too_much = bench({"--keys", "1P", "-p", "1%"});
  EXPECT_EQ(too_much.exit_code, 2);
  EXPECT_NE(too_much.error.find("memory"), std::string::npos) << too_much.error;
}

}  // namespace
}  // namespace tally::test
