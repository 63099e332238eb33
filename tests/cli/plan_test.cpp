#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "command_json.hpp"
#include "command_runner.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;

Json plan(std::vector<std::string> arguments, std::string_view input = "") {
  arguments.insert(arguments.begin(), "plan");
  return json_of(std::move(arguments), input);
}

TEST(PlanCommand, PlansFromEachPairOfKeysRateAndMemory) {
  EXPECT_EQ(plan({"--keys", "1M", "-p", "1%"}).at("candidates").at(0).at("num_positions"), 9'592'956);
  const Json memory = plan({"--keys", "1M", "--memory", "1MiB"});
  for (const Json& candidate : memory.at("candidates")) EXPECT_LE(candidate.at("memory_bytes"), 1 << 20);
  EXPECT_GT(plan({"--memory", "1MiB", "-p", "1%"}).at("candidates").at(0).at("num_keys"), 800'000);
}

TEST(PlanCommand, PrintsATableWithTheReasonAndTheSource) {
  const CommandResult result = run_tally({"plan", "--keys", "1M", "-p", "1%", "--theta", "3"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.error, "");
  for (const std::string text :
       {"structure", "threshold", "counting-bloom", "Recommended: threshold, because",
        "False positive rate by true count", "Formula:", "whole number of hashes costs", "Note:"}) {
    EXPECT_NE(result.output.find(text), std::string::npos) << text;
  }
}

TEST(PlanCommand, CountsASampleExactly) {
  std::string sample;
  for (int i = 0; i < 300; ++i) {
    for (int j = 0; j <= i % 3; ++j) sample += "x\tkey " + std::to_string(i) + "\n";
  }
  const Json from = plan({"--from", "-", "-f", "2", "-p", "1%", "--theta", "3"}, sample);
  EXPECT_EQ(from.at("candidates").at(0).at("num_keys"), 300);
  EXPECT_EQ(from.at("candidates").at(0).at("error_law"), "histogram");
  const TemporaryDirectory directory;
  const std::string histogram = directory.write("histogram", "1 100\n2 100\n3 100\n");
  EXPECT_EQ(plan({"--histogram", histogram, "-p", "1%", "--theta", "3"}), from);
  EXPECT_EQ(plan({"--histogram", "-", "-p", "1%", "--theta", "3"}, "1 100\n2 100\n3 100\n"), from);
}

TEST(PlanCommand, WarnsThatTheSimpleFormulaDoesNotHoldForZipf) {
  const Json json = plan({"--zipf", "1", "--keys", "100k", "--insertions", "1M", "-p", "1%", "--theta", "3"});
  EXPECT_NE(json.at("warnings").dump().find("simple threshold formula does not hold"), std::string::npos);
}

TEST(PlanCommand, StatesWhatADLeftFilterCarriesAndHowOftenItFails) {
  const CommandResult text =
      run_tally({"plan", "-n", "1M", "-p", "0.1%", "--deletes", "--max-doublings", "2"});
  EXPECT_EQ(text.exit_code, 0) << text.error;
  for (const std::string part :
       {"Recommended: dleft, because keys will be removed", "counting-bloom takes", "dleft: shape",
        "side table", "load", "max load", "P(full)", "code path", "doublings", "4.00 M"}) {
    EXPECT_NE(text.output.find(part), std::string::npos) << part;
  }
  const Json json = plan({"-n", "1M", "-p", "0.1%", "--deletes", "--max-doublings", "2"});
  const Json first = json.at("candidates").at(0);
  EXPECT_EQ(first.at("kind"), "dleft");
  EXPECT_EQ(first.at("dleft").at("lifetime_operations"), 1'000'000'000);
  EXPECT_LE(first.at("dleft").at("load"), first.at("dleft").at("carried_load"));
  EXPECT_LE(first.at("dleft").at("failure_probability"), 1e-6);
  EXPECT_EQ(first.at("dleft").at("sizes").size(), 3u);
  EXPECT_EQ(first.at("dleft").at("sizes").at(2).at("num_keys"), 4'000'000);
  for (const Json& candidate : json.at("candidates"))
    EXPECT_EQ(candidate.at("dleft").is_null(), candidate.at("kind") != "dleft");
}

TEST(PlanCommand, FlagsOfDLeftFiltersReachThePlanner) {
  const auto bits = [](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"-n", "1M", "-p", "1%"});
    const Json json = plan(flags);
    for (const Json& candidate : json.at("candidates")) {
      if (candidate.at("kind") == "dleft") return candidate.at("bits_per_key").get<double>();
    }
    return 0.0;
  };
  const double deletes = bits({"--deletes"});
  EXPECT_LT(bits({"--counts"}), deletes);  // only filled
  EXPECT_EQ(bits({"--deletes", "--lifetime-operations", "0"}), bits({"--counts"}));
  const double unmoved = bits({"--deletes", "--max-moves", "0"});
  EXPECT_GT(unmoved, deletes);
  EXPECT_LT(bits({"--deletes", "--max-moves", "0.4"}), deletes);
  EXPECT_GT(bits({"--deletes", "--max-moves", "0", "--lifetime-operations", "1e18"}), unmoved);
  EXPECT_GT(bits({"--deletes", "--max-moves", "0", "--failure-probability", "1e-12"}), unmoved);
  EXPECT_LT(bits({"--deletes", "--unique-keys"}), deletes);
  EXPECT_GT(bits({"--deletes", "--frequent-keys", "100k"}), deletes + 12);
}

TEST(PlanCommand, RefusesWithAReasonAndExitCodeTwo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "exactly two"},
      {{"--keys", "10"}, "exactly two"},
      {{"--memory", "1K"}, "exactly two"},
      {{"--keys", "10", "-p", "1%", "--merge", "0"}, "--merge: '0' is too small"},
      {{"--keys", "30P", "-p", "1%", "--merge", "3"}, "--keys times --merge is more than 2^56"},
      {{"--zipf", "1", "--keys", "10", "--insertions", "20", "-p", "1%", "--merge", "3"}, "--merge: "},
      {{"--keys", "10", "-p", "1%", "--theta", "2", "--peers", "3"}, "--peers: "},
      {{"--epsilon", "1%", "--peers", "3"}, "a sketch"},
      {{"--keys", "0", "-p", "1%"}, "--keys"},
      {{"--keys", "-3", "-p", "1%"}, "--keys"},
      {{"--keys", "nan", "-p", "1%"}, "--keys"},
      {{"--keys", "1e30", "-p", "1%"}, "--keys"},
      {{"--keys", "10", "-p", "nan"}, "--false-positive-rate"},
      {{"--keys", "10", "-p", "0"}, "--false-positive-rate"},
      {{"--keys", "10", "-p", "100%"}, "--false-positive-rate"},
      {{"--keys", "10", "-p", "1%", "--theta", "0"}, "--theta"},
      {{"--keys", "10", "-p", "1%", "--theta", "1e10"}, "--theta"},
      {{"--keys", "10", "--memory", "7"}, "--memory is 7"},
      {{"--keys", "10", "-p", "1%", "--zipf", "1"}, "--insertions"},
      {{"--keys", "10", "-p", "1%", "--from", "-"}, "--from"},
      {{"--keys", "10", "-p", "1%", "--failure-probability", "0"}, "--failure-probability"},
      {{"--keys", "10", "-p", "1%", "--failure-probability", "nan"}, "--failure-probability"},
      {{"--keys", "10", "-p", "1%", "--lifetime-operations", "-1"}, "--lifetime-operations"},
      {{"--keys", "10", "-p", "1%", "--max-doublings", "27"}, "--max-doublings"},
      {{"--keys", "10", "-p", "1%", "--unique-keys", "--frequent-keys", "3"}, "--frequent-keys"},
      {{"--from", "/nonexistent/file", "-p", "1%"}, "/nonexistent/file"},
      {{"--histogram", "/nonexistent/file", "-p", "1%"}, "/nonexistent/file"},
  };
  for (const auto& [arguments, fragment] : cases) {
    std::vector<std::string> all = arguments;
    all.insert(all.begin(), "plan");
    const CommandResult result = run_tally(all);
    EXPECT_EQ(result.exit_code, 2) << fragment;
    EXPECT_EQ(result.output, "");
    EXPECT_NE(result.error.find(fragment), std::string::npos) << fragment << " not in " << result.error;
  }
}

TEST(PlanCommand, RefusesAnEmptySample) {
  const CommandResult result = run_tally({"plan", "--from", "-", "-p", "1%"}, "");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.error.find("--from: it contains no keys"), std::string::npos) << result.error;
}

}  // namespace
}  // namespace tally::test
