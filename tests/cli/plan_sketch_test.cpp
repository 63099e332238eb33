// tally plan of count-min sketches for a stream that is described.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "command_json.hpp"
#include "command_runner.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

std::vector<std::string> sketch_plan(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"plan",         "-n",  "1M",        "--zipf", "1",
                                     "--insertions", "10M", "--epsilon", "0.01%"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

CommandResult plan_sketch(const std::vector<std::string>& more, const std::string& input = "") {
  return run_tally(sketch_plan(more), input);
}

Json forecast_of(const std::string& rows, const std::vector<std::string>& more,
                 const std::string& input = "") {
  const Json document = json_of(sketch_plan(more), input);
  for (const Json& candidate : document.at("candidates"))
    if (candidate.at("scheme") == rows) return candidate.at("forecast");
  return nullptr;
}

TEST(PlanSketchCommand, ForecastsBothKindsOfUpdateForAStreamByZipfsLaw) {
  const CommandResult text = plan_sketch({});
  EXPECT_EQ(text.exit_code, 0) << text.error;
  for (const char* part :
       {"mean error", "P(larger error)", "width that would do", "conservative", "not known"})
    EXPECT_THAT(text.output, HasSubstr(part));
  const Json forecast = forecast_of("congruential", {});
  EXPECT_LT(forecast.at("conservative_mean_excess"), forecast.at("plain_mean_excess"));
  EXPECT_LT(forecast.at("conservative_width"), forecast.at("plain_width"));
  EXPECT_LT(forecast.at("conservative_memory_bytes"), forecast.at("plain_memory_bytes"));
  EXPECT_LT(forecast.at("plain_failure_probability"), 1e-6);
  const Json two_hash = forecast_of("two-hash", {});
  EXPECT_TRUE(two_hash.at("plain_failure_probability").is_null());
  EXPECT_TRUE(two_hash.at("plain_width").is_null());
  EXPECT_GT(two_hash.at("plain_mean_excess"), 0);
}

TEST(PlanSketchCommand, WeightsScaleTheErrorsAndWidenTheCounters) {
  const Json weighted = forecast_of("congruential", {"--weights", "-"}, "# bytes\n1000 1\n\n3000 1\n");
  const Json without = forecast_of("congruential", {});
  EXPECT_NEAR(weighted.at("plain_mean_excess").get<double>() / without.at("plain_mean_excess").get<double>(),
              2000, 50);
  EXPECT_TRUE(weighted.at("conservative_mean_excess").is_null());
  EXPECT_TRUE(weighted.at("conservative_width").is_null());
  EXPECT_GT(weighted.at("plain_memory_bytes"), without.at("plain_memory_bytes"));  // 64 bits instead of 32
}

TEST(PlanSketchCommand, RefusesWeightsThatSayNothing) {
  const auto refused = [](const std::string& input, const char* reason) {
    const CommandResult result = plan_sketch({"--weights", "-"}, input);
    EXPECT_EQ(result.exit_code, 2) << input;
    EXPECT_EQ(result.output, "");
    EXPECT_THAT(result.error, HasSubstr(reason)) << input;
  };
  refused("", "-: it contains no weights");
  refused("40\n", "line 1: must be two numbers, a weight and the number of insertions with that weight");
  refused("40 1\nx 2\n", "line 2: ");
  refused("0 1\n", "line 1: '0' is too small");
  refused("40 -1\n", "line 1: '-1' is too small");
  refused("40 0\n", "-: the weights are of no insertion");
  refused("40 1e308\n50 1e308\n", "-: the weights are of no insertion, or of too many");
  refused("70000000000000000 1\n", "--weights: their sum");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"plan", "-n", "1M", "--zipf", "1", "--insertions", "10M", "-p", "1%",
                                 "--weights", "-"},
        {"plan", "--epsilon", "1%", "--weights", "-"}}) {
    const CommandResult result = run_tally(arguments, "40 1\n");
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.error, HasSubstr("--weights"));
  }
}

}  // namespace
}  // namespace tally::test
