// tally plan with keys, rate and memory, and for several nodes.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "command_json.hpp"
#include "command_runner.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;

CommandResult run_plan(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "plan");
  return run_tally(arguments);
}

Json plan_document(std::vector<std::string> arguments, int exit_code = 0) {
  arguments.insert(arguments.begin(), "plan");
  return json_of(std::move(arguments), "", exit_code);
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << " not in\n" << text;
}

TEST(PlanCheckCommand, SaysThatTheMemoryIsEnough) {
  const CommandResult result = run_plan({"-n", "500M", "-p", "1%", "-m", "1GiB"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  expect_parts(result.output, {"structure", "memory needed", "left", "enough", "rate with all of the memory",
                               "keys at 1%", "Enough: bloom holds 500.0 M keys", "are left"});
}

TEST(PlanCheckCommand, SaysWhatWouldDoAndEndsWithStatusOneIfItIsNotEnough) {
  const CommandResult result = run_plan({"-n", "1G", "-p", "1%", "-m", "1GiB"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.error, "");
  expect_parts(result.output, {"Not enough: no structure holds", "One of these would do:",
                               "of memory (bloom)", "a false positive rate of", "keys (bloom)"});
  const Json json = plan_document({"-n", "1G", "-p", "1%", "-m", "1GiB"}, 1);
  EXPECT_EQ(json.at("is_enough"), false);
  EXPECT_GT(json.at("with_least_memory").at("memory_bytes"), 1 << 30);
  EXPECT_GT(json.at("with_lowest_rate").at("false_positive_rate"), 0.01);
  EXPECT_LT(json.at("with_most_keys").at("num_keys"), 1'000'000'000);
  EXPECT_LT(json.at("structures").at(0).at("memory_left_bytes"), 0);
  // What would do is enough.
  const std::string bytes = json.at("with_least_memory").at("memory_bytes").dump();
  EXPECT_EQ(run_plan({"-n", "1G", "-p", "1%", "-m", bytes}).exit_code, 0);
}

TEST(PlanCheckCommand, ListsEveryStructureForCountsAndRemovals) {
  const Json json = plan_document({"-n", "1M", "-p", "1%", "-m", "3MiB", "--deletes"});
  std::string kinds;
  for (const Json& fit : json.at("structures")) {
    kinds += fit.at("kind").get<std::string>() + (fit.at("fits").get<bool>() ? " fits, " : " does not, ");
  }
  EXPECT_EQ(kinds, "dleft fits, counting-bloom does not, blocked-counting-bloom does not, ");
}

TEST(PlanNodesCommand, MergesStructuresOfTheKeysOfAll) {
  const Json merged = plan_document({"-n", "1M", "-p", "1%", "--merge", "20"});
  const Json whole = plan_document({"-n", "20M", "-p", "1%"});
  EXPECT_EQ(merged.at("candidates"), whole.at("candidates"));
  const Json& first = merged.at("merge").at("candidates").at(0);
  EXPECT_EQ(merged.at("merge").at("num_structures"), 20);
  EXPECT_EQ(first.at("num_keys_of_each"), 1'000'000);
  EXPECT_EQ(first.at("num_keys"), 20'000'000);
  EXPECT_NEAR(first.at("false_positive_rate").get<double>(), 0.01, 1e-5);
  // 1 - exp(-7/(9.59 * 20)), to the power of 7
  EXPECT_NEAR(first.at("false_positive_rate_of_each").get<double>(),
              std::pow(1 - std::exp(-7.0 / (20 * 9.592956)), 7), 1e-12);
  EXPECT_EQ(whole.at("merge"), nullptr);
  expect_parts(run_plan({"-n", "1M", "-p", "1%", "--merge", "20"}).output,
               {"merged", "keys of each", "20.0 M", "Each of the 20 structures"});
}

TEST(PlanNodesCommand, KeepsTheRateForALookupOverAllPeers) {
  const Json json = plan_document({"-n", "1M", "-p", "1%", "--peers", "15", "--deletes"});
  EXPECT_EQ(json.at("peers").at("num_peers"), 15);
  for (const Json& candidate : json.at("peers").at("candidates")) {
    EXPECT_LE(candidate.at("false_positive_rate"), 0.01);
    EXPECT_LT(candidate.at("false_positive_rate_of_peer"), 0.01 / 14.9);
    EXPECT_NEAR(candidate.at("false_positive_rate").get<double>(),
                1 - std::pow(1 - candidate.at("false_positive_rate_of_peer").get<double>(), 15), 1e-12);
    EXPECT_EQ(candidate.at("all_summaries_bytes"), 15 * candidate.at("summary_bytes").get<std::uint64_t>());
  }
  // The summary of a counting filter is a bit for each of its counters.
  for (std::size_t i = 0; i < json.at("candidates").size(); ++i) {
    const Json& candidate = json.at("candidates").at(i);
    if (candidate.at("kind") != "counting-bloom") continue;
    EXPECT_NEAR(json.at("peers").at("candidates").at(i).at("summary_bytes").get<double>(),
                candidate.at("memory_bytes").get<double>() / 4, 8);
  }
  expect_parts(run_plan({"-n", "1M", "-p", "1%", "--peers", "15"}).output,
               {"summary of a peer", "of all peers", "of a lookup", "peers, and errs if any of them does"});
}

TEST(PlanNodesCommand, OfOnePeerOrOneStructureIsThePlanItself) {
  const Json plain = plan_document({"-n", "1M", "-p", "1%"});
  EXPECT_EQ(plan_document({"-n", "1M", "-p", "1%", "--merge", "1"}).at("candidates"), plain.at("candidates"));
  const double rate = plan_document({"-n", "1M", "-p", "1%", "--peers", "1"})
                          .at("candidates")
                          .at(0)
                          .at("false_positive_rate");
  EXPECT_NEAR(rate, 0.01, 1e-6);
}

TEST(PlanNodesCommand, PlansAFilterForEachSlotOfAWindow) {
  const Json json = plan_document({"-n", "1M", "-p", "1%", "--window", "9"});
  EXPECT_EQ(json.at("window").at("num_filters"), 10);
  const Json& first = json.at("window").at("candidates").at(0);
  EXPECT_EQ(first.at("num_keys_of_each"), 111'112);
  EXPECT_LE(first.at("false_positive_rate"), 0.01);
  EXPECT_GT(first.at("false_positive_rate"), 0.0099);
  EXPECT_EQ(first.at("memory_bytes"),
            10 * json.at("candidates").at(0).at("memory_bytes").get<std::uint64_t>());
  const Json within = plan_document({"-n", "1M", "-m", "2MiB", "--window", "9"});
  for (const Json& candidate : within.at("window").at("candidates"))
    EXPECT_LE(candidate.at("memory_bytes"), 2 << 20);
  expect_parts(run_plan({"-n", "1M", "-p", "1%", "--window", "9"}).output,
               {"filters", "keys of each", "of a lookup", "Each of the 9 slots"});
  EXPECT_EQ(run_plan({"-n", "1M", "-p", "1%", "--window", "9", "--deletes"}).exit_code, 2);
  EXPECT_EQ(run_plan({"-n", "1M", "-p", "1%", "--window", "9", "--peers", "3"}).exit_code, 2);
}

TEST(PlanCommand, ADLeftFilterKeepsItsRateAtItsLastSizeIfAsked) {
  const std::vector<std::string> grows = {"-n", "100k", "-p", "1%", "--deletes", "--max-doublings", "3"};
  std::vector<std::string> keeps = grows;
  keeps.emplace_back("--rate-when-doubled");
  const auto rates = [](const Json& json) {
    for (const Json& candidate : json.at("candidates")) {
      if (candidate.at("kind") != "dleft") continue;
      const Json& sizes = candidate.at("dleft").at("sizes");
      return std::pair(sizes.at(0).at("false_positive_rate").get<double>(),
                       sizes.at(3).at("false_positive_rate").get<double>());
    }
    return std::pair(1.0, 1.0);
  };
  EXPECT_GT(rates(plan_document(grows)).second, 0.02);
  EXPECT_LE(rates(plan_document(keeps)).second, 0.01);
  EXPECT_LE(rates(plan_document(keeps)).first, 0.00126);
  EXPECT_EQ(run_plan({"-n", "100k", "-p", "1%", "--rate-when-doubled"}).exit_code, 2);
}

TEST(PlanNodesCommand, CanAskWhetherAMemoryIsEnough) {
  const CommandResult result = run_plan({"-n", "1M", "-p", "1%", "--merge", "20", "-m", "30MiB"});
  EXPECT_EQ(result.exit_code, 0);
  expect_parts(result.output, {"Enough: bloom holds 20.0 M keys", "Each of the 20 structures"});
  EXPECT_EQ(run_plan({"-n", "1M", "-p", "1%", "--merge", "20", "-m", "20MiB"}).exit_code, 1);
}

}  // namespace
}  // namespace tally::test
