#include "commands/verify.hpp"
#include "cli/documents.hpp"
#include "cli/signals.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "commands/commands.hpp"
#include "files/filter_file.hpp"
#include "shape/count_min_options.hpp"
#include "shape/scheme_option.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

std::string human_seconds(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} seconds", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} minutes", seconds / 60);
  return fmt::format("{:.0f} hours", seconds / 3600);
}

/// Says how long it takes what the user asked for; without --trials and --queries nothing takes long.
void warn_of_long_time(const std::vector<Attempt>& attempts) {
  constexpr double long_seconds = 60;
  double seconds = 0;
  for (const Attempt& attempt : attempts)
    seconds +=
        simulation_seconds(attempt.plan) + (attempt.sketch ? simulation_seconds(attempt.sketch->plan) : 0);
  if (seconds > long_seconds) {
    remark(false, fmt::format("this takes about {}; fewer --trials, --queries or --keys take less",
                              human_seconds(seconds)));
  }
}

SimulationResult simulated(SimulationPlan plan) {
  plan.should_stop = stop_requested;
  SimulationResult result = simulate(plan);
  if (result.was_full)
    throw std::runtime_error("a filter of this shape is full before all --keys are inserted; give fewer");
  return result;
}

std::vector<Outcome> verify_all(const VerifyOptions& options) {
  const std::vector<Attempt> attempts = attempts_of(options);
  warn_of_long_time(attempts);
  std::vector<Outcome> outcomes;
  std::vector<std::optional<std::pair<Promise, SimulationResult>>> promises;  // one for each outcome
  const std::optional<double> promised = options.shape.wanted.false_positive_rate;
  std::uint64_t num_tests = 0;
  for (const Attempt& attempt : attempts) {
    Outcome outcome{{attempt.plan, simulated(attempt.plan), {}}, {}, attempt.num_insertions_of_original};
    auto& promise = promises.emplace_back();
    if (promised) promise.emplace(Promise{*promised, attempt.plan.threshold - 1}, outcome.result);
    if (const auto& sketch = attempt.sketch) {
      outcome.error_of_sketch = sketch->error;
      promise.emplace(Promise{sketch->failure_probability, 0}, simulated(sketch->plan));
      outcome.result.num_false_negatives += promise->second.num_false_negatives;
      outcome.result.num_positives_checked += promise->second.num_positives_checked;
    }
    num_tests += outcome.result.rates.size() + (promise ? 1 : 0);
    outcomes.push_back(std::move(outcome));
  }
  const double confidence = theory::per_test_confidence(options.confidence, num_tests);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    outcomes[i].verdicts = judge(outcomes[i].plan, outcomes[i].result, confidence);
    if (const auto& promise = promises[i])
      outcomes[i].promise = judge_promise(promise->second, promise->first, confidence);
  }
  return outcomes;
}

}  // namespace

Run declare_verify(CommandLine app) {
  const auto options = std::make_shared<VerifyOptions>();
  add_details(app, R"(
      Fills filters with new random keys, queries keys with every true count below theta, and compares the measured
      false positive rates with the predicted ones.

      The prediction comes from the formula of the scheme. Most formulas are exact at every size. For double and
      triple schemes in large filters the formula is an expansion, and for two-hash rows the limit for large filters
      (column 'law': limit); for a blocked-counting-bloom filter with many hashes and a high theta it is an
      approximation. A measured rate outside the limits is then reported as 'differs' and does not change the exit
      status.

      With --false-positive-rate, also tests the promise: that keys which were inserted theta - 1 times pass at most
      at this rate. A promise is kept if the measured rate is not above it, as far as the queries can show; the line
      says which higher rate they would have shown. A sketch has a promise by its theorem, which is always tested: how
      often the count of a key that was never inserted is too high by more than a share of all.

      Takes less than a minute by default: a large filter is tested by a smaller one with as many positions per key,
      and a rate that no minute of queries would show is reported as 'too small to be seen', with its upper limit.
      --trials and --queries are obeyed, however long they take.
      )");
  app.set_exit_status(
      {.success =
           "if all rates are inside the limits, the promise is kept or cannot be seen, and there is no "
           "false negative",
       .none = "otherwise"});
  ShapeOptions& shape = options->shape;
  add_kind(app, shape.kind, "Kind of filter (default: bloom, or threshold with --theta)");
  add_scheme_of_any_kind(app, shape.scheme,
                         fmt::format("(default: {}); {}: every scheme of the kind",
                                     scheme_for(FilterKind::count_min, "").name, every_scheme),
                         {every_scheme});
  add_count(app, "--num-positions,--num-bits", shape.num_positions, "Number of bits or counters of a filter");
  add_count(app, "-k,--num-hashes", shape.num_hashes, "Number of positions per key", {1, max_num_hashes});
  add_count(app, "--counter-bits", shape.wanted.counter_bits,
            "Width of the counters of a counting-bloom or blocked-counting-bloom filter (default: 4)",
            {1, 64});
  add_count(
      app, "-t,--theta,--threshold", options->threshold,
      "Count threshold (default: 1; for a count-min sketch the least count that at most 10% of the absent "
      "keys reach)",
      {1, 10'000});
  app.add_flag(
      "--conservative", [&shape] { shape.wanted.update = CounterUpdate::conservative; },
      "Use conservative update, for a threshold filter or a count-min sketch");
  add_count(app, "-n,--keys", options->num_keys,
            "Number of insertions per filter (default with --file: that of the file)",
            {1, max_num_positions});
  add_rate(app, "-p,--false-positive-rate", shape.wanted.false_positive_rate,
           "Plan the shape for this rate and --keys, and test that it is kept; with --file, only test");
  Option file = add_file(app, "--file", options->file, "Use the shape of this filter file");
  add_key_file(app, options->key_file);
  add_no_verify(app, options->verify_file).needs(file);
  for (Option own : add_count_min_options(app, shape, "in at most 1% of all queries the error may be larger"))
    file.excludes(own);
  for (const char* flag : {"--kind", "--scheme", "--num-positions", "--num-hashes", "--counter-bits",
                           "--theta", "--conservative"}) {
    file.excludes(app.get_option(flag));
  }
  add_count(app, "--trials", options->num_trials, "Number of filters to fill (default: 5 or more)",
            {2, 100'000'000});
  add_count(app, "--queries", options->num_queries,
            "Number of queries per filter for keys that were never inserted (default: enough for 1000 false "
            "positives, if there is time)",
            {1, 1'000'000'000});
  add_count(app, "--seed", options->seed, "Seed of the random keys", {0, ~std::uint64_t{0}});
  add_real(app, "--confidence", options->confidence, "Confidence of all limits together (default: 0.999)",
           {0.5, 1 - 1e-12});
  add_plot(app, options->plot, "measured against predicted rates");
  add_json(app, options->json);
  return [options] {
    check_plot(options->plot, options->json);
    options->shape.wanted.threshold = options->threshold;
    const std::vector<Outcome> outcomes = verify_all(*options);
    if (options->json) {
      print_json(outcomes_json(outcomes, *options));
    } else {
      print(outcomes_text(outcomes, options->confidence));
    }
    if (options->plot.wanted) draw(options->plot, outcomes_figure(outcomes));
    return std::ranges::all_of(outcomes, &Outcome::is_good) ? ExitCode::success : ExitCode::none;
  };
}

}  // namespace tally::cli
