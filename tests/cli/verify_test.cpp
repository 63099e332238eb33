#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "command_json.hpp"
#include "command_runner.hpp"
#include "tally/hashing/scheme_list.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;

CommandResult verify(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "verify");
  return run_tally(arguments);
}

Json verify_json(std::vector<std::string> arguments, int exit_code = 0) {
  arguments.insert(arguments.begin(), "verify");
  return json_of(std::move(arguments), "", exit_code);
}

// Fixed seeds: each of these runs is one sample of a 99.9% test, and a pass stays a pass.

TEST(VerifyCommand, EveryKindAgreesWithItsTheory) {
  const std::vector<std::vector<std::string>> shapes = {
      {"-n", "1000", "-p", "1%", "--trials", "300"},
      {"-n", "1000", "-p", "1%", "--trials", "300", "--kind", "blocked-bloom"},
      {"-n", "1000", "-p", "1%", "--trials", "300", "--kind", "blocked-bloom", "--scheme", "all"},
      {"-n", "1000", "-p", "1%", "--trials", "300", "--kind", "dleft"},
      {"-n", "1000", "-p", "1%", "--trials", "300", "--kind", "dleft", "--scheme", "multiplier"},
      {"-n", "1000", "-p", "1%", "--trials", "300", "--scheme", "partitioned"},
      {"-n", "100", "--num-positions", "1639", "-k", "11", "--trials", "2000", "--scheme",
       "partition-double"},
      {"-n", "5000", "--num-positions", "20000", "-k", "3", "-t", "3", "--trials", "200"},
      {"-n", "5000", "--num-positions", "20000", "-k", "3", "-t", "3", "--trials", "200", "--conservative"},
      {"-n", "5000", "--num-positions", "2500", "-k", "2", "-t", "10", "--trials", "200", "--kind",
       "counting-bloom"},
      {"-n", "5000", "--kind", "count-min", "--width", "1000", "--depth", "2", "--trials", "300"},
      {"-n", "5000", "--kind", "count-min", "--width", "1000", "--depth", "3", "--conservative", "--trials",
       "100"},
      {"-n", "300", "--kind", "count-min", "--width", "1000", "--depth", "4", "-t", "1", "--trials", "300"},
      {"-n", "5000", "--kind", "count-min", "--width", "1000", "--depth", "2", "--scheme", "all", "--trials",
       "100"},
      {"-n", "5000", "--kind", "count-min", "--epsilon", "0.1%", "--trials", "50"},
  };
  for (const std::vector<std::string>& shape : shapes) {
    const CommandResult result = verify(shape);
    EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
  }
}

TEST(VerifyCommand, SaysOutsideWhereTheFormulaIsWrong) {
  // In so small a table a key's eight counters are far from independent.
  const Json json = verify_json(
      {"-n", "60", "--num-positions", "64", "-k", "8", "-t", "8", "--queries", "1000", "--trials", "2000"},
      1);
  EXPECT_EQ(json.at("verdict"), "outside");
  EXPECT_EQ(json.at("num_false_negatives"), 0);
  EXPECT_EQ(json.at("tests").at(0).at("law"), "independent");
  EXPECT_EQ(json.at("tests").at(0).at("verdict"), "outside");
}

// Double hashing into 100 bits is 1.6 times as often wrong as independent positions are.
TEST(VerifyCommand, EverySchemeOfASmallFilterFollowsAnExactLawOfItsOwn) {
  const Json json =
      verify_json({"-n", "12", "--num-bits", "100", "-k", "6", "--scheme", "all", "--trials", "1000"});
  EXPECT_EQ(json.at("verdict"), "inside");
  std::map<std::string, Json> by_scheme;
  for (const Json& scheme : json.at("schemes")) {
    const Json& test = scheme.at("tests").at(0);
    by_scheme[scheme.at("shape").at("scheme")] = test;
    EXPECT_EQ(test.at("law"), "exact") << scheme;
    EXPECT_EQ(test.at("verdict"), "inside") << scheme;
    EXPECT_EQ(scheme.at("num_false_negatives"), 0);
    EXPECT_GE(scheme.at("shape").at("num_positions"), 78);
    EXPECT_LE(scheme.at("shape").at("num_positions"), 100);
  }
  ASSERT_EQ(by_scheme.size(), CounterSchemes::names.size());
  const auto predicted = [&](const char* scheme) {
    return by_scheme.at(scheme).at("predicted_rate").get<double>();
  };
  EXPECT_EQ(predicted("congruential"), predicted("standard"));
  EXPECT_GT(predicted("double"), 1.3 * predicted("standard"));
  EXPECT_GT(by_scheme.at("double").at("low"), predicted("standard"));
}

TEST(VerifyCommand, AllSchemesMakeOneTable) {
  const CommandResult result =
      verify({"-n", "12", "--num-bits", "100", "-k", "6", "--scheme", "all", "--trials", "100"});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
  for (const char* part :
       {"every scheme", "congruential ", "standard ", "partitioned ", "partition-double ", "double ",
        "enhanced-double-quadratic ", "enhanced-double-cubic ", "triple ", "law"}) {
    EXPECT_NE(result.output.find(part), std::string::npos) << part << " not in\n" << result.output;
  }
  EXPECT_EQ(result.output.find("limit'"), std::string::npos) << result.output;
  EXPECT_EQ(
      verify({"-n", "500", "-p", "1%", "--kind", "dleft", "--scheme", "all", "--trials", "50"}).exit_code, 0);
}

// Triple hashing into 300 bits is too much to count. The rate is more than twice the limit, and that is no
// contradiction.
TEST(VerifyCommand, ALimitThatASmallFilterMissesIsNoFailure) {
  const std::vector<std::string> shape = {"-n",       "19",     "--num-bits", "300",  "-k",        "11",
                                          "--scheme", "triple", "--trials",   "1000", "--queries", "2000"};
  const CommandResult result = verify(shape);
  EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
  EXPECT_NE(result.output.find("differs"), std::string::npos) << result.output;
  const Json json = verify_json(shape);
  EXPECT_EQ(json.at("tests").at(0).at("law"), "limit");
  EXPECT_EQ(json.at("tests").at(0).at("verdict"), "outside");
  EXPECT_EQ(json.at("verdict"), "inside");
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
  const Json json = verify_json({"--file", file, "-n", "1000", "--trials", "100"});
  EXPECT_EQ(json.at("shape").at("num_hashes"), 7);
}

TEST(VerifyCommand, RefusesAFileWhoseThetaIsTooHigh) {
  const TemporaryDirectory directory;
  const std::string keys = directory.write("keys", "a\n");
  const std::string file = directory / "f.tally";
  ASSERT_EQ(run_tally({"build", "-o", file, "--kind", "threshold", "--threshold", "20000", "--keys", "10",
                       "-p", "1%", keys})
                .exit_code,
            0);
  const CommandResult result = verify({"--file", file});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.error,
            "tally verify: threshold of the shape is 20000; must be 1 to 10000; give a filter with a smaller "
            "one\n");
}

TEST(VerifyCommand, TestsThePromiseOfAPlan) {
  const CommandResult kept = verify({"-n", "1000", "-t", "3", "-p", "5%", "--trials", "200"});
  EXPECT_EQ(kept.exit_code, 0) << kept.output << kept.error;
  EXPECT_NE(kept.output.find("Promise: at most 0.05 for keys that were inserted 2 times: measured "),
            std::string::npos)
      << kept.output;
  EXPECT_NE(kept.output.find("kept (would notice +"), std::string::npos) << kept.output;
  const Json json = verify_json({"-n", "1000", "-t", "3", "-p", "5%", "--trials", "200"});
  EXPECT_EQ(json.at("promise").at("verdict"), "kept");
  EXPECT_EQ(json.at("promise").at("true_count"), 2);
  // The load of the promise is that of 1000 distinct keys, some of which are inserted twice or more.
  EXPECT_GT(json.at("num_insertions"), 1000);
  EXPECT_EQ(json.at("num_insertions_of_original"), nullptr);
}

TEST(VerifyCommand, SaysThatAPromiseIsBroken) {
  const TemporaryDirectory directory;
  const std::string keys = directory.write("keys", "a\nb\nc\n");
  const std::string file = directory / "f.tally";
  ASSERT_EQ(run_tally({"build", "-o", file, "--keys", "1000", "-p", "5%", keys}).exit_code, 0);
  const std::vector<std::string> too_many = {"--file", file, "-n", "1500", "-p", "5%", "--trials", "200"};
  const CommandResult broken = verify(too_many);
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_NE(broken.output.find("BROKEN: it is at least 0."), std::string::npos) << broken.output;
  const Json json = verify_json(too_many, 1);
  EXPECT_EQ(json.at("promise").at("verdict"), "broken");
  EXPECT_EQ(json.at("tests").at(0).at("verdict"), "inside");  // the law holds
  EXPECT_EQ(json.at("verdict"), "outside");
  EXPECT_EQ(verify({"--file", file, "-n", "1000", "-p", "5%", "--trials", "200"}).exit_code, 0);
}

TEST(VerifyCommand, TestsThePromiseOfASketch) {
  const std::vector<std::string> arguments{"-n", "1000",    "--kind", "count-min", "--width",
                                           "20", "--depth", "1",      "--trials",  "2000"};
  for (const bool is_conservative : {false, true}) {
    std::vector<std::string> own = arguments;
    if (is_conservative) own.emplace_back("--conservative");
    const Json promise = verify_json(own).at("promise");
    EXPECT_EQ(promise.at("error"), 135);  // e / 20 of all insertions
    EXPECT_GT(promise.at("measured_rate"), 0.05);
    EXPECT_EQ(promise.at("verdict"), "kept");
    EXPECT_NEAR(promise.at("false_positive_rate").get<double>(), 0.3679, 0.0001);
  }
  const CommandResult text = verify({"-n", "100k", "--kind", "count-min", "--epsilon", "0.1%"});
  EXPECT_NE(text.output.find("Promise: at most 0.006738 of absent keys are counted above 99: measured"),
            std::string::npos)
      << text.output;
  EXPECT_NE(text.output.find("kept"), std::string::npos) << text.output;
}

TEST(VerifyCommand, SaysThatARateIsTooSmallToBeSeen) {
  const CommandResult result = verify({"-n", "1000", "-p", "1e-12", "--trials", "10", "--queries", "1000"});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
  EXPECT_NE(result.output.find("too small to be seen"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("too few false positives are"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("1e-08 false positives"), std::string::npos) << result.output;
  const Json json = verify_json({"-n", "1000", "-p", "1e-12", "--trials", "10", "--queries", "1000"});
  EXPECT_EQ(json.at("promise").at("verdict"), "unseen");
  EXPECT_EQ(json.at("tests").at(0).at("seen"), false);
  EXPECT_GT(json.at("tests").at(0).at("high"), 1e-12);
}

// Six seconds: a filter of 3 GiB would take half an hour.
TEST(VerifyCommand, VerifiesASmallerFilterIfTheFilterIsLarge) {
  const Json json = verify_json({"-n", "5G", "-p", "10%", "--kind", "blocked-bloom", "--scheme",
                                 "register-blocked", "--queries", "20000"});
  EXPECT_EQ(json.at("num_insertions_of_original"), 5'000'000'000u);
  EXPECT_LT(json.at("num_insertions"), 100'000'000);
  EXPECT_GE(json.at("num_trials"), 5);
  EXPECT_EQ(json.at("promise").at("verdict"), "kept");
}

TEST(VerifyCommand, RefusesBadShapesWithExitCodeTwo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "--keys"},
      {{"-n", "5"}, "--num-positions"},
      {{"-n", "5", "--num-positions", "100"}, "--num-hashes"},
      {{"-n", "5", "--num-positions", "100", "-k", "1025"}, "--num-hashes"},
      {{"-n", "5", "-p", "nan"}, "--false-positive-rate"},
      {{"-n", "5", "-p", "1%", "--confidence", "1"}, "--confidence"},
      {{"-n", "5", "-p", "1%", "--kind", "bloom", "-t", "2"},
       "--threshold: a bloom filter does not have this option"},
      {{"-n", "5", "--num-positions", "100", "-k", "3", "--scheme", "partitioned"}, "--num-bits is 100"},
      {{"-n", "5", "--num-positions", "512", "-k", "3", "--kind", "blocked-bloom", "--scheme",
        "register-blocked"},
       "--num-hashes is 3; must be a multiple of 8"},
      {{"-n", "5", "-p", "1%", "--kind", "compact-dleft", "--scheme", "all"}, "--scheme"},
      {{"-n", "100000000", "--kind", "count-min", "--width", "100", "--depth", "3"},
       "--keys is 100000000; must be smaller: the counts of more than 10% of the absent keys reach 10000"},
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
