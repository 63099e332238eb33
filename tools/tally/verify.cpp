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
  bool json = false;
};

struct Verdict {
  MeasuredRate measured;
  double predicted = 0;
  theory::ProbabilityInterval limits;
  bool inside = false;
};

FilterKind kind_of(const VerifyOptions& options) {
  if (!options.kind.empty()) return filter_kind(options.kind);
  return options.threshold.value_or(1) > 1 ? FilterKind::threshold : FilterKind::bloom;
}

/// The shape that the flags spell out, or that is planned for keys and a rate.
FilterShape shape_of(const VerifyOptions& options) {
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
    const std::uint16_t scheme =
        options.scheme.empty() ? RotationBuckets::file_id : bucket_scheme_id(options.scheme);
    return round_to_scheme({planned, scheme}, Rounding::up);
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
  } else if (!options.scheme.empty()) {
    shape.scheme_id = scheme_id(options.scheme);
  }
  if (kind == FilterKind::counting_bloom) {
    shape.shape = CountingBloomShape{m, k, options.counter_bits, theta};
  } else if (kind == FilterKind::threshold) {
    shape.shape = ThresholdShape{m, k, theta,
                                 options.conservative ? CounterUpdate::conservative : CounterUpdate::plain};
  } else {
    shape.shape = BloomShape{m, k};
  }
  if (options.num_positions) {
    check_shape(shape);
    return shape;
  }
  return round_to_scheme(shape, Rounding::up);
}

SimulationPlan simulation_of(const VerifyOptions& options) {
  SimulationPlan plan;
  plan.seed = options.seed;
  if (!options.file.empty()) {
    std::optional<HashKey> key;
    if (!options.key_file.empty()) key = read_key_file(options.key_file);
    const AnyFilter filter = load(options.file, key);
    plan.shape = filter.shape();
    plan.num_insertions = options.num_keys.value_or(filter.totals().num_insertions);
  } else {
    if (!options.num_keys)
      throw std::invalid_argument("--keys is missing; say how many keys a filter is to hold");
    plan.shape = shape_of(options);
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
  const double rate = std::exp(ln_predicted_rate(plan, insertion_mix(plan), 0));
  const double wanted =
      std::clamp(passes_by_default / std::max(rate, 1e-300) / static_cast<double>(plan.num_trials), 100.0,
                 static_cast<double>(max_queries_a_trial));
  plan.num_queries = options.num_queries.value_or(static_cast<std::uint64_t>(wanted));
  return plan;
}

bool is_conservative(const FilterShape& shape) {
  const auto* threshold = std::get_if<ThresholdShape>(&shape.shape);
  return threshold != nullptr && threshold->update == CounterUpdate::conservative;
}

std::vector<Verdict> judge(const SimulationPlan& plan, const SimulationResult& result,
                           double family_confidence) {
  const InsertionMix mix = insertion_mix(plan);
  const double confidence = theory::per_test_confidence(family_confidence, result.rates.size());
  std::vector<Verdict> verdicts;
  for (const MeasuredRate& rate : result.rates) {
    Verdict verdict{rate, std::exp(ln_predicted_rate(plan, mix, rate.true_count)), {}, false};
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

Json verdicts_json(const SimulationPlan& plan, const SimulationResult& result,
                   const std::vector<Verdict>& verdicts, double confidence, bool good) {
  Json tests = Json::array();
  for (const Verdict& verdict : verdicts) {
    const MeasuredRate& rate = verdict.measured;
    tests.push_back(
        {{"true_count", rate.true_count},
         {"num_queries", rate.num_queries},
         {"num_passed", rate.num_passed},
         {"measured_rate", static_cast<double>(rate.num_passed) / static_cast<double>(rate.num_queries)},
         {"predicted_rate", verdict.predicted},
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
          {"num_false_negatives", result.num_false_negatives},
          {"num_positives_checked", result.num_positives_checked},
          {"verdict", good ? "inside" : "outside"}};
}

std::string verdicts_text(const SimulationPlan& plan, const SimulationResult& result,
                          const std::vector<Verdict>& verdicts, double confidence) {
  const bool is_dleft = plan.shape.kind() == FilterKind::dleft;
  std::string text = fmt::format(
      "{}, {} {}, {} {}, {} scheme: {} insertions, {} filters\n\n", name_of(plan.shape.kind()),
      plan.shape.num_positions(), is_dleft ? "cells" : "positions", plan.shape.num_hashes(),
      is_dleft ? "subtables" : "hashes", plan.shape.scheme_name(), plan.num_insertions, plan.num_trials);
  Table table({"true count", "queries", "passed", "measured", "predicted", "lowest", "highest", "verdict"});
  for (const Verdict& verdict : verdicts) {
    const MeasuredRate& rate = verdict.measured;
    const auto number = [](double value) { return fmt::format("{:.4g}", value); };
    table.add_row({std::to_string(rate.true_count), std::to_string(rate.num_queries),
                   std::to_string(rate.num_passed),
                   number(static_cast<double>(rate.num_passed) / static_cast<double>(rate.num_queries)),
                   number(verdict.predicted), number(verdict.limits.low), number(verdict.limits.high),
                   verdict.inside ? "inside" : "OUTSIDE"});
  }
  text += table.text();
  text += fmt::format("\nFalse negatives: {} of {} checked.\n", result.num_false_negatives,
                      result.num_positives_checked);
  text += wrapped(fmt::format(
                      "The limits hold for all rows together with confidence {:.4g}%{}.", 100 * confidence,
                      is_conservative(plan.shape)
                          ? "; conservative update may lie below the prediction, which is for plain update"
                          : ""),
                  0) +
          "\n";
  return text;
}

}  // namespace

Run declare_verify(CLI::App& app) {
  const auto options = std::make_shared<VerifyOptions>();
  app.description(
      "compare a shape's theory with a simulation\n"
      "Fills fresh filters with fresh random keys, asks for keys of every true count below theta, and "
      "compares with the predicted rates. Exit status 0: inside the limits and no false negative; 1: "
      "outside; 2: an error. Small filters under a double or triple scheme are compared with the "
      "standard formula and may well be outside.");
  add_choice(app, "--kind", options->kind, "kind of filter (default: bloom, or threshold with --theta)",
             {"bloom", "blocked-bloom", "counting-bloom", "threshold", "dleft"});
  add_scheme(app, options->scheme, SchemesOf::positions_and_buckets);
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
  add_json(app, options->json);
  return [options] {
    const SimulationPlan plan = simulation_of(*options);
    const SimulationResult result = simulate(plan);
    const std::vector<Verdict> verdicts = judge(plan, result, options->confidence);
    const bool good =
        result.num_false_negatives == 0 &&
        std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) { return verdict.inside; });
    if (options->json) {
      print_json(verdicts_json(plan, result, verdicts, options->confidence, good));
    } else {
      print(verdicts_text(plan, result, verdicts, options->confidence));
    }
    return good ? ExitCode::success : ExitCode::none;
  };
}

}  // namespace tally::cli
