#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "command_runner.hpp"

namespace tally::test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

/// Key i of 1 to 300 stands (i mod 7) + 1 times in it.
std::string stream() {
  std::string lines;
  for (int i = 1; i <= 300; ++i) {
    for (int times = 0; times <= i % 7; ++times) lines += "key " + std::to_string(i) + "\n";
  }
  return lines;
}
std::uint64_t num_lines(const std::string& text) {
  return static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
}
std::string keys() {
  std::string lines;
  for (int i = 1; i <= 300; ++i) lines += "key " + std::to_string(i) + "\n";
  return lines;
}
class SketchCommands : public ::testing::Test {
 protected:
  std::string build(const std::string& name, std::vector<std::string> flags, const std::string& input) {
    const std::string path = directory / name;
    std::vector<std::string> arguments{"build", "-q", "-o", path, "--kind", "count-min"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const CommandResult result = run_tally(arguments, input);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return path;
  }
  std::vector<Json> count(const std::string& path) {
    std::istringstream lines(run_tally({"count", "--json", path}, keys()).output);
    std::vector<Json> counts;
    for (std::string line; std::getline(lines, line);) counts.push_back(Json::parse(line));
    return counts;
  }

  TemporaryDirectory directory;
};

TEST_F(SketchCommands, EveryCountIsWithinItsBoundsForEveryRowSchemeAndUpdate) {
  for (const char* scheme : {"congruential", "independent", "pairwise", "two-hash"}) {
    for (const char* update : {"plain", "conservative"}) {
      const std::string path =
          build(std::string(scheme) + update, {"--scheme", scheme, "--update", update, "--epsilon", "0.001"},
                stream());
      const std::vector<Json> counts = count(path);
      ASSERT_EQ(counts.size(), 300u);
      for (std::uint64_t i = 1; i <= 300; ++i) {
        const Json& own = counts[i - 1];
        EXPECT_EQ(own["key"], "key " + std::to_string(i));
        EXPECT_GE(own["count"].get<std::uint64_t>(), i % 7 + 1);
        EXPECT_LE(own["lower"].get<std::uint64_t>(), i % 7 + 1)
            << scheme;  // holds for 99% of the keys; here for all
        EXPECT_EQ(own["upper"], own["count"]);
        EXPECT_GE(own["probability"].get<double>(), 0.99);
        EXPECT_FALSE(own["is_saturated"].get<bool>());
      }
    }
  }
}

TEST_F(SketchCommands, TheShapeFollowsFromErrorOrMemoryOrIsSpelledOut) {
  const auto shape = [&](const std::string& path) {
    return Json::parse(run_tally({"info", "--json", path}).output)["shape"];
  };
  // e / 0.001 rounded up, and ln(100) rounded up.
  const Json planned = shape(build("a", {"--epsilon", "0.001", "--failure-probability", "1%"}, "x\n"));
  EXPECT_EQ(planned["width"], 2719);
  EXPECT_EQ(planned["depth"], 5);
  EXPECT_EQ(planned["counter_bits"], 64);
  EXPECT_EQ(shape(build("b", {"--epsilon", "0.001", "--total-count", "60000"}, "x\n"))["counter_bits"], 16);
  const Json in_memory = shape(build("c", {"--memory", "1MiB"}, "x\n"));
  EXPECT_LE(in_memory["width"].get<std::uint64_t>() * 5 * 8, 1u << 20);
  EXPECT_GT(in_memory["width"].get<std::uint64_t>() * 5 * 8, (1u << 20) - 100);
  const Json exact = shape(build("d",
                                 {"--width", "101", "--depth", "3", "--copies", "2", "--counter-bits", "8",
                                  "--scheme", "two-hash", "--update", "conservative"},
                                 "x\n"));
  EXPECT_EQ(exact, Json::parse(R"({"kind": "count-min", "scheme": "two-hash", "width": 101, "depth": 3,
      "num_copies": 2, "counter_bits": 8, "update": "conservative"})"));
  const std::string file = directory.write("shape.json", exact.dump());
  ASSERT_EQ(run_tally({"build", "-q", "-o", directory / "e", "--shape", file}).exit_code, 1);  // no keys
  EXPECT_EQ(shape(directory / "e"), exact);
}

TEST_F(SketchCommands, WhatDoesNotBelongTogetherIsRefusedAndTheFixNamed) {
  const auto refused = [&](std::vector<std::string> flags, const char* message) {
    std::vector<std::string> arguments{"build", "-q", "-o", directory / "x"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const CommandResult result = run_tally(arguments);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_THAT(result.error, HasSubstr(message));
  };
  refused({"--epsilon", "0.1", "-n", "10"},
          "--epsilon: a bloom filter does not have this option; use --kind count-min");
  refused({"--kind", "count-min", "-n", "10"},
          "does not depend on keys; give --epsilon and --failure-probability");
  refused({"--kind", "count-min", "--width", "10"}, "--width and --depth define a sketch together");
  refused({"--kind", "count-min", "--width", "10", "--depth", "2", "--epsilon", "0.1"},
          "leave out --width or those");
  refused({"--kind", "count-min", "--width", "10", "--depth", "2", "--counter-bits", "4"},
          "--counter-bits is 4");
  refused({"--kind", "count-min", "--width", "100", "--depth", "2", "--scheme", "two-hash"},
          "must be 97 or 101");
  refused({"--kind", "count-min", "--width", "100", "--depth", "2", "--copies", "2"}, "--copies is 2");
  refused({"--kind", "count-min", "--scheme", "triple"},
          "one of congruential, independent, pairwise, two-hash");
  refused({"--kind", "count-min", "--threshold", "3"},
          "--threshold: a count-min filter does not have this option");
  refused({"--kind", "count-min", "--epsilon", "0.1", "--memory", "1MiB", "--failure-probability", "1%"},
          "leave one of the three out");
  refused({"--kind", "bloom", "-n", "10", "--failure-probability", "1%"}, "use --kind dleft or count-min");
}

TEST_F(SketchCommands, AddMergeAndHalveChangeTheCounts) {
  const std::vector<std::string> size{"--width", "5000", "--depth", "4", "--counter-bits", "32"};
  const std::string one = build("one", size, stream());
  const std::string other = build("other", size, stream());
  ASSERT_EQ(run_tally({"add", "-q", other}, stream()).exit_code, 0);
  const std::string both = directory / "both";
  ASSERT_EQ(run_tally({"merge", "-q", "-o", both, one, other}).exit_code, 0);
  ASSERT_EQ(run_tally({"halve", "-q", both}).exit_code, 0);
  const std::vector<Json> counts = count(both);
  for (std::uint64_t i = 1; i <= 300; ++i) {
    EXPECT_GE(counts[i - 1]["count"].get<std::uint64_t>(), (3 * (i % 7 + 1) + 1) / 2);
  }
  const Json info = Json::parse(run_tally({"info", "--json", both}).output);
  EXPECT_EQ(info["count_min"]["total_count"], (3 * num_lines(stream()) + 1) / 2);
  EXPECT_EQ(info["count_min"]["rounding"], 1);
  EXPECT_THAT(run_tally({"info", both}).output, HasSubstr("a count is"));
  EXPECT_THAT(run_tally({"info", both}).output, HasSubstr("of the sum of all counts too high"));
}

TEST_F(SketchCommands, QueryPrintsTheKeysOfAtLeastACount) {
  const std::string path = build("a", {"--width", "20000", "--depth", "5"}, stream());
  const CommandResult all = run_tally({"query", path}, keys());
  EXPECT_EQ(all.output, keys());
  const std::string seven = run_tally({"query", "--at-least", "7", path}, keys()).output;
  EXPECT_EQ(num_lines(seven), 43u);  // i mod 7 is 6
  EXPECT_EQ(run_tally({"query", "--at-least", "0", path}, keys()).exit_code, 2);
}

TEST_F(SketchCommands, BoundsArePrintedWhereTheyAreKnown) {
  const std::string path = build("a", {"--width", "20000", "--depth", "5"}, "a\na\na\n");
  EXPECT_EQ(run_tally({"count", "--bounds", path}, "a\nb\n").output, "3\t3\t3\ta\n0\t0\t0\tb\n");
  const std::string filter = directory / "filter";
  ASSERT_EQ(run_tally({"build", "-q", "-n", "10", "--kind", "counting-bloom", "-o", filter}, "a\n").exit_code,
            0);
  const CommandResult result = run_tally({"count", "--bounds", filter}, "a\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(
      result.error,
      HasSubstr("is a counting-bloom filter and cannot bound a count (--bounds); use a count-min filter"));
  const CommandResult halved = run_tally({"halve", filter});
  EXPECT_EQ(halved.exit_code, 2);
  EXPECT_THAT(halved.error, HasSubstr("is a counting-bloom filter and cannot halve counts"));
}

TEST_F(SketchCommands, WeightsAreAddedWhereAFieldHasThem) {
  const std::string path = build("a", {"--width", "1000", "--depth", "3", "-d", " ", "-f", "1", "--sum", "2"},
                                 "a 7\nb 100\na 5\n");
  EXPECT_EQ(run_tally({"count", path}, "a\nb\nc\n").output, "12\ta\n100\tb\n0\tc\n");
  ASSERT_EQ(run_tally({"add", "-q", "-d", " ", "-f", "1", "--sum", "2", path}, "a 1000\n").exit_code, 0);
  EXPECT_EQ(run_tally({"count", path}, "a\n").output, "1012\ta\n");
  const CommandResult bad = run_tally({"add", "-q", "-d", " ", "-f", "1", "--sum", "2", path}, "a 1\na x\n");
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.error, HasSubstr("x"));
  EXPECT_EQ(run_tally({"count", path}, "a\n").output, "1012\ta\n");
  const std::string filter = directory / "filter";
  ASSERT_EQ(run_tally({"build", "-q", "-n", "10", "-o", filter}, "a\n").exit_code, 0);
  const CommandResult refused = run_tally({"add", "-q", "--sum", "1", filter}, "1\n");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(
      refused.error,
      HasSubstr("is a bloom filter and cannot add numbers to counts (--sum); use a count-min filter"));
  EXPECT_THAT(run_tally({"build", "-q", "-n", "10", "--sum", "1", "-o", directory / "x"}, "1\n").error,
              HasSubstr("--sum: a bloom filter does not have this option; use --kind count-min"));
}

TEST_F(SketchCommands, ASaturatedCounterIsSaid) {
  std::string many;
  for (int i = 0; i < 300; ++i) many += "a\n";
  const std::string path = build("a", {"--width", "1000", "--depth", "2", "--counter-bits", "8"}, many);
  EXPECT_EQ(run_tally({"count", path}, "a\n").output, ">=255\ta\n");
  EXPECT_THAT(run_tally({"info", path}).output, HasSubstr("problem: 2 saturated counters"));
}

}  // namespace
}  // namespace tally::test
