#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "command_text.hpp"
#include "commands.hpp"
#include "figures.hpp"
#include "options.hpp"
#include "output.hpp"
#include "shape_json.hpp"
#include "simulation.hpp"
#include "tally/any_filter.hpp"
#include "tally/planner.hpp"
#include "tally/serialization.hpp"
#include "tally/theory/confidence.hpp"

namespace tally::cli {
namespace {

constexpr std::uint64_t insertions_by_default = 20'000'000;  // in all trials together: some seconds
constexpr double passes_by_default = 1000;
constexpr std::uint64_t max_queries_a_trial = 10'000'000;

struct VerifyOptions {
  std::string kind;
  std::string scheme;
  std::optional<std::uint64_t> num_positions;
  std::optional<std::uint32_t> num_hashes;
  std::uint32_t counter_bits = 4;
  std::optional<std::uint64_t> threshold;
  bool conservative = false;
  std::optional<std::uint64_t> num_keys;
  double false_positive_rate = 0;
  std::string file;
  std::string key_file;
  std::optional<std::uint64_t> num_trials;
  std::optional<std::uint64_t> num_queries;
  std::uint64_t seed = default_seed;
  double confidence = 0.999;
  PlotOptions plot;
  bool json = false;
};

/// A shape to try, with what is predicted of keys never inserted.
struct Attempt {
  SimulationPlan plan;
  SchemeLaw law;
};

struct Verdict {
  MeasuredRate measured;
  double predicted = 0;
  LawKind law = LawKind::exact;
  theory::ProbabilityInterval limits;
  bool inside = false;

  /// The exit status is that of the laws that are meant to hold at this size.
  bool contradicts() const { return !inside && law == LawKind::exact; }
};

struct Outcome {
  SimulationPlan plan;
  SimulationResult result;
  std::vector<Verdict> verdicts;

  bool is_good() const {
    return result.num_false_negatives == 0 &&
           std::none_of(verdicts.begin(), verdicts.end(),
                        [](const Verdict& verdict) { return verdict.contradicts(); });
  }
};

FilterKind kind_of(const VerifyOptions& options) {
  if (!options.kind.empty()) return filter_kind(options.kind);
  return options.threshold.value_or(1) > 1 ? FilterKind::threshold : FilterKind::bloom;
}

constexpr const char* every_scheme = "all";

std::vector<std::string> scheme_choices() {
  std::vector<std::string> names;
  const auto add = [&](auto scheme) { names.emplace_back(decltype(scheme)::type::name); };
  CounterSchemes::for_each(add);
  BucketSchemes::for_each(add);
  names.emplace_back(every_scheme);
  return names;
}

/// The schemes that are asked for: one, or all of the kind.
std::vector<std::string> schemes_of(const VerifyOptions& options) {
  if (options.scheme != every_scheme || !options.file.empty()) return {options.scheme};
  std::vector<std::string> names;
  const auto add = [&](auto scheme) { names.emplace_back(decltype(scheme)::type::name); };
  switch (kind_of(options)) {
    case FilterKind::dleft:
      BucketSchemes::for_each(add);
      break;
    case FilterKind::blocked_bloom:
      throw std::invalid_argument("--scheme: a blocked-bloom filter has one scheme only; leave it out");
    default:
      CounterSchemes::for_each(add);
  }
  return names;
}

/// The shape that the flags spell out, or that is planned for keys and a rate. Where all schemes are asked for, a
/// number of positions that one of them cannot use becomes the next one below that it can.
FilterShape shape_of(const VerifyOptions& options, const std::string& scheme) {
  const FilterKind kind = kind_of(options);
  const std::uint64_t theta = options.threshold.value_or(1);
  if (theta > 1 && kind != FilterKind::threshold && kind != FilterKind::counting_bloom) {
    throw std::invalid_argument(
        fmt::format("--theta: a {} filter has none; give --kind threshold or counting-bloom", name_of(kind)));
  }
  if (options.num_positions.has_value() != options.num_hashes.has_value()) {
    throw std::invalid_argument("--num-positions and --num-hashes make a shape together; give both");
  }
  if (options.num_positions.has_value() == (options.false_positive_rate != 0)) {
    throw std::invalid_argument(
        "give --num-positions and --num-hashes, or --false-positive-rate to plan them");
  }
  if (kind == FilterKind::dleft) {
    if (options.num_positions)
      throw std::invalid_argument(
          "--num-positions: a dleft filter has cells; "
          "give --false-positive-rate, or --file");
    const DLeftShape planned =
        plan_dleft({.num_keys = *options.num_keys, .false_positive_rate = options.false_positive_rate});
    const std::uint16_t id = scheme.empty() ? RotationBuckets::file_id : bucket_scheme_id(scheme);
    return round_to_scheme({planned, id}, Rounding::up);
  }
  std::uint64_t m = options.num_positions.value_or(0);
  std::uint32_t k = options.num_hashes.value_or(0);
  if (m == 0) {
    const BloomRequest request{.num_keys = *options.num_keys,
                               .false_positive_rate = options.false_positive_rate};
    const BloomShape planned =
        kind == FilterKind::blocked_bloom ? plan_blocked_bloom(request) : plan_bloom(request);
    m = planned.num_bits;
    k = planned.num_hashes;
  }
  FilterShape shape;
  if (kind == FilterKind::blocked_bloom) {
    shape.scheme_id = BlockedScheme::file_id;
  } else if (!scheme.empty()) {
    shape.scheme_id = scheme_id(scheme);
  }
  if (kind == FilterKind::counting_bloom) {
    shape.shape = CountingBloomShape{m, k, options.counter_bits, theta};
  } else if (kind == FilterKind::threshold) {
    shape.shape = ThresholdShape{m, k, theta,
                                 options.conservative ? CounterUpdate::conservative : CounterUpdate::plain};
  } else {
    shape.shape = BloomShape{m, k};
  }
  if (options.num_positions && options.scheme == every_scheme) return round_to_scheme(shape, Rounding::down);
  if (options.num_positions) {
    check_shape(shape);
    return shape;
  }
  return round_to_scheme(shape, Rounding::up);
}

Attempt attempt_of(const VerifyOptions& options, const std::string& scheme) {
  SimulationPlan plan;
  plan.seed = options.seed;
  if (!options.file.empty()) {
    std::optional<HashKey> key;
    if (!options.key_file.empty()) key = read_key_file(options.key_file);
    const AnyFilter filter = load(options.file, key);
    plan.shape = filter.shape();
    if (plan.shape.kind() == FilterKind::count_min)
      throw std::invalid_argument("--file: a count-min sketch has a bound, not a rate, to be compared with");
    plan.num_insertions = options.num_keys.value_or(filter.totals().num_insertions);
  } else {
    if (!options.num_keys)
      throw std::invalid_argument("--keys is missing; say how many keys a filter is to hold");
    plan.shape = shape_of(options, scheme);
    plan.num_insertions = *options.num_keys;
  }
  if (plan.num_insertions == 0)
    throw std::invalid_argument("--keys: the filter holds no keys; say how many to try with");
  // A dleft filter is asked whether a key is there; its counts have no maximum.
  plan.threshold =
      plan.shape.kind() == FilterKind::dleft ? 1 : std::max<std::uint64_t>(1, plan.shape.threshold());
  if (plan.threshold > 10'000)
    throw std::invalid_argument("--theta is above 10000; verify tries smaller ones only");
  plan.num_trials = options.num_trials.value_or(
      std::clamp<std::uint64_t>(insertions_by_default / plan.num_insertions, 20, 1000));
  const SchemeLaw law = predicted_law(plan, insertion_mix(plan), 0);
  const double rate = std::exp(law.ln_false_positive_rate);
  const double wanted =
      std::clamp(passes_by_default / std::max(rate, 1e-300) / static_cast<double>(plan.num_trials), 100.0,
                 static_cast<double>(max_queries_a_trial));
  plan.num_queries = options.num_queries.value_or(static_cast<std::uint64_t>(wanted));
  return {plan, law};
}

bool is_conservative(const FilterShape& shape) {
  const auto* threshold = std::get_if<ThresholdShape>(&shape.shape);
  return threshold != nullptr && threshold->update == CounterUpdate::conservative;
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
  std::vector<Attempt> attempts;
  for (const std::string& scheme : schemes_of(options)) attempts.push_back(attempt_of(options, scheme));
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

/// How the predicted rate is known: with theta above 1 no law is exact, since a key's counters are not independent.
std::string_view name_of_law(const SimulationPlan& plan, LawKind kind) {
  return kind == LawKind::exact && plan.threshold > 1 ? "independent" : name_of(kind);
}

Json outcome_json(const Outcome& outcome, double confidence) {
  const SimulationPlan& plan = outcome.plan;
  Json tests = Json::array();
  for (const Verdict& verdict : outcome.verdicts) {
    const MeasuredRate& rate = verdict.measured;
    tests.push_back(
        {{"true_count", rate.true_count},
         {"num_queries", rate.num_queries},
         {"num_passed", rate.num_passed},
         {"measured_rate", static_cast<double>(rate.num_passed) / static_cast<double>(rate.num_queries)},
         {"predicted_rate", verdict.predicted},
         {"law", name_of_law(plan, verdict.law)},
         {"low", verdict.limits.low},
         {"high", verdict.limits.high},
         {"design_effect", rate.design_effect},
         {"verdict", verdict.inside ? "inside" : "outside"}});
  }
  return {{"shape", shape_to_json(plan.shape)},
          {"num_insertions", plan.num_insertions},
          {"num_trials", plan.num_trials},
          {"seed", plan.seed},
          {"family_confidence", confidence},
          {"one_sided", is_conservative(plan.shape)},
          {"tests", tests},
          {"num_false_negatives", outcome.result.num_false_negatives},
          {"num_positives_checked", outcome.result.num_positives_checked},
          {"verdict", outcome.is_good() ? "inside" : "outside"}};
}

Json outcomes_json(const std::vector<Outcome>& outcomes, double confidence, bool is_good) {
  Json schemes = Json::array();
  for (const Outcome& outcome : outcomes) schemes.push_back(outcome_json(outcome, confidence));
  return {{"schemes", schemes}, {"verdict", is_good ? "inside" : "outside"}};
}

std::string title_of(const std::vector<Outcome>& outcomes) {
  const SimulationPlan& plan = outcomes.front().plan;
  const bool is_dleft = plan.shape.kind() == FilterKind::dleft;
  std::string title = fmt::format("{}, ", name_of(plan.shape.kind()));
  if (outcomes.size() == 1)
    title += fmt::format("{} {}, ", plan.shape.num_positions(), is_dleft ? "cells" : "positions");
  title += fmt::format("{} {}, ", plan.shape.num_hashes(), is_dleft ? "subtables" : "hashes");
  title += outcomes.size() == 1 ? fmt::format("{} scheme: ", plan.shape.scheme_name()) : "every scheme: ";
  return title + fmt::format("{} insertions, {} filters\n\n", plan.num_insertions, plan.num_trials);
}

std::string outcomes_text(const std::vector<Outcome>& outcomes, double confidence) {
  std::string text = title_of(outcomes);
  const bool has_all = outcomes.size() > 1;
  std::vector<std::string> header{"true count", "queries", "passed",  "measured", "predicted",
                                  "law",        "lowest",  "highest", "verdict"};
  if (has_all) header.insert(header.begin(), {"scheme", "positions"});
  Table table(header);
  std::uint64_t num_false_negatives = 0;
  std::uint64_t num_positives_checked = 0;
  bool has_limit = false;
  for (const auto& [plan, result, verdicts] : outcomes) {
    for (const Verdict& verdict : verdicts) {
      const MeasuredRate& rate = verdict.measured;
      const auto number = [](double value) { return fmt::format("{:.4g}", value); };
      std::vector<std::string> row{
          std::to_string(rate.true_count),
          std::to_string(rate.num_queries),
          std::to_string(rate.num_passed),
          number(static_cast<double>(rate.num_passed) / static_cast<double>(rate.num_queries)),
          number(verdict.predicted),
          std::string(name_of_law(plan, verdict.law)),
          number(verdict.limits.low),
          number(verdict.limits.high),
          verdict.inside          ? "inside"
          : verdict.contradicts() ? "OUTSIDE"
                                  : "differs"};
      if (has_all)
        row.insert(row.begin(),
                   {std::string(plan.shape.scheme_name()), std::to_string(plan.shape.num_positions())});
      table.add_row(row);
      has_limit |= verdict.law == LawKind::limit;
    }
    num_false_negatives += result.num_false_negatives;
    num_positives_checked += result.num_positives_checked;
  }
  text += table.text();
  text += fmt::format("\nFalse negatives: {} of {} checked.\n", num_false_negatives, num_positives_checked);
  std::string remarks =
      fmt::format("The limits hold for all rows together with confidence {:.4g}%", 100 * confidence);
  if (is_conservative(outcomes.front().plan.shape))
    remarks += "; conservative update may lie below the prediction, which is for plain update";
  if (has_limit)
    remarks +=
        "; under the law 'limit' the prediction is what large filters tend to, and small ones may differ";
  return text + wrapped(remarks + ".", 0) + "\n";
}

/// The rows of the table.
Figure figure_of(const std::vector<Outcome>& outcomes) {
  std::vector<VerifiedRate> rates;
  const bool has_all = outcomes.size() > 1;
  for (const auto& [plan, result, verdicts] : outcomes) {
    for (const Verdict& verdict : verdicts) {
      const MeasuredRate& rate = verdict.measured;
      std::string name = has_all ? std::string(plan.shape.scheme_name()) : std::to_string(rate.true_count);
      if (has_all && verdicts.size() > 1) name += fmt::format(", {}", rate.true_count);
      rates.push_back({std::move(name), verdict.predicted,
                       static_cast<double>(rate.num_passed) / static_cast<double>(rate.num_queries),
                       verdict.limits.low, verdict.limits.high});
    }
  }
  const std::string title = title_of(outcomes);
  return verify_figure(title.substr(0, title.find('\n')),
                       has_all ? "scheme, in the order of the table" : "times that the key was inserted",
                       rates);
}

}  // namespace

Run declare_verify(CLI::App& app) {
  const auto options = std::make_shared<VerifyOptions>();
  app.description(
      "compare a shape's theory with a simulation\n"
      "Fills fresh filters with fresh random keys, asks for keys of every true count below theta, and "
      "compares with the predicted rates. Exit status 0: inside the limits and no false negative; 1: "
      "outside; 2: an error. Every scheme is compared with a law of its own, which is exact at every size; "
      "only under double and triple schemes in a filter too large to count is it the limit ('law' in the "
      "table), and what lies outside then 'differs', with status 0.");
  add_choice(app, "--kind", options->kind, "kind of filter (default: bloom, or threshold with --theta)",
             {"bloom", "blocked-bloom", "counting-bloom", "threshold", "dleft"});
  add_choice(app, "--scheme", options->scheme,
             "how positions follow from a key's hash (default: congruential), or buckets in a dleft filter "
             "(default: rotation); all: every one that the kind can have",
             scheme_choices());
  add_count(app, "--num-positions,--num-bits", options->num_positions, "bits or counters of a filter");
  add_count(app, "-k,--num-hashes", options->num_hashes, "positions a key", {1, max_num_hashes});
  add_count(app, "--counter-bits", options->counter_bits,
            "width of a counting-bloom filter's counters (default: 4)", {1, 64});
  add_count(app, "-t,--theta,--threshold", options->threshold, "count threshold", {1, 10'000});
  app.add_flag("--conservative", options->conservative, "conservative update, for a threshold filter");
  add_count(app, "-n,--keys", options->num_keys, "insertions a filter (default with --file: the file's)",
            {1, max_num_positions});
  CLI::Option* rate = add_rate(app, "-p,--false-positive-rate", options->false_positive_rate,
                               "plan the shape for this rate and --keys");
  CLI::Option* file = add_file(app, "--file", options->file, "take the shape of this filter file");
  add_key_file(app, options->key_file);
  file->excludes(rate);
  for (const char* flag : {"--kind", "--scheme", "--num-positions", "--num-hashes", "--counter-bits",
                           "--theta", "--conservative"}) {
    file->excludes(app.get_option(flag));
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
    const bool is_good = std::all_of(outcomes.begin(), outcomes.end(),
                                     [](const Outcome& outcome) { return outcome.is_good(); });
    if (!options->json) {
      print(outcomes_text(outcomes, options->confidence));
    } else if (options->scheme == every_scheme) {
      print_json(outcomes_json(outcomes, options->confidence, is_good));
    } else {
      print_json(outcome_json(outcomes.front(), options->confidence));
    }
    if (options->plot.wanted) draw(options->plot, figure_of(outcomes));
    return is_good ? ExitCode::success : ExitCode::none;
  };
}

}  // namespace tally::cli
