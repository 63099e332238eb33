#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "cli/flag_words.hpp"
#include "cli/options.hpp"
#include "commands/commands.hpp"
#include "commands/plan_sketch.hpp"
#include "files/shape_json.hpp"
#include "input/input_is_output.hpp"
#include "input/sample.hpp"
#include "plot/figures.hpp"
#include "shape/count_min_options.hpp"
#include "shape/dleft_options.hpp"
#include "shape/memory_warning.hpp"
#include "tally/planner.hpp"
#include "text/output.hpp"
#include "text/wrapped.hpp"

namespace tally::cli {
namespace {

struct PlanOptions {
  std::uint64_t num_keys = 0;
  double false_positive_rate = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t threshold = 1;
  std::uint64_t num_insertions = 0;
  bool needs_deletes = false;
  bool needs_counts = false;
  DLeftPlanOptions dleft;
  CountMinOptions count_min;
  std::string scheme;
  InputOptions sample;
  std::string histogram;
  std::optional<double> zipf;
  PlotOptions plot;
  bool json = false;
};

/// Large enough for the threshold and for the saturation of 8-bit counters; see compound_poisson.hpp for the limit.
std::uint64_t histogram_limit(std::uint64_t threshold) {
  return std::min<std::uint64_t>(std::max<std::uint64_t>(threshold, 256), 10'000);
}

/// A request with a histogram names no number of keys, which errors of the planner would speak of.
void check_histogram(const PlanOptions& options, const theory::CountHistogram& histogram) {
  const char* const flag = options.zipf ? "--zipf" : !options.histogram.empty() ? "--histogram" : "--from";
  if (histogram.num_distinct() == 0)
    throw std::invalid_argument(fmt::format("{}: there are no keys in it to plan for", flag));
  if ((options.false_positive_rate == 0) == (options.memory_bytes == 0)) {
    throw std::invalid_argument(fmt::format(
        "{}: the keys are known by that; give --false-positive-rate or --memory with it, one of the two",
        flag));
  }
}

Requirements requirements_of(const PlanOptions& options) {
  Requirements wanted;
  wanted.false_positive_rate = options.false_positive_rate;
  wanted.memory_bytes = options.memory_bytes;
  wanted.threshold = options.threshold;
  wanted.needs_deletes = options.needs_deletes;
  wanted.needs_counts = options.needs_counts;
  options.dleft.apply_to(wanted);
  if (!options.scheme.empty()) wanted.scheme = options.scheme;

  const std::uint64_t limit = histogram_limit(options.threshold);
  if (options.zipf) {
    if (options.num_keys == 0 || options.num_insertions == 0) {
      throw std::invalid_argument(
          "--zipf needs --keys (how many there are to draw from) and --insertions; give both");
    }
    wanted.histogram =
        theory::zipf_count_histogram(options.num_keys, *options.zipf, options.num_insertions, limit);
  } else if (!options.histogram.empty()) {
    wanted.histogram = read_histogram(options.histogram, limit);
  } else if (!options.sample.files.empty()) {
    wanted.histogram = count_sample(options.sample, limit);
  } else {
    wanted.num_keys = options.num_keys;
    wanted.num_insertions = options.num_insertions;
  }
  if (wanted.histogram) check_histogram(options, *wanted.histogram);
  return wanted;
}

ExitCode run_plan_sketch(const PlanOptions& options) {
  const bool is_of_keys = options.num_keys != 0 || options.false_positive_rate != 0 ||
                          options.threshold != 1 || options.num_insertions != 0 || options.needs_deletes ||
                          options.zipf || !options.histogram.empty() || !options.sample.files.empty() ||
                          !options.scheme.empty();
  if (is_of_keys) {
    throw std::invalid_argument(
        fmt::format("{}: it plans a sketch for the sum of all counts, whatever the keys; give only "
                    "--failure-probability, --memory and --total-count with it",
                    options.count_min.given()));
  }
  SharedSketchOptions shared;
  shared.failure_probability = options.dleft.failure_probability;
  if (options.memory_bytes != 0) shared.memory_bytes = options.memory_bytes;
  return plan_sketch(options.count_min, shared, options.json);
}

std::string_view name_of(ErrorLaw law) {
  switch (law) {
    case ErrorLaw::bound:
      return "bound";
    case ErrorLaw::insertions:
      return "insertions";
    case ErrorLaw::histogram:
      return "histogram";
  }
  return "";
}

Json forecast_json(const DLeftForecast& forecast) {
  Json sizes = Json::array();
  for (const DLeftSize& size : forecast.sizes) {
    sizes.push_back({{"num_doublings", size.num_doublings},
                     {"num_keys", size.num_keys},
                     {"memory_bytes", size.memory_bytes},
                     {"false_positive_rate", size.false_positive_rate}});
  }
  return {{"load", forecast.load},
          {"carried_load", forecast.carried_load},
          {"failure_probability", forecast.failure_probability},
          {"lifetime_operations", forecast.lifetime_operations},
          {"expected_spills", forecast.expected_spills},
          {"has_fast_loops", forecast.has_fast_loops},
          {"sizes", sizes}};
}

FilterShape filter_shape(const Candidate& candidate) {
  using Shape = decltype(FilterShape::shape);
  return {std::visit([](const auto& own) { return Shape(own); }, candidate.shape), candidate.scheme_id};
}

Json candidate_json(const Candidate& candidate) {
  Json errors = Json::array();
  for (const PredictedError& error : candidate.errors) {
    errors.push_back({{"true_count", error.true_count},
                      {"false_positive_rate", error.false_positive_rate},
                      {"ln_false_positive_rate", error.ln_false_positive_rate}});
  }
  Json json = {{"kind", candidate.kind},
               {"scheme", candidate.scheme},
               {"shape", shape_to_json(filter_shape(candidate))},
               {"num_positions", candidate.num_positions},
               {"num_hashes", candidate.num_hashes},
               {"counter_bits", candidate.counter_bits},
               {"num_keys", candidate.num_keys},
               {"memory_bytes", candidate.memory_bytes},
               {"bits_per_key", candidate.bits_per_key},
               {"false_positive_rate", candidate.false_positive_rate},
               {"promised_true_count", candidate.promised_true_count},
               {"errors", errors},
               {"error_law", name_of(candidate.error_law)},
               {"simple_threshold_rate", nullptr},
               {"saturation_probability", candidate.saturation_probability},
               {"cache_lines",
                {{"insert", candidate.cache_lines.insert},
                 {"lookup_absent", candidate.cache_lines.lookup_absent},
                 {"lookup_present", candidate.cache_lines.lookup_present}}},
               {"rounding_cost", nullptr},
               {"dleft", nullptr},
               {"summary", candidate.summary},
               {"source", candidate.source}};
  if (candidate.rounding_cost) {
    json["rounding_cost"] = {{"of", candidate.rounding_cost->is_of_memory ? "memory" : "error"},
                             {"whole_hashes_percent", candidate.rounding_cost->whole_hashes_percent},
                             {"whole_words_percent", candidate.rounding_cost->whole_words_percent}};
  }
  if (candidate.simple_threshold_rate) json["simple_threshold_rate"] = *candidate.simple_threshold_rate;
  if (candidate.dleft) json["dleft"] = forecast_json(*candidate.dleft);
  return json;
}

Json plan_json(const Plan& plan) {
  Json candidates = Json::array();
  for (const Candidate& candidate : plan.candidates) candidates.push_back(candidate_json(candidate));
  return {{"recommended", plan.recommended().kind},
          {"reason", plan.reason},
          {"warnings", plan.warnings},
          {"exact_table_bytes", plan.exact_table_bytes},
          {"candidates", candidates}};
}

std::string table_of(const Plan& plan, std::uint64_t threshold) {
  std::vector<std::string> header = {"structure", "memory", "bits/key", "positions", "bits", "k", "keys"};
  if (threshold == 1) {
    header.emplace_back("error");
  } else {
    header.emplace_back("error if never seen");
    header.push_back(fmt::format("if seen {} times", threshold - 1));
  }
  header.insert(header.end(), {"saturates", "lines: insert", "absent", "present"});
  Table table(header);
  for (const Candidate& candidate : plan.candidates) {
    std::vector<std::string> row = {std::string(candidate.kind),
                                    human_bytes(static_cast<double>(candidate.memory_bytes)),
                                    fmt::format("{:.2f}", candidate.bits_per_key),
                                    std::to_string(candidate.num_positions),
                                    std::to_string(candidate.counter_bits),
                                    std::to_string(candidate.num_hashes),
                                    human_count(static_cast<double>(candidate.num_keys)),
                                    human_rate(candidate.errors.front().false_positive_rate)};
    if (threshold > 1) row.push_back(human_rate(candidate.errors.back().false_positive_rate));
    row.push_back(human_rate(candidate.saturation_probability));
    for (const double lines : {candidate.cache_lines.insert, candidate.cache_lines.lookup_absent,
                               candidate.cache_lines.lookup_present}) {
      row.push_back(fmt::format("{:.1f}", lines));
    }
    table.add_row(std::move(row));
  }
  return table.text();
}

/// What only d-left filters have; empty if there is none.
std::string dleft_table_of(const Plan& plan) {
  Table cells(
      {"dleft: shape", "remainder", "counter", "side table", "load", "carries", "ever full", "loops"});
  Table sizes({"dleft: shape", "doublings", "memory", "keys", "error"});
  bool any = false;
  bool grows = false;
  for (const Candidate& candidate : plan.candidates) {
    if (!candidate.dleft) continue;
    const auto& shape = std::get<DLeftShape>(candidate.shape);
    const DLeftForecast& forecast = *candidate.dleft;
    const std::string name = fmt::format("{} x {}", shape.num_subtables, shape.cells_per_bucket);
    cells.add_row(
        {name, fmt::format("{} bits", shape.remainder_bits), fmt::format("{} bits", shape.counter_bits),
         fmt::format("{} entries", shape.spill_capacity), fmt::format("{:.1f}%", 100 * forecast.load),
         fmt::format("{:.1f}%", 100 * forecast.carried_load), human_rate(forecast.failure_probability),
         forecast.has_fast_loops ? "SIMD" : "cell by cell"});
    for (const DLeftSize& size : forecast.sizes) {
      sizes.add_row({name, std::to_string(size.num_doublings),
                     human_bytes(static_cast<double>(size.memory_bytes)),
                     human_count(static_cast<double>(size.num_keys)), human_rate(size.false_positive_rate)});
    }
    any = true;
    grows = grows || forecast.sizes.size() > 1;
  }
  return (any ? "\n" + cells.text() : "") + (grows ? "\n" + sizes.text() : "");
}

std::string plan_text(const Plan& plan, std::uint64_t threshold) {
  const Candidate& first = plan.recommended();
  std::string text = table_of(plan, threshold) + dleft_table_of(plan);
  text += "\n" + wrapped(fmt::format("Recommended: {}, because {}.", first.kind, plan.reason), 0) + "\n";
  if (threshold > 1) {
    std::string errors;
    for (const PredictedError& error : first.errors) {
      errors += fmt::format("{}{}: {}", errors.empty() ? "" : ", ", error.true_count,
                            human_rate(error.false_positive_rate));
    }
    text += wrapped(fmt::format("Error by true count{}: {}.",
                                first.error_law == ErrorLaw::bound ? " (bounds)" : "", errors),
                    0) +
            "\n";
  }
  if (first.rounding_cost) {
    const RoundingCost& cost = *first.rounding_cost;
    text +=
        wrapped(fmt::format("A whole number of hashes costs {:.2g}%, whole positions and words {:.2g}% {}.",
                            cost.whole_hashes_percent, cost.whole_words_percent,
                            cost.is_of_memory ? "more memory" : "more error"),
                0) +
        "\n";
  }
  text += wrapped(fmt::format("Formula: {}.", first.source), 0) + "\n";
  text += wrapped(fmt::format("For comparison: a hash table of 128-bit digests takes about {}.",
                              human_bytes(plan.exact_table_bytes)),
                  0) +
          "\n";
  for (const std::string& warning : plan.warnings)
    text += wrapped(fmt::format("Note: {}.", warning), 2) + "\n";
  return text;
}

/// "dleft is left out: plan_dleft: memory_bytes is 10; ..."
std::string warning_in_words_of(CommandLine app, const std::string& warning) {
  constexpr std::string_view before_reason = " is left out: ";
  const std::size_t at = warning.find(before_reason);
  if (at == std::string::npos) return warning;
  const std::size_t end = at + before_reason.size();
  return warning.substr(0, end) + in_words_of(app, std::string_view(warning).substr(end));
}

void warn_of_most_passing(const Requirements& wanted, const Plan& result) {
  if (wanted.memory_bytes == 0 || wanted.false_positive_rate != 0) return;
  const Candidate& first = result.recommended();
  warn_of_little_memory(wanted.memory_bytes, first.num_keys, first.false_positive_rate, [&] {
    Requirements roomy = wanted;
    roomy.memory_bytes = 0;
    roomy.false_positive_rate = usual_rate;
    return plan(roomy).recommended().memory_bytes;
  });
}

}  // namespace

Run declare_plan(CommandLine app) {
  const auto options = std::make_shared<PlanOptions>();
  app.set_description(
      "plan a structure from two of: keys, error, memory\n"
      "Gives every structure that would do, side by side, and recommends one. The keys may be given as a "
      "number, as a sample that is counted, as a histogram of counts, or as a Zipf law.");
  Option keys =
      add_count(app, "-n,--keys", options->num_keys, "distinct keys (with --zipf: those to draw from)");
  add_rate(app, "-p,--false-positive-rate", options->false_positive_rate, "how often an absent key may pass");
  add_size(app, "-m,--memory", options->memory_bytes, "memory that is never exceeded");
  add_count(app, "-t,--theta,--threshold", options->threshold,
            "the question is 'seen at least this often?' (default: 1)", {1, max_threshold_limit});
  app.add_flag("--deletes", options->needs_deletes, "keys must be removable");
  app.add_flag("--counts", options->needs_counts, "how often a key is in it will be asked");
  Option insertions = add_count(app, "--insertions", options->num_insertions,
                                "insertions of all keys together, repeats counted");
  add_scheme(app, options->scheme);
  Option from =
      app.add_option("--from", options->sample.files,
                     "count the keys of these files exactly and plan for them ('-': standard input)")
          .type_name("FILE")
          .group("Input");
  Option histogram = add_file(app, "--histogram", options->histogram,
                              "lines of two numbers: a count, and how many keys have it")
                         .group("Input");
  Option zipf =
      add_real(app, "--zipf", options->zipf, "keys are drawn by Zipf's law with this exponent", {0, 20})
          .group("Input");
  add_field_options(app, options->sample);
  add_dleft_plan_options(app, options->dleft);
  add_count_min_options(app, options->count_min);
  from.excludes(keys).excludes(histogram).excludes(zipf).excludes(insertions);
  histogram.excludes(keys).excludes(zipf).excludes(insertions);
  add_plot(app, options->plot, "error against memory");
  add_json(app, options->json);
  return [app, options] {
    check_plot(options->plot, options->json);
    if (!options->sample.files.empty())
      refuse_input_as_output(options->sample.files, options->plot.file, "--plot");
    if (!options->count_min.given().empty()) return run_plan_sketch(*options);
    const Requirements wanted = requirements_of(*options);
    Plan result = plan(wanted);
    for (std::string& warning : result.warnings) warning = warning_in_words_of(app, warning);
    warn_of_most_passing(wanted, result);
    if (options->json) {
      print_json(plan_json(result));
    } else {
      print(plan_text(result, options->threshold));
    }
    if (options->plot.wanted) draw(options->plot, plan_figure(wanted, result));
    return ExitCode::success;
  };
}

}  // namespace tally::cli
