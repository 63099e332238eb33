#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_runner.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;

CommandResult verify(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "verify");
  return run_tally(arguments);
}

// Fixed seeds: each of these runs is one sample of a 99.9% test, and a pass stays a pass.

TEST(VerifyCommand, EveryKindAgreesWithItsTheory) {
  const std::vector<std::vector<std::string>> shapes = {
      {"-n", "1000", "-p", "1%", "--trials", "300"},
      {"-n", "1000", "-p", "1%", "--trials", "300", "--kind", "blocked-bloom"},
      {"-n", "1000", "-p", "1%", "--trials", "300", "--kind", "dleft"},
      {"-n", "1000", "-p", "1%", "--trials", "300", "--kind", "dleft", "--scheme", "multiplier"},
      {"-n", "1000", "-p", "1%", "--trials", "300", "--scheme", "partitioned"},
      {"-n", "100", "--num-positions", "1639", "-k", "11", "--trials", "2000", "--scheme",
       "partition-double"},
      {"-n", "5000", "--num-positions", "20000", "-k", "3", "-t", "3", "--trials", "200"},
      {"-n", "5000", "--num-positions", "20000", "-k", "3", "-t", "3", "--trials", "200", "--conservative"},
      {"-n", "5000", "--num-positions", "2500", "-k", "2", "-t", "10", "--trials", "200", "--kind",
       "counting-bloom"},
  };
  for (const std::vector<std::string>& shape : shapes) {
    const CommandResult result = verify(shape);
    EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
  }
}

TEST(VerifyCommand, SaysOutsideWhereTheFormulaIsWrong) {
  // Double hashing in a small filter is three times as often wrong as the standard formula says.
  const CommandResult result = verify({"-n", "100", "--num-positions", "1600", "-k", "11", "--scheme",
                                       "double", "--trials", "1000", "--json"});
  EXPECT_EQ(result.exit_code, 1) << result.output;
  const Json json = Json::parse(result.output);
  EXPECT_EQ(json.at("verdict"), "outside");
  EXPECT_EQ(json.at("num_false_negatives"), 0);
  EXPECT_GT(json.at("tests").at(0).at("low"), json.at("tests").at(0).at("predicted_rate"));
}

TEST(VerifyCommand, RepeatsItselfUnderOneSeed) {
  const std::vector<std::string> shape = {"-n", "500", "-p", "5%", "--trials", "50", "--json"};
  EXPECT_EQ(verify(shape).output, verify(shape).output);
  std::vector<std::string> other = shape;
  other.insert(other.end(), {"--seed", "1"});
  EXPECT_NE(verify(shape).output, verify(other).output);
}

TEST(VerifyCommand, TakesTheShapeOfAFile) {
  const TemporaryDirectory directory;
  const std::string keys = directory.write("keys", "a\nb\nc\n");
  const std::string file = directory / "f.tally";
  ASSERT_EQ(run_tally({"build", "-o", file, "--keys", "1000", "-p", "1%", keys}).exit_code, 0);
  const CommandResult result = verify({"--file", file, "-n", "1000", "--trials", "100", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
  EXPECT_EQ(Json::parse(result.output).at("shape").at("num_hashes"), 7);
}

TEST(VerifyCommand, RefusesBadShapesWithExitCodeTwo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "--keys"},
      {{"-n", "5"}, "--num-positions"},
      {{"-n", "5", "--num-positions", "100"}, "--num-hashes"},
      {{"-n", "5", "--num-positions", "100", "-k", "1025"}, "--num-hashes"},
      {{"-n", "5", "-p", "nan"}, "--false-positive-rate"},
      {{"-n", "5", "-p", "1%", "--confidence", "1"}, "--confidence"},
      {{"-n", "5", "-p", "1%", "--kind", "bloom", "-t", "2"}, "--theta"},
      {{"-n", "5", "--num-positions", "100", "-k", "3", "--scheme", "partitioned"}, "num_bits is 100"},
      {{"--file", "/nonexistent/file"}, "/nonexistent/file"},
      {{"--file", "/nonexistent/file", "-k", "3"}, "--num-hashes"},
  };
  for (const auto& [arguments, fragment] : cases) {
    const CommandResult result = verify(arguments);
    EXPECT_EQ(result.exit_code, 2) << fragment;
    EXPECT_EQ(result.output, "");
    EXPECT_NE(result.error.find(fragment), std::string::npos) << fragment << " not in " << result.error;
  }
}

}  // namespace
}  // namespace tally::test
