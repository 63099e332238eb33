// --plot of plan, info and verify: what is drawn, where it goes, and what is refused. gnuplot draws.

#include <gtest/gtest.h>

#include <boost/property_tree/xml_parser.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "command_runner.hpp"

namespace tally::test {
namespace {

const std::vector<std::string> some_plan = {"plan", "--keys", "100k", "-p", "1%", "--plot"};

std::vector<std::string> with(std::vector<std::string> arguments, std::initializer_list<std::string> more) {
  arguments.insert(arguments.end(), more);
  return arguments;
}

/// All text of a well-formed XML document; read_xml throws for any other.
std::string text_of_svg(const std::string& path) {
  std::istringstream in(read_file(path));
  boost::property_tree::ptree tree;
  boost::property_tree::read_xml(in, tree);
  std::string text;
  const auto collect = [&](const auto& self, const boost::property_tree::ptree& node) -> void {
    text += node.data();
    for (const auto& [name, child] : node) self(self, child);
  };
  collect(collect, tree.get_child("svg"));
  return text;
}

void expect_holds(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin " << text;
}

/// A filter of `num_keys` numbers, built with these options.
std::string build(const TemporaryDirectory& directory, int num_keys, std::vector<std::string> options) {
  std::string keys;
  for (int i = 0; i < num_keys; ++i) keys += std::to_string(i) + "\n";
  const std::string path = directory / "filter.tally";
  options.insert(options.begin(), {"build", "-o", path, "--force"});
  const CommandResult result = run_tally(options, keys);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  return path;
}

TEST(Plot, OfAPlanHasACurveForEachStructureAndMarksTheRecommendedOne) {
  const TemporaryDirectory directory;
  const CommandResult result = run_tally(with(some_plan, {directory / "plan.svg"}));
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.output, run_tally({"plan", "--keys", "100k", "-p", "1%"}).output);
  expect_holds(text_of_svg(directory / "plan.svg"),
               {"100.0 K keys: bloom, 117.1 KiB, false positive rate 1%", "memory, KiB", "blocked-bloom",
                "counting-bloom", "dleft", "candidates", "recommended"});
}

TEST(Plot, OfAPlanForAThresholdNamesTheQuestion) {
  const TemporaryDirectory directory;
  const CommandResult result = run_tally(
      {"plan", "--memory", "1MiB", "-p", "1%", "-t", "3", "--deletes", "--plot", directory / "plan.svg"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  expect_holds(text_of_svg(directory / "plan.svg"),
               {"seen 3 times or more?", "false positive rate (if never seen)", "dleft", "counting-bloom",
                "recommended"});
}

TEST(Plot, IsAPngByItsSuffix) {
  const TemporaryDirectory directory;
  EXPECT_EQ(run_tally(with(some_plan, {directory / "plan.png"})).exit_code, 0);
  const std::string bytes = read_file(directory / "plan.png");
  EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(bytes.substr(bytes.size() - 8, 4), "IEND");
}

TEST(Plot, WithoutAFileIsASketchAfterTheText) {
  const CommandResult result = run_tally(some_plan);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  const std::string text = run_tally({"plan", "--keys", "100k", "-p", "1%"}).output;
  ASSERT_EQ(result.output.substr(0, text.size()), text);
  const std::string sketch = result.output.substr(text.size());
  expect_holds(sketch,
               {"100.0 K keys", "memory, KiB", "upwards: false positive", "recommended", "|", "+---"});
  EXPECT_EQ(sketch.find_first_of("\f\x1b"), std::string::npos);
}

TEST(Plot, ASketchHasTheWidthOfTheTerminal) {
  const auto longest_line = [](const std::string& columns) {
    const CommandResult result =
        run_shell("COLUMNS=" + columns + " $TALLY plan --keys 100k -p 1% --plot | sed '1,/For comparison/d'");
    EXPECT_EQ(result.exit_code, 0) << result.error;
    std::istringstream lines(result.output);
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    return longest;
  };
  EXPECT_LT(longest_line("60"), 60);
  EXPECT_GT(longest_line("120"), 90);
  EXPECT_LT(longest_line("120"), 120);
}

TEST(Plot, OfAFilterHasItsCountersAndTheLaw) {
  const TemporaryDirectory directory;
  const std::string filter = build(directory, 3000, {"--kind", "counting-bloom", "-n", "3000", "-p", "1%"});
  const CommandResult result = run_tally({"info", filter, "--plot", directory / "info.svg"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  expect_holds(text_of_svg(directory / "info.svg"), {"counting-bloom filter", "value", "counters",
                                                     "Poisson law, mean 0.7", "for 3000 insertions"});
}

TEST(Plot, OfABloomFilterHasItsBits) {
  const TemporaryDirectory directory;
  const std::string filter = build(directory, 1000, {"-n", "1000", "-p", "1%"});
  EXPECT_EQ(run_tally({"info", filter, "--plot", directory / "info.svg"}).exit_code, 0);
  expect_holds(text_of_svg(directory / "info.svg"), {"bloom filter", "bits", "Poisson law"});
}

TEST(Plot, OfConservativeUpdateHasNoLaw) {
  const TemporaryDirectory directory;
  const std::string filter =
      build(directory, 1000, {"--theta", "3", "--update", "conservative", "-n", "1000", "-p", "1%"});
  EXPECT_EQ(run_tally({"info", filter, "--plot", directory / "info.svg"}).exit_code, 0);
  const std::string text = text_of_svg(directory / "info.svg");
  expect_holds(text, {"threshold filter", "counters"});
  EXPECT_EQ(text.find("Poisson"), std::string::npos);
}

TEST(Plot, OfADLeftFilterHasItsBucketsAndTheFluidLimit) {
  const TemporaryDirectory directory;
  const std::string filter = build(directory, 3000, {"--kind", "dleft", "-n", "3000", "-p", "1%"});
  const CommandResult result = run_tally({"info", filter, "--plot", directory / "info.svg"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  expect_holds(text_of_svg(directory / "info.svg"), {"cells in use", "buckets", "fluid limit"});
}

TEST(Plot, OfAVerificationHasTheLimitsAndThePrediction) {
  const TemporaryDirectory directory;
  const CommandResult result = run_tally({"verify", "--keys", "1000", "-t", "3", "-p", "20%", "--trials",
                                          "40", "--plot", directory / "verify.svg"});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
  expect_holds(text_of_svg(directory / "verify.svg"),
               {"threshold, ", "1051 insertions, 40 filters", "times that the key was inserted",
                "false positive rate", "predicted", "measured, with limits"});
}

TEST(Plot, OfAVerificationInWhichNonePassedHasAnUpperLimit) {
  const TemporaryDirectory directory;
  const CommandResult result = run_tally({"verify", "--keys", "1000", "-t", "2", "-p", "0.1%", "--trials",
                                          "4", "--queries", "100", "--plot", directory / "verify.svg"});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
  expect_holds(text_of_svg(directory / "verify.svg"), {"no false positive: upper limit"});
}

TEST(Plot, OfEverySchemeNamesThem) {
  const TemporaryDirectory directory;
  const CommandResult result = run_tally({"verify", "--keys", "200", "-p", "20%", "--trials", "40",
                                          "--scheme", "all", "--plot", directory / "verify.svg"});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
  expect_holds(text_of_svg(directory / "verify.svg"),
               {"every scheme", "congruential", "enhanced-double-cubic", "in the order of the table"});
  const CommandResult sketch =
      run_tally({"verify", "--keys", "200", "-p", "20%", "--trials", "40", "--scheme", "all", "--plot"});
  expect_holds(sketch.output, {"upwards", "predicted"});
}

TEST(Plot, IsRefusedWhereItWouldOverwriteAFile) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("plan.svg", "precious");
  const CommandResult refused = run_tally(with(some_plan, {file}));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.output, "");
  expect_holds(refused.error, {"--plot", "plan.svg' exists", "--force"});
  EXPECT_EQ(read_file(file), "precious");

  EXPECT_EQ(run_tally(with(some_plan, {file, "--force"})).exit_code, 0);
  expect_holds(text_of_svg(file), {"recommended"});
  EXPECT_EQ(directory.num_files(), 1u);
}

TEST(Plot, NeedsASuffixThatItKnowsAndAFileBesideJson) {
  const CommandResult suffix = run_tally(with(some_plan, {"plan.jpg"}));
  EXPECT_EQ(suffix.exit_code, 2);
  expect_holds(suffix.error, {"'plan.jpg' ends neither in .svg nor in .png"});
  const CommandResult json = run_tally(with(some_plan, {"--json"}));
  EXPECT_EQ(json.exit_code, 2);
  EXPECT_EQ(json.output, "");
  expect_holds(json.error, {"a sketch is not JSON"});
}

TEST(Plot, SaysThatGnuplotIsMissingBeforeAnyWorkIsDone) {
#ifdef TALLY_COMMAND_IS_EMULATED
  GTEST_SKIP() << "qemu does not report that a program could not be started";
#endif
  const TemporaryDirectory directory;
  for (const std::string& target : {std::string(), directory / "plan.svg"}) {
    const CommandResult result =
        run_shell("PATH=/nonexistent $TALLY plan --keys 100k -p 1% --plot " + target);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.output, "");
    expect_holds(result.error, {"gnuplot, which is not installed", "gnuplot-nox"});
  }
  EXPECT_EQ(directory.num_files(), 0u);
}

TEST(Plot, SaysWhatGnuplotSaidAndWritesNothingIfItFails) {
  const TemporaryDirectory directory;
  const std::string program = directory.write("gnuplot", "#!/bin/sh\necho 'out of ink' >&2\nexit 3\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const CommandResult result = run_shell("PATH='" + (directory / "") +
                                         "' $TALLY plan --keys 100k -p 1% --plot '" + (directory / "a.svg'"));
  EXPECT_EQ(result.exit_code, 2);
  expect_holds(result.error, {"gnuplot failed: out of ink"});
  EXPECT_EQ(directory.num_files(), 1u);
}

TEST(Plot, ANameIsNoCommandAndNobodysStartUpFileIsRead) {
  const TemporaryDirectory directory;
  directory.write(".gnuplot", "exit status 9\n");
  const std::string name = "a'b `touch oops` $(touch oops) \\\".svg";
  const CommandResult result = run_shell(
      "cd '" + (directory / "") + "' && HOME=$PWD $TALLY plan --keys 100k -p 1% --plot \"$(cat)\"", name);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  expect_holds(text_of_svg(directory / name), {"recommended"});
  EXPECT_EQ(directory.num_files(), 2u);
}

}  // namespace
}  // namespace tally::test
