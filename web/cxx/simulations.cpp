#include <emscripten.h>

#include "arguments.hpp"
#include "files/shape_json.hpp"
#include "functions.hpp"
#include "tally/any_filter/verification.hpp"

// web/js/tally.js imports a function of its own instead of this one.
EM_JS(int, tally_progress, (double num_trials_done), { return 0; });

namespace tally::page {
namespace {

constexpr std::uint64_t most_keys = 20'000'000;  // of one filter: each takes 16 bytes beside it
constexpr std::uint64_t most_queries = 20'000'000;
constexpr std::uint64_t most_trials = 1'000'000;

Json verdict_json(const Verdict& verdict) {
  const MeasuredRate& rate = verdict.measured;
  return {{"true_count", rate.true_count},       {"num_queries", rate.num_queries},
          {"num_passed", rate.num_passed},       {"measured", rate.rate()},
          {"predicted", verdict.predicted},      {"law", name_of(verdict.law)},
          {"low", verdict.limits.low},           {"high", verdict.limits.high},
          {"design_effect", rate.design_effect}, {"is_inside", verdict.inside}};
}

}  // namespace

Json simulate(const Json& fields) {
  Arguments arguments(fields);
  const FilterShape shape = arguments.shape();
  const auto num_keys = arguments.required<std::uint64_t>("num_keys");
  SimulationWishes wishes{.seed = 1};
  arguments.read("threshold", wishes.threshold);
  arguments.read("num_trials", wishes.num_trials);
  arguments.read("num_queries", wishes.num_queries);
  arguments.read("seed", wishes.seed);
  double confidence = 0.999;
  arguments.read("confidence", confidence);
  arguments.refuse_others();
  if (num_keys < 1 || num_keys > most_keys) arguments.refuse("num_keys", num_keys, "1 to 20000000");
  if (wishes.num_trials && (*wishes.num_trials < 2 || *wishes.num_trials > most_trials))
    arguments.refuse("num_trials", *wishes.num_trials, "2 to 1000000");
  if (wishes.num_queries && (*wishes.num_queries < 1 || *wishes.num_queries > most_queries))
    arguments.refuse("num_queries", *wishes.num_queries, "1 to 20000000");

  SimulationPlan plan = plan_simulation(shape, num_keys, wishes);
  std::uint64_t num_trials_done = 0;
  plan.after_trial = [&](std::uint64_t num_trials) { num_trials_done = num_trials; };
  plan.should_stop = [&] { return tally_progress(static_cast<double>(num_trials_done)) != 0; };
  const Verification found = verify(plan, confidence);
  Json verdicts = Json::array();
  for (const Verdict& verdict : found.verdicts) verdicts.push_back(verdict_json(verdict));
  return {{"shape", cli::shape_to_json(plan.shape)},
          {"threshold", plan.threshold},
          {"num_insertions", plan.num_insertions},
          {"num_trials", plan.num_trials},
          {"num_trials_done", num_trials_done},
          {"num_queries", plan.num_queries},
          {"is_upper_bound", is_upper_bound(plan.shape)},
          {"verdicts", verdicts},
          {"num_false_negatives", found.result.num_false_negatives},
          {"num_positives_checked", found.result.num_positives_checked},
          {"was_full", found.result.was_full},
          {"is_good", found.is_good()}};
}

}  // namespace tally::page
