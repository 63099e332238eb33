// --fastest, --smallest, --balanced and --figures of plan, and the first three of bench.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "command_json.hpp"
#include "command_runner.hpp"

namespace tally::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

const Words of_unique_keys{"-n", "20k", "-p", "0.2%", "--deletes", "--unique-keys"};

Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Json plan_of(const Words& words) { return json_of(joined({"plan"}, words)); }

std::vector<std::string> shapes_of(const Json& plan) {
  std::vector<std::string> shapes;
  for (const Json& candidate : plan.at("candidates")) shapes.push_back(candidate.at("shape").dump());
  return shapes;
}

double time_of(const Json& candidate) {
  const Json& costs = candidate.at("operation_costs");
  return costs.at("insert_ns").get<double>() + costs.at("remove_ns").get<double>() +
         (costs.at("lookup_present_ns").get<double>() + costs.at("lookup_absent_ns").get<double>()) / 2;
}

TEST(PlanPreferenceFlags, ChooseTheLeastTimeTheLeastMemoryOrTheLeastProduct) {
  const auto is_least = [](const Json& plan, auto value) {
    const Json& all = plan.at("candidates");
    for (const Json& candidate : all) {
      if (value(candidate) < value(all.at(0))) return false;
    }
    return true;
  };
  const auto memory = [](const Json& candidate) { return candidate.at("memory_bytes").get<double>(); };
  const Json fastest = plan_of(joined(of_unique_keys, {"--fastest"}));
  const Json smallest = plan_of(joined(of_unique_keys, {"--smallest"}));
  const Json balanced = plan_of(joined(of_unique_keys, {"--balanced"}));
  EXPECT_TRUE(is_least(fastest, time_of));
  EXPECT_TRUE(is_least(smallest, memory));
  EXPECT_TRUE(is_least(balanced, [&](const Json& c) { return time_of(c) * memory(c); }));
  EXPECT_NE(shapes_of(fastest).at(0), shapes_of(smallest).at(0));
  EXPECT_EQ(fastest.at("preference"), "fastest");
  EXPECT_EQ(smallest.at("preference"), "smallest");
  EXPECT_EQ(balanced.at("preference"), "balanced");
  for (const Json* plan : {&fastest, &smallest})
    EXPECT_THAT(plan->at("reason").get<std::string>(), HasSubstr("; the price: "));
}

TEST(PlanPreferenceFlags, WithoutOneThePreferenceIsNullAndTheTimesAreThoseOfTheTable) {
  const Json plan = plan_of(of_unique_keys);
  EXPECT_TRUE(plan.at("preference").is_null());
  for (const Json& candidate : plan.at("candidates")) {
    EXPECT_EQ(candidate.at("operation_costs").at("source"), "table");
    EXPECT_GT(candidate.at("operation_costs").at("line_read_ns"), 0);
  }
  const Json set = plan_of({"-n", "20k", "-p", "1%"});
  EXPECT_TRUE(set.at("candidates").at(0).at("operation_costs").at("remove_ns").is_null());
}

TEST(PlanPreferenceFlags, TheTextHasTheTimesAndSaysWhichFilterOfItsKindIsMeant) {
  const CommandResult result = run_tally(joined(joined({"plan"}, of_unique_keys), {"--fastest"}));
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_THAT(result.output, AllOf(HasSubstr("ns per key, in batches"), HasSubstr("line read"),
                                   HasSubstr("table"), HasSubstr("ns with dleft 2 x 32")));
}

TEST(PlanPreferenceFlags, ExcludeEachOtherAndWhatContradictsThem) {
  const std::vector<std::pair<Words, Words>> cases = {
      {{"--fastest", "--smallest"}, {"--fastest", "--smallest"}},
      {{"--balanced", "--fastest"}, {"--fastest", "--balanced"}},
      {{"--smallest", "--balanced"}, {"--smallest", "--balanced"}},
      {{"--fastest", "--slow-cells"}, {"--fastest", "--slow-cells"}},
      {{"--balanced", "--slow-cells"}, {"--balanced", "--slow-cells"}},
  };
  for (const std::string command : {"plan", "bench"}) {
    for (const auto& [flags, named] : cases) {
      const CommandResult result = run_tally(joined({command, "-n", "20k", "-p", "1%"}, flags));
      EXPECT_EQ(result.exit_code, 2);
      EXPECT_EQ(result.output, "");
      for (const std::string& flag : named) EXPECT_THAT(result.error, HasSubstr(flag));
    }
  }
  EXPECT_EQ(run_tally({"plan", "-n", "20k", "-p", "1%", "--smallest", "--slow-cells"}).exit_code, 0);
  for (const Words& flags : {Words{"--fastest"}, Words{"--figures", "f"}}) {
    const CommandResult sketch = run_tally(joined({"plan", "--epsilon", "1%"}, flags));
    EXPECT_EQ(sketch.exit_code, 2);
    EXPECT_THAT(sketch.error, HasSubstr("--epsilon: it plans a sketch"));
  }
  const CommandResult alone = run_tally({"plan", "-n", "20k", "-p", "1%", "--figures", "f"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.error, HasSubstr("--figures: they are for --fastest, --smallest or --balanced"));
}

class Figures : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    measured_ = new Json(json_of(joined({"bench", "--rounds", "1"}, of_unique_keys)));
  }
  static void TearDownTestSuite() {
    delete measured_;
    measured_ = nullptr;
  }
  static Json& measured() { return *measured_; }

  Words flags_for(const Json& figures) const {
    return {"--fastest", "--figures", directory_.write("figures.json", figures.dump())};
  }

  TemporaryDirectory directory_;

 private:
  static Json* measured_;
};
Json* Figures::measured_ = nullptr;

TEST_F(Figures, OfTheSameOptionsAreTheTimesOfEveryCandidate) {
  const Json plan = plan_of(joined(of_unique_keys, flags_for(measured())));
  const Json& all = plan.at("candidates");
  ASSERT_EQ(all.size(), measured().at("candidates").size());
  for (const Json& candidate : all) {
    const Json& costs = candidate.at("operation_costs");
    EXPECT_EQ(costs.at("source"), "figures");
    EXPECT_LE(time_of(all.at(0)), time_of(candidate));
    const auto own =
        std::find_if(measured().at("candidates").begin(), measured().at("candidates").end(),
                     [&](const Json& other) { return other.at("shape") == candidate.at("shape"); });
    ASSERT_NE(own, measured().at("candidates").end());
    for (const char* operation : {"insert", "remove", "lookup_present", "lookup_absent", "line_read"}) {
      EXPECT_EQ(costs.at(std::string(operation) + "_ns"), own->at("batches").at(operation).at("median_ns"));
    }
  }
}

TEST_F(Figures, DecideWhichIsTheFastest) {
  for (std::size_t i = 0; i < measured().at("candidates").size(); ++i) {
    Json figures = measured();
    for (auto& [name, time] : figures.at("candidates").at(i).at("batches").items())
      time.at("median_ns") = 1e-3;
    const Json plan = plan_of(joined(of_unique_keys, flags_for(figures)));
    EXPECT_EQ(plan.at("candidates").at(0).at("shape"), measured().at("candidates").at(i).at("shape"));
  }
}

TEST_F(Figures, OfSomeCandidatesAreCarriedOverToTheOthersWithANote) {
  Json figures = measured();
  figures.at("candidates").erase(0);
  const std::string name = measured().at("candidates").at(0).at("name");
  const Json plan = plan_of(joined(of_unique_keys, flags_for(figures)));
  for (const Json& candidate : plan.at("candidates")) {
    const bool is_missing = candidate.at("shape") == measured().at("candidates").at(0).at("shape");
    EXPECT_EQ(candidate.at("operation_costs").at("source"), is_missing ? "carried-over" : "figures");
  }
  EXPECT_THAT(plan.at("warnings").dump(), HasSubstr("there are no figures for " + name));
}

TEST_F(Figures, ThatAreNoneAreRefusedWithTheRemedy) {
  const auto first = [](Json& figures) -> Json& { return figures.at("candidates").at(0); };
  const std::vector<std::pair<std::string, std::function<void(Json&)>>> cases = {
      {"it has no 'candidates'", [](Json& figures) { figures = Json::array(); }},
      {"it has no 'candidates'", [](Json& figures) { figures = nullptr; }},
      {"it has no 'candidates'", [](Json& figures) { figures.erase("candidates"); }},
      {"it has no 'candidates'", [](Json& figures) { figures["candidates"] = Json::array(); }},
      {"it has no 'candidates'", [](Json& figures) { figures["candidates"] = 3; }},
      {"candidate 1: 'shape' is missing", [&](Json& figures) { first(figures) = 3; }},
      {"candidate 1: 'shape' is missing", [&](Json& figures) { first(figures).erase("shape"); }},
      {"candidate 1: no shape found", [&](Json& figures) { first(figures)["shape"] = "bloom"; }},
      {"candidate 1: ", [&](Json& figures) { first(figures)["shape"]["scheme"] = "none"; }},
      {"candidate 1: 'batches' is missing", [&](Json& figures) { first(figures).erase("batches"); }},
      {"candidate 1: 'insert' is missing", [&](Json& figures) { first(figures)["batches"] = 7; }},
      {"candidate 1: 'remove' is missing", [&](Json& figures) { first(figures)["batches"].erase("remove"); }},
      {"candidate 1: 'line_read' is missing",
       [&](Json& figures) { first(figures)["batches"].erase("line_read"); }},
      {"'median_ns' is missing",
       [&](Json& figures) { first(figures)["batches"]["insert"] = Json::object(); }},
      {"has the shape of an earlier one",
       [&](Json& figures) { figures["candidates"].push_back(first(figures)); }},
  };
  const auto expect_refused = [&](const Json& figures, const std::string& what) {
    const CommandResult result = run_tally(joined(joined({"plan"}, of_unique_keys), flags_for(figures)));
    EXPECT_EQ(result.exit_code, 2) << what;
    EXPECT_EQ(result.output, "");
    EXPECT_THAT(result.error,
                AllOf(HasSubstr("--figures: '" + directory_ / "figures.json"), HasSubstr(what),
                      HasSubstr("give the output of 'tally bench --json' with the options of this plan")));
  };
  for (const auto& [what, damage] : cases) {
    Json figures = measured();
    damage(figures);
    expect_refused(figures, what);
  }
  for (const Json& no_time :
       {Json(0), Json(-1), Json(-0.5), Json("7"), Json(nullptr), Json(1e10), Json(true)}) {
    Json figures = measured();
    first(figures)["batches"]["lookup_absent"]["median_ns"] = no_time;
    expect_refused(figures, "'median_ns' of 'lookup_absent' is ");
  }
  expect_refused(plan_of(of_unique_keys), "candidate 1: 'batches' is missing");
}

TEST_F(Figures, OfOtherOptionsAreRefused) {
  const CommandResult result = run_tally(
      joined({"plan", "-n", "30k", "-p", "0.2%", "--deletes", "--unique-keys"}, flags_for(measured())));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.error, AllOf(HasSubstr("it has none of the structures of this plan"),
                                  HasSubstr("'tally bench --json' with the options of this plan")));
}

TEST_F(Figures, ThatCannotBeReadAreNamed) {
  const auto error = [&](const std::string& path) {
    const CommandResult result =
        run_tally(joined(joined({"plan"}, of_unique_keys), {"--fastest", "--figures", path}));
    EXPECT_EQ(result.exit_code, 2);
    return result.error;
  };
  EXPECT_THAT(error("/nonexistent/figures"), HasSubstr("/nonexistent/figures"));
  EXPECT_THAT(error(directory_ / "."), HasSubstr(directory_ / "."));
  for (const std::string bytes : {"", "{", "not JSON", "\x00\xff", "{\"candidates\": [1e999]}"}) {
    const std::string path = directory_.write("broken", bytes);
    EXPECT_THAT(error(path), HasSubstr("--figures: '" + path + "'"));
  }
  EXPECT_THAT(error(directory_.write("deep", std::string(100'000, '['))), HasSubstr("is not valid JSON"));
}

TEST(BenchPreference, OrdersByItsOwnTimesAndRecommends) {
  const Json fastest = json_of(joined({"bench", "--rounds", "1", "--fastest"}, of_unique_keys));
  const auto time = [](const Json& candidate) {
    const Json& times = candidate.at("batches");
    const auto median = [&](const char* name) { return times.at(name).at("median_ns").get<double>(); };
    return median("insert") + median("remove") + (median("lookup_present") + median("lookup_absent")) / 2;
  };
  const Json& all = fastest.at("candidates");
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_LE(time(all.at(i - 1)), time(all.at(i)));
  EXPECT_EQ(fastest.at("recommended"), all.at(0).at("shape").at("kind"));
  EXPECT_THAT(fastest.at("reason").get<std::string>(), HasSubstr("it is the fastest: "));
  const CommandResult text = run_tally(joined({"bench", "--rounds", "1", "--smallest"}, of_unique_keys));
  EXPECT_EQ(text.exit_code, 0) << text.error;
  EXPECT_THAT(text.output, HasSubstr("Recommended: compact-dleft, because it takes the least memory: "));
}

TEST(BenchPreference, TakesEveryRequirementOfAPlan) {
  const TemporaryDirectory directory;
  const std::string histogram = directory.write("histogram", "1 9000\n2 2000\n300 20\n");
  const std::vector<Words> all = {
      {"-n", "20k", "-p", "1%", "--theta", "3"},
      {"-n", "20k", "-p", "1%", "--theta", "3", "--insertions", "60k"},
      {"--histogram", histogram, "-p", "1%", "--counts"},
      {"--zipf", "1", "-n", "30k", "--insertions", "200k", "-p", "1%", "-t", "3"},
  };
  for (const Words& words : all) {
    const Json measured = json_of(joined({"bench", "--rounds", "1"}, words));
    EXPECT_EQ(shapes_of(measured), shapes_of(plan_of(words)));
    const std::string path = directory.write("figures", measured.dump());
    for (const Json& candidate : plan_of(joined(words, {"--balanced", "--figures", path})).at("candidates"))
      EXPECT_EQ(candidate.at("operation_costs").at("source"), "figures");
  }
}

TEST(BenchPreference, NamesWhatGivesTooFewKeys) {
  const TemporaryDirectory directory;
  const CommandResult few =
      run_tally({"bench", "--histogram", directory.write("histogram", "1 100\n"), "-p", "1%"});
  EXPECT_EQ(few.exit_code, 2);
  EXPECT_THAT(few.error, AllOf(HasSubstr("--histogram"), HasSubstr("at least 10000")));
}

}  // namespace
}  // namespace tally::test
