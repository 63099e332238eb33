#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "cli/documents.hpp"
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
#include "shape/flags.hpp"
#include "shape/memory_warning.hpp"
#include "shape/scheme_option.hpp"
#include "tally/planner.hpp"
#include "text/output.hpp"
#include "text/wrapped.hpp"

namespace tally::cli {
namespace {

struct PlanOptions {
  ShapeOptions shape;
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

/// Checks here what the planner would report in terms of num_keys, which the user does not give with a histogram.
void check_histogram(const PlanOptions& options, const theory::CountHistogram& histogram) {
  const char* const flag = options.zipf ? "--zipf" : !options.histogram.empty() ? "--histogram" : "--from";
  if (histogram.num_distinct() == 0)
    throw std::invalid_argument(fmt::format("{}: it contains no keys; give one with at least one key", flag));
  if (options.shape.wanted.false_positive_rate.has_value() == options.shape.wanted.memory_bytes.has_value()) {
    throw std::invalid_argument(fmt::format(
        "{}: it determines the number of keys; also give either --false-positive-rate or --memory", flag));
  }
}

Requirements requirements_of(const PlanOptions& options) {
  Requirements wanted = options.shape.wanted;
  if (!options.shape.scheme.empty()) wanted.scheme = options.shape.scheme;

  const std::uint64_t limit = histogram_limit(wanted.theta());
  if (options.zipf) {
    if (!wanted.num_keys || !wanted.num_insertions) {
      throw std::invalid_argument(
          "--zipf needs --keys (the number of keys to draw from) and --insertions; give both");
    }
    wanted.histogram =
        theory::zipf_count_histogram(*wanted.num_keys, *options.zipf, *wanted.num_insertions, limit);
  } else if (!options.histogram.empty()) {
    wanted.histogram = read_histogram(options.histogram, limit);
  } else if (!options.sample.files.empty()) {
    wanted.histogram = count_sample(options.sample, limit);
  }
  if (wanted.histogram) {
    check_histogram(options, *wanted.histogram);
    wanted.num_keys.reset();
    wanted.num_insertions.reset();
  }
  return wanted;
}

ExitCode run_plan_sketch(const PlanOptions& options) {
  const Requirements& wanted = options.shape.wanted;
  const bool is_of_keys = wanted.num_keys || wanted.false_positive_rate || wanted.theta() != 1 ||
                          wanted.num_insertions || wanted.needs_deletes || options.zipf ||
                          !options.histogram.empty() || !options.sample.files.empty() ||
                          !options.shape.scheme.empty();
  if (is_of_keys) {
    throw std::invalid_argument(
        fmt::format("{}: it plans a sketch, whose size does not depend on the keys; combine it only with "
                    "--failure-probability, --memory and --total-count",
                    flag_given(options.shape, sketch_flags)));
  }
  return plan_sketch(options.shape, options.json);
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

Json candidate_json(const Candidate& candidate) {
  Json errors = Json::array();
  for (const PredictedError& error : candidate.errors) {
    errors.push_back({{"true_count", error.true_count},
                      {"false_positive_rate", error.false_positive_rate},
                      {"ln_false_positive_rate", error.ln_false_positive_rate}});
  }
  const FilterShape& shape = candidate.shape;
  Json json = {{"kind", tally::name_of(shape.kind())},
               {"scheme", shape.scheme_name()},
               {"shape", shape_to_json(shape)},
               {"num_positions", shape.num_positions()},
               {"num_hashes", shape.num_hashes()},
               {"counter_bits", shape.counter_bits()},
               {"num_keys", candidate.num_keys},
               {"memory_bytes", shape.num_bytes()},
               {"bits_per_key", candidate.bits_per_key()},
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
  return {{"recommended", tally::name_of(plan.recommended().kind())},
          {"reason", plan.reason},
          {"warnings", plan.warnings},
          {"exact_table_bytes", plan.exact_table_bytes},
          {"candidates", candidates}};
}

std::string table_of(const Plan& plan, std::uint64_t threshold) {
  std::vector<std::string> header = {"structure", "memory", "bits per key", "positions", "bits", "k", "keys"};
  if (threshold == 1) {
    header.emplace_back("false positive rate");
  } else {
    header.emplace_back("false positive rate if never inserted");
    header.push_back(fmt::format("if inserted {} times", threshold - 1));
  }
  header.insert(header.end(), {"P(saturated)", "cache lines per insert", "miss", "hit"});
  Table table(header);
  for (const Candidate& candidate : plan.candidates) {
    const FilterShape& shape = candidate.shape;
    std::vector<std::string> row = {std::string(tally::name_of(shape.kind())),
                                    human_bytes(static_cast<double>(shape.num_bytes())),
                                    fmt::format("{:.2f}", candidate.bits_per_key()),
                                    std::to_string(shape.num_positions()),
                                    std::to_string(shape.counter_bits()),
                                    std::to_string(shape.num_hashes()),
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

/// Two more tables with what only d-left filters have; empty if there is none.
std::string dleft_table_of(const Plan& plan) {
  Table cells(
      {"dleft: shape", "remainder", "counter", "side table", "load", "max load", "P(full)", "code path"});
  Table sizes({"dleft: shape", "doublings", "memory", "keys", "false positive rate"});
  bool any = false;
  bool grows = false;
  for (const Candidate& candidate : plan.candidates) {
    if (!candidate.dleft) continue;
    const auto& shape = std::get<DLeftShape>(candidate.shape.shape);
    const DLeftForecast& forecast = *candidate.dleft;
    const std::string name = fmt::format("{} x {}", shape.num_subtables, shape.cells_per_bucket);
    cells.add_row(
        {name, fmt::format("{} bits", shape.remainder_bits), fmt::format("{} bits", shape.counter_bits),
         fmt::format("{} entries", shape.spill_capacity), fmt::format("{:.1f}%", 100 * forecast.load),
         fmt::format("{:.1f}%", 100 * forecast.carried_load), human_rate(forecast.failure_probability),
         forecast.has_fast_loops ? "fast (SIMD)" : "slow (cell by cell)"});
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
  text += "\n" +
          wrapped(fmt::format("Recommended: {}, because {}.", tally::name_of(first.kind()), plan.reason), 0) +
          "\n";
  if (threshold > 1) {
    std::string errors;
    for (const PredictedError& error : first.errors) {
      errors += fmt::format("{}{}: {}", errors.empty() ? "" : ", ", error.true_count,
                            human_rate(error.false_positive_rate));
    }
    text += wrapped(fmt::format("False positive rate by true count{}: {}.",
                                first.error_law == ErrorLaw::bound ? " (upper bounds)" : "", errors),
                    0) +
            "\n";
  }
  if (first.rounding_cost) {
    const RoundingCost& cost = *first.rounding_cost;
    text += wrapped(fmt::format(
                        "A whole number of hashes costs {:.2g}% {}, whole positions and words cost {:.2g}%.",
                        cost.whole_hashes_percent, cost.is_of_memory ? "more memory" : "more false positives",
                        cost.whole_words_percent),
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

void warn_of_high_rate(const Requirements& wanted, const Plan& result) {
  if (!wanted.memory_bytes || wanted.false_positive_rate) return;
  const Candidate& first = result.recommended();
  warn_of_little_memory(*wanted.memory_bytes, first.num_keys, first.false_positive_rate, [&] {
    Requirements roomy = wanted;
    roomy.memory_bytes.reset();
    roomy.false_positive_rate = usual_rate;
    return plan(roomy).recommended().shape.num_bytes();
  });
}

}  // namespace

Run declare_plan(CommandLine app) {
  const auto options = std::make_shared<PlanOptions>();
  add_details(app, R"(
      Lists every structure that meets the requirements, and recommends one. Give the keys as a number, as a sample
      to count, as a histogram of counts, or as a Zipf law.

      With --epsilon or --total-count, plans a count-min sketch instead.

      Exit status: 0 if a structure meets the requirements, 2 after an error.
      )");
  Option keys = add_count(app, "-n,--keys", options->shape.wanted.num_keys,
                          "Number of distinct keys (with --zipf: of keys to draw from)");
  add_rate(app, "-p,--false-positive-rate", options->shape.wanted.false_positive_rate,
           "Largest false positive rate");
  add_size(app, "-m,--memory", options->shape.wanted.memory_bytes, "Memory, which is never exceeded");
  add_count(app, "-t,--theta,--threshold", options->shape.wanted.threshold,
            "Queries ask whether a key was inserted at least this number of times (default: 1)",
            {1, max_threshold_limit});
  app.add_flag("--deletes", options->shape.wanted.needs_deletes, "Keys will be removed");
  app.add_flag("--counts", options->shape.wanted.needs_counts, "Queries will ask for the count of a key");
  Option insertions = add_count(app, "--insertions", options->shape.wanted.num_insertions,
                                "Number of insertions, including repeated keys");
  add_scheme(app, options->shape.scheme);
  Option from =
      app.add_option("--from", options->sample.files,
                     "Count the keys of these files exactly and plan for them ('-': standard input)")
          .type_name("FILE")
          .group("Input");
  Option histogram =
      add_file(app, "--histogram", options->histogram,
               "A file with two numbers per line: a count, and the number of keys with that count")
          .group("Input");
  Option zipf =
      add_real(app, "--zipf", options->zipf, "Keys are drawn by Zipf's law with this exponent", {0, 20})
          .group("Input");
  add_field_options(app, options->sample);
  add_dleft_plan_options(app, options->shape.wanted);
  add_count_min_options(app, options->shape);
  from.excludes(keys).excludes(histogram).excludes(zipf).excludes(insertions);
  histogram.excludes(keys).excludes(zipf).excludes(insertions);
  add_plot(app, options->plot, "false positive rate against memory");
  add_json(app, options->json);
  return [app, options] {
    check_plot(options->plot, options->json);
    if (!options->sample.files.empty())
      refuse_input_as_output(options->sample.files, options->plot.file, "--plot");
    if (!flag_given(options->shape, sketch_flags).empty()) return run_plan_sketch(*options);
    const Requirements wanted = requirements_of(*options);
    Plan result = plan(wanted);
    for (std::string& warning : result.warnings) warning = warning_in_words_of(app, warning);
    warn_of_high_rate(wanted, result);
    if (options->json) {
      print_json(plan_json(result));
    } else {
      print(plan_text(result, wanted.theta()));
    }
    if (options->plot.wanted) draw(options->plot, plan_figure(wanted, result));
    return ExitCode::success;
  };
}

}  // namespace tally::cli
