#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "command_json.hpp"
#include "command_runner.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;
using Row = std::map<std::string, std::string>;

/// Rows of tests/data/<name>, as text, by column name.
std::vector<Row> csv_rows(const std::string& name) {
  std::ifstream file(std::string(TALLY_TEST_DATA_DIR) + "/" + name);
  std::vector<std::string> columns;
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    Row row;
    for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i]] = cells.at(i);
    rows.push_back(row);
  }
  return rows;
}

Json theory(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "theory");
  return json_of(std::move(arguments));
}

void expect_relative(double value, double truth, double tolerance) {
  EXPECT_LE(std::fabs(value - truth), tolerance * std::fabs(truth)) << value << " and " << truth;
}

void expect_refused_with(const std::vector<std::string>& arguments, const std::string& fragment) {
  std::vector<std::string> all = arguments;
  all.insert(all.begin(), "theory");
  const CommandResult result = run_tally(all);
  EXPECT_EQ(result.exit_code, 2) << fragment;
  EXPECT_EQ(result.output, "");
  EXPECT_NE(result.error.find(fragment), std::string::npos) << result.error;
}

TEST(TheoryCommand, GivesTheReferenceValuesOfKappaStar) {
  for (const Row& row : csv_rows("kappa_star.csv")) {
    const Json json = theory({"kappa-star", "--theta", row.at("theta")});
    expect_relative(json.at("value"), std::stod(row.at("kappa_star")), 1e-12);
    expect_relative(json.at("ln_c"), std::stod(row.at("ln_c")), 1e-12);
  }
}

TEST(TheoryCommand, GivesTheReferenceValuesOfTheThresholdFormulas) {
  const std::vector<Row> rows = csv_rows("threshold_fpr.csv");
  ASSERT_FALSE(rows.empty());
  for (std::size_t i = 0; i < rows.size(); i += 11) {
    const Row& row = rows[i];
    const std::vector<std::string> arguments = {"threshold-false-positive-rate",
                                                "--theta",
                                                row.at("theta"),
                                                "--k",
                                                row.at("k"),
                                                "--n",
                                                row.at("n"),
                                                "--m",
                                                row.at("m")};
    expect_relative(theory(arguments).at("ln_value"), std::stod(row.at("ln_approx")), 1e-9);
    std::vector<std::string> exact = arguments;
    exact.emplace_back("--exact");
    expect_relative(theory(exact).at("ln_value"), std::stod(row.at("ln_exact")), 1e-9);
  }
}

TEST(TheoryCommand, GivesTheTablesOfSummaryCacheToTheirThreeDigits) {
  const std::vector<Row> rows = csv_rows("summary_cache_tables.csv");
  ASSERT_FALSE(rows.empty());
  for (std::size_t i = 0; i < rows.size(); i += 29) {
    const Row& row = rows[i];
    if (row.at("printed_typo") == "1" || row.at("printed_typo") == "True") continue;
    const std::string m = std::to_string(std::stoull(row.at("m_over_n")) * 1'000'000'000);
    const Json json = theory({"bloom-false-positive-rate", "--m", m, "--k", row.at("k"), "--n", "1e9"});
    expect_relative(json.at("value"), std::stod(row.at("printed")), 0.006);
  }
}

TEST(TheoryCommand, GivesTheReferenceFractionsOfTheDLeftFluidLimit) {
  for (const bool churn : {false, true}) {
    std::vector<std::string> arguments = {"dleft-load", "--d", "4", "--load", "6.5"};
    if (churn) arguments.emplace_back("--churn");
    const Json json = theory(arguments);
    EXPECT_EQ(json.at("value"), churn ? 9 : 8);  // cells that fewer than 1e-9 of the buckets exceed
    int checked = 0;
    for (const Row& row : csv_rows("dleft_fluid_limit.csv")) {
      const std::string& text = row.at(churn ? "steady" : "insert_only");
      if (row.at("d") != "4" || row.at("average_load") != "6.5" || text.empty()) continue;
      const std::size_t i = std::stoull(row.at("i"));
      expect_relative(json.at("fractions").at(i - 1), std::stod(text), 1e-6);
      double sum = 0.0;
      for (const std::string subtable : {"subtable_1", "subtable_2", "subtable_3", "subtable_4"}) {
        const Json& fractions = json.at(subtable);
        if (i <= fractions.size()) sum += fractions.at(i - 1).get<double>();
      }
      expect_relative(sum / 4, std::stod(text), 1e-6);
      ++checked;
    }
    EXPECT_EQ(checked, 9);
  }
  const CommandResult text = run_tally({"theory", "dleft-load", "--d", "1", "--load", "0.69314718055994531"});
  EXPECT_EQ(text.output.rfind("10\nfractions 0.5", 0), 0u) << text.output;
}

TEST(TheoryCommand, GivesThePapersNumbersOfTheDLeftExample) {
  const std::vector<std::string> filter = {"--buckets", "2048", "--remainder-bits", "14", "--n"};
  const auto with = [&](std::vector<std::string> words, const std::vector<std::string>& last) {
    words.insert(words.end(), filter.begin(), filter.end());
    words.insert(words.end(), last.begin(), last.end());
    return theory(words);
  };
  const Json rate = with({"dleft-false-positive-rate"}, {"49152", "--d", "4"});
  expect_relative(rate.at("value"), 0.0014638, 5e-5);
  expect_relative(rate.at("load"), 5.9956, 1e-5);
  expect_relative(rate.at("distinct_fingerprints"), rate.at("load").get<double>() * 8192, 1e-12);
  const Json counter =
      with({"dleft-counter-overflow"}, {"49152", "--limit", "5", "--operations", "10485760000"});
  expect_relative(counter.at("value"), 1.89e-9, 0.005);
  expect_relative(counter.at("expected_churning"), 0.002, 0.01);
  const Json trial = theory({"dleft-lifetime-overflow", "--d", "4", "--buckets", "2048", "--cells", "8",
                             "--load", "6.49484535", "--operations", "1048576"});
  expect_relative(trial.at("value"), 0.0247, 0.002);
  expect_relative(trial.at("expected_churning"), 0.0250, 0.002);
  const Json one =
      theory({"dleft-overflow-probability", "--d", "4", "--cells", "8", "--load", "6.5", "--steps", "1000"});
  expect_relative(one.at("ln_value"), std::log(one.at("value").get<double>()), 1e-12);
  const Json moves = theory({"dleft-moves", "--d", "4", "--cells", "8", "--load", "7.84", "--steps", "2"});
  expect_relative(moves.at("value"), 0.5426, 1e-3);
  expect_relative(moves.at("full_share"), 0.8583, 1e-3);
  expect_relative(moves.at("room_probability"), 0.1350, 1e-3);
  expect_relative(theory({"dleft-orientable-load", "--d", "2", "--cells", "4"}).at("fraction_of_cells"),
                  0.9803697743, 1e-9);
  expect_relative(theory({"dleft-no-placement", "--d", "2", "--buckets", "8", "--cells", "8", "--n", "81"})
                      .at("ln_value"),
                  -25.2853129, 1e-8);
  const Json deviation = theory(
      {"false-positive-rate-deviation", "--m", "40000", "--k", "6", "--n", "5000", "--epsilon", "0.002"});
  expect_relative(deviation.at("bound_independent"), 0.01018, 1e-3);
  expect_relative(deviation.at("standard_deviation"), 3.51e-4, 1e-3);
  std::vector<std::string> few{"dleft-few-buckets", "--d", "2",   "--buckets", "4",
                               "--cells",           "8",   "--n", "30"};
  expect_relative(theory(few).at("value"), 9.58690e-11, 1e-4);
  few.emplace_back("--churn");
  expect_relative(theory(few).at("value"), 1.39993e-8, 1e-4);
  const Json load = theory({"dleft-safe-load", "--d", "4", "--cells", "8", "--churn"});
  expect_relative(load.at("fraction_of_cells"), 0.804, 6e-4);
  const Json life = theory({"dleft-lifetime-safe-load", "--d", "4", "--buckets", "2048", "--cells", "8",
                            "--operations", "1048576", "--failure-probability", "0.0254"});
  expect_relative(life.at("value"), 6.495, 1e-3);
}

TEST(TheoryCommand, PrintsFullPrecisionAndTheLogarithmThatDoesNotUnderflow) {
  const Json json = theory({"bloom-false-positive-rate", "--m", "1e12", "--k", "200", "--n", "1"});
  EXPECT_EQ(json.at("value"), 0.0);
  expect_relative(json.at("ln_value"), 200 * std::log(200e-12), 1e-9);
  const CommandResult text = run_tally({"theory", "kappa-star", "--theta", "1"});
  EXPECT_EQ(text.output.substr(0, 17), "0.693147180559945");
  EXPECT_GE(text.output.find("\nln_c"), 18u);
}

TEST(TheoryCommand, ListsEveryFormulaAndEachRunsOrNamesWhatIsMissing) {
  const CommandResult result = run_tally({"theory", "--json"});
  ASSERT_EQ(result.exit_code, 0);
  const Json list = Json::parse(result.output);
  EXPECT_GE(list.size(), 15u);
  for (const Json& entry : list) {
    const CommandResult bare = run_tally({"theory", entry.at("formula")});
    EXPECT_EQ(bare.exit_code, 2) << entry;
    EXPECT_NE(bare.error.find("missing"), std::string::npos) << bare.error;
  }
}

TEST(TheoryCommand, CalculatesEveryFormula) {
  const std::string histogram = "# count keys\n1 100000\n\n2 500\n";
  const TemporaryDirectory directory;
  const std::string file = directory.write("histogram", histogram);
  const std::vector<std::pair<std::vector<std::string>, double>> cases = {
      {{"bloom-false-positive-rate", "--m", "1", "--k", "3", "--n", "5"}, 1},
      {{"bloom-best-num-hashes", "--m", "10", "--n", "1"}, 7},
      {{"bloom-best-false-positive-rate", "--m", "1", "--n", "1"}, std::exp(-std::log(2) * std::log(2))},
      {{"blocked-bloom-false-positive-rate", "--m", "512", "--k", "1", "--n", "1"}, 1.0 / 512},
      {{"register-blocked-bloom-false-positive-rate", "--m", "512", "--k", "8", "--n", "1"},
       std::pow(1.0 / 64, 8)},
      {{"register-blocked-bloom-false-positive-rate", "--m", "64", "--k", "1", "--n", "1", "--line-bits",
        "64"},
       1.0 / 64},
      {{"blocked-bloom-best-num-hashes", "--m", "512", "--n", "1000"}, 1},
      // one other key: the same pair (1/p^2), or met in the one part (1/(p+1) of the rest)
      {{"partition-double-false-positive-rate", "--p", "7", "--k", "1", "--n", "1"},
       1.0 / 49 + (48.0 / 49) / 8},
      // one key, one position
      {{"double-hashing-false-positive-rate", "--m", "5", "--k", "1", "--n", "1", "--quadratic"}, 0.2},
      {{"double-hashing-false-positive-rate", "--m", "14", "--k", "2", "--n", "1", "--partition"},
       1.0 / 49},  // both positions
      {{"false-positive-rate-deviation", "--m", "40000", "--k", "6", "--n", "5000", "--epsilon", "0.06",
        "--bias", "0.01"},
       2 * std::exp(-25 / 20.25)},
      {{"false-positive-rate-deviation", "--m", "40000", "--k", "6", "--n", "5000", "--epsilon", "0.1",
        "--queries", "464"},
       2 * std::exp(-25 / 20.25) + 2 * std::exp(-2.32)},
      {{"counter-overflow", "--m", "100", "--k", "2", "--n", "10", "--limit", "3"}, 100 * 1140e-6},
      {{"threshold-best-num-hashes", "--theta", "1", "--n", "1", "--m", "10"}, 7},
      {{"threshold-g", "--theta", "1", "--kappa", "0.69314718055994531"}, 0},
      {{"inverse-gamma", "--x", "24"}, 5},
      {{"poisson-tail", "--theta", "1", "--kappa", "1"}, 1 - std::exp(-1)},
      {{"poisson-tail", "--theta", "1", "--kappa", "1", "--lower"}, std::exp(-1)},
      {{"binomial-tail", "--theta", "2", "--trials", "2", "--probability", "0.5"}, 0.25},
      {{"binomial-confidence-limits", "--successes", "1", "--trials", "4", "--confidence", "0.9"}, 0.25},
      {{"distinct-keys-estimate", "--m", "100", "--k", "1", "--zeros", "50"}, 100 * std::log(2)},
      {{"similarity", "--m", "100", "--k", "1", "--occupied-a", "50", "--occupied-b", "50",
        "--occupied-either", "50"},
       1},
      {{"count-min-failure-probability", "--w", "100", "--depth", "2", "--epsilon", "0.1"}, 0.01},
      {{"count-min-failure-probability", "--w", "100", "--depth", "2", "--epsilon", "0.1", "--two-hash",
        "--copies", "2"},
       0.042 * 0.042},
      {{"count-min-size", "--epsilon", "0.01", "--failure-probability", "0.01"}, 272 * 5},
      {{"count-min-size", "--epsilon", "0.01", "--failure-probability", "0.01", "--two-hash"}, 544 * 5},
      {{"flipped-share", "--m", "2", "--k", "1", "--n", "1", "--removed", "1", "--added", "1"}, 0.5},
      {{"delta-bits", "--m", "2", "--k", "1", "--n", "1", "--removed", "1", "--added", "1"}, 2},
      {{"dleft-delta-bits", "--d", "2", "--buckets", "4", "--cells", "8", "--remainder-bits", "6", "--n",
        "48", "--removed", "48", "--added", "0"},
       435.92179996536534},
      {{"larger-share-probability", "--n", "3", "--shares", "2", "--share-keys", "2"}, 0.25},
      {{"largest-share", "--n", "100000000", "--shares", "64", "--failure-probability", "1e-6"}, 1569368},
      {{"stale-miss-share", "--n", "1000", "--insertion-rate", "4", "--new-share", "0.01", "--delay", "0.5"},
       0.0065},
      {{"compound-threshold-false-positive-rate", "--theta", "1", "--k", "1", "--m", "100500", "--histogram",
        file},
       1 - std::exp(-1)},
  };
  for (const auto& [arguments, truth] : cases) {
    const double value = theory(arguments).at("value");
    EXPECT_NEAR(value, truth, 1e-9 * std::fabs(truth) + 1e-12) << arguments[0];
  }
}

TEST(TheoryCommand, EveryFormulaHasItsTwoNamesOnThePage) {
  const std::string root = std::string(TALLY_TEST_DATA_DIR) + "/../..";
  const std::string page = read_file(root + "/docs/theory.md");
  const auto expect_on_page = [&](const std::string& name) {
    EXPECT_NE(page.find('`' + name + '`'), std::string::npos) << name;
  };
  std::size_t num_names = 0;
  std::istringstream listing(run_tally({"theory"}).output);
  for (std::string line; std::getline(listing, line);) {
    static const std::regex name("^([a-z]+(?:-[a-z]+)+)( .*|$)");
    if (std::smatch found; std::regex_match(line, found, name)) expect_on_page((++num_names, found[1]));
  }
  EXPECT_GT(num_names, 25U);

  std::size_t num_functions = 0;
  for (const auto& header : std::filesystem::directory_iterator(root + "/include/tally/theory")) {
    const std::string text = read_file(header.path().string());
    static const std::regex declaration(
        "\\n(?:TALLY_EXPORT )?(?:inline )?(?:double|std::[a-z0-9_:<>]+|[A-Z]\\w+) "
        "(?:ln_)?(\\w+?)(?:_approximate)?\\(");
    for (std::sregex_iterator i(text.begin(), text.end(), declaration), end; i != end; ++i)
      expect_on_page((++num_functions, i->str(1)));
  }
  EXPECT_GT(num_functions, 60U);
}

TEST(TheoryCommand, RefusesBadValuesAndNamesTheParameter) {
  const auto bloom = [](const std::string& m, const std::string& k, const std::string& n) {
    return std::vector<std::string>{"bloom-false-positive-rate", "--m", m, "--k", k, "--n", n};
  };
  expect_refused_with(bloom("0", "7", "5"), "m is 0");
  expect_refused_with(bloom("10", "0", "5"), "k is 0");
  expect_refused_with(bloom("10", "1025", "5"), "k is 1025");
  expect_refused_with(bloom("10", "1e10", "5"), "--k is 10000000000");
  expect_refused_with(bloom("nan", "7", "5"), "--m");
  expect_refused_with(bloom("inf", "7", "5"), "--m");
  expect_refused_with(bloom("-5", "7", "5"), "--m");
  expect_refused_with(bloom("1.5", "7", "5"), "--m");
  expect_refused_with(bloom("1e30", "7", "5"), "--m");
  expect_refused_with({"kappa-star", "--theta", "0"}, "theta is 0");
  expect_refused_with({"kappa-star", "--theta", "3", "--k", "5"}, "--k is not a parameter");
  expect_refused_with({"poisson-tail", "--theta", "3", "--kappa", "nan"}, "--kappa");
  expect_refused_with({"no-such-formula"}, "no-such-formula");
  expect_refused_with({"partition-double-false-positive-rate", "--k", "3", "--n", "5"}, "--p");
  expect_refused_with({"dleft-load", "--d", "9", "--load", "6"}, "d is 9");
  expect_refused_with({"dleft-load", "--d", "4", "--load", "1000"}, "--load is 1000");
  expect_refused_with({"dleft-load", "--d", "4", "--load", "6", "--churn", "--steps", "2"}, "one of --churn");
  expect_refused_with({"dleft-false-positive-rate", "--buckets", "8", "--n", "5"}, "--remainder-bits");
  expect_refused_with({"dleft-false-positive-rate", "--buckets", "8", "--n", "5", "--remainder-bits", "64"},
                      "--remainder-bits is 64");
  expect_refused_with(
      {"count-min-failure-probability", "--w", "10", "--depth", "2", "--epsilon", "0.1", "--copies", "2"},
      "--copies is for --two-hash");
  expect_refused_with({"count-min-size", "--epsilon", "2", "--failure-probability", "0.1"}, "epsilon is 2");
  expect_refused_with({"dleft-safe-load", "--d", "4", "--cells", "8", "--share", "2"}, "share is 2");
  std::vector<std::string> two_forms = bloom("10", "1", "5");
  two_forms.insert(two_forms.end(), {"--approximate", "--occupancy"});
  expect_refused_with(two_forms, "2 forms are given; give one");
}

TEST(TheoryCommand, NamesTheLineOfABadHistogram) {
  const TemporaryDirectory directory;
  for (const std::string bad : {"1 100\n2\n", "1 100\n2 x\n", "1 100\n0 5\n", "1 100\n1 2 3\n"}) {
    const std::string file = directory.write("histogram", bad);
    expect_refused_with({"compound-threshold-false-positive-rate", "--theta", "2", "--k", "1", "--m", "10",
                         "--histogram", file},
                        "line 2");
  }
}

}  // namespace
}  // namespace tally::test
