#include "commands/verify.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "commands/commands.hpp"
#include "files/filter_file.hpp"

namespace tally::cli {
namespace {

std::vector<std::string> scheme_choices() {
  std::vector<std::string> names;
  const auto add = [&](auto scheme) { names.emplace_back(decltype(scheme)::type::name); };
  CounterSchemes::for_each(add);
  BucketSchemes::for_each(add);
  RowSchemes::for_each([&](auto scheme) {  // some of them are called as schemes of filters are
    const std::string name(decltype(scheme)::type::name);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  });
  names.emplace_back(every_scheme);
  return names;
}

/// Judges the rates of one attempt, each with this confidence.
std::vector<Verdict> judge(const Attempt& attempt, const SimulationResult& result, double confidence) {
  const SimulationPlan& plan = attempt.plan;
  const InsertionMix mix = insertion_mix(plan);
  std::vector<Verdict> verdicts;
  for (const MeasuredRate& rate : result.rates) {
    const SchemeLaw law = rate.true_count == 0 ? attempt.law : predicted_law(plan, mix, rate.true_count);
    Verdict verdict{rate, std::exp(law.ln_false_positive_rate), law.kind, {}, false};
    const double effective =
        std::max(1.0, std::floor(static_cast<double>(rate.num_queries) / rate.design_effect));
    const auto trials = static_cast<std::uint64_t>(effective);
    const auto scaled = static_cast<double>(rate.num_passed) / rate.design_effect;
    verdict.limits.low =
        theory::binomial_confidence_limits(static_cast<std::uint64_t>(std::floor(scaled)), trials, confidence)
            .low;
    verdict.limits.high =
        theory::binomial_confidence_limits(std::min(trials, static_cast<std::uint64_t>(std::ceil(scaled))),
                                           trials, confidence)
            .high;
    const bool not_above = verdict.limits.low <= verdict.predicted;
    const bool not_below = verdict.predicted <= verdict.limits.high || is_conservative(plan.shape);
    verdict.inside = not_above && not_below;
    verdicts.push_back(verdict);
  }
  return verdicts;
}

std::vector<Outcome> verify_all(const VerifyOptions& options) {
  const std::vector<Attempt> attempts = attempts_of(options);
  std::vector<Outcome> outcomes;
  std::uint64_t num_rates = 0;
  for (const Attempt& attempt : attempts) {
    outcomes.push_back({attempt.plan, simulate(attempt.plan), {}});
    num_rates += outcomes.back().result.rates.size();
  }
  const double confidence = theory::per_test_confidence(options.confidence, num_rates);
  for (std::size_t i = 0; i < attempts.size(); ++i)
    outcomes[i].verdicts = judge(attempts[i], outcomes[i].result, confidence);
  return outcomes;
}

}  // namespace

Run declare_verify(CommandLine app) {
  const auto options = std::make_shared<VerifyOptions>();
  app.set_description(
      "compare a shape's theory with a simulation\n"
      "Fills fresh filters with fresh random keys, asks for keys of every true count below theta, and "
      "compares with the predicted rates. Exit status 0: inside the limits and no false negative; 1: "
      "outside; 2: an error. Every scheme is compared with a law of its own, which is exact at every size; "
      "only under double and triple schemes in a filter too large to count, and in two-hash rows, is it the "
      "limit ('law' in the table), and what lies outside then 'differs', with status 0.");
  add_choice(app, "--kind", options->kind, "kind of filter (default: bloom, or threshold with --theta)",
             {"bloom", "blocked-bloom", "counting-bloom", "threshold", "dleft", "count-min"});
  add_choice(
      app, "--scheme", options->scheme,
      "how positions follow from a key's hash (default: congruential), or buckets in a dleft filter "
      "(default: rotation), or columns in a count-min sketch (default: congruential); all: every one that "
      "the kind can have",
      scheme_choices());
  add_count(app, "--num-positions,--num-bits", options->num_positions, "bits or counters of a filter");
  add_count(app, "-k,--num-hashes", options->num_hashes, "positions a key", {1, max_num_hashes});
  add_count(app, "--counter-bits", options->counter_bits,
            "width of a counting-bloom filter's counters (default: 4)", {1, 64});
  add_count(app, "-t,--theta,--threshold", options->threshold,
            "count threshold (default: 1; for a count-min sketch the least that at most one absent key in "
            "ten reaches)",
            {1, 10'000});
  app.add_flag("--conservative", options->conservative,
               "conservative update, for a threshold filter or a count-min sketch");
  add_count(app, "-n,--keys", options->num_keys, "insertions a filter (default with --file: the file's)",
            {1, max_num_positions});
  Option rate = add_rate(app, "-p,--false-positive-rate", options->false_positive_rate,
                         "plan the shape for this rate and --keys");
  Option file = add_file(app, "--file", options->file, "take the shape of this filter file");
  add_key_file(app, options->key_file);
  add_no_verify(app, options->verify_file).needs(file);
  file.excludes(rate);
  for (Option own : add_count_min_options(app, options->count_min, "more in 1% of the cases at most"))
    file.excludes(own);
  for (const char* flag : {"--kind", "--scheme", "--num-positions", "--num-hashes", "--counter-bits",
                           "--theta", "--conservative"}) {
    file.excludes(app.get_option(flag));
  }
  add_count(app, "--trials", options->num_trials, "filters to fill (default: 20 to 1000)", {2, 100'000'000});
  add_count(app, "--queries", options->num_queries,
            "keys never inserted to ask for in each (default: enough for 1000 false positives)",
            {1, 1'000'000'000});
  add_count(app, "--seed", options->seed, "seed of the random keys", {0, ~std::uint64_t{0}});
  add_real(app, "--confidence", options->confidence, "of all limits together (default: 0.999)",
           {0.5, 1 - 1e-12});
  add_plot(app, options->plot, "measured against predicted rates");
  add_json(app, options->json);
  return [options] {
    check_plot(options->plot, options->json);
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
