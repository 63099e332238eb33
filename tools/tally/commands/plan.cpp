#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/figures.hpp"
#include "cli/documents.hpp"
#include "cli/flag_words.hpp"
#include "cli/options.hpp"
#include "commands/commands.hpp"
#include "commands/plan_check.hpp"
#include "commands/plan_nodes.hpp"
#include "commands/plan_sketch.hpp"
#include "files/plan_json.hpp"
#include "input/input_is_output.hpp"
#include "input/sample.hpp"
#include "plot/figures.hpp"
#include "shape/count_min_options.hpp"
#include "shape/flags.hpp"
#include "shape/memory_warning.hpp"
#include "shape/plan_options.hpp"
#include "shape/preference_options.hpp"
#include "tally/planner.hpp"
#include "text/output.hpp"
#include "text/wrapped.hpp"

namespace tally::cli {
namespace {

struct PlanCommandOptions {
  PlanOptions plan;
  NodeOptions nodes;
  std::string figures;
  std::string weights;
  PlotOptions plot;
  bool json = false;
};

ExitCode run_plan_sketch(const PlanCommandOptions& options) {
  const ShapeOptions& shape = options.plan.shape;
  const Requirements& wanted = shape.wanted;
  const bool has_stream = options.plan.zipf && wanted.num_keys && wanted.num_insertions;
  const bool is_of_keys = (!has_stream && (wanted.num_keys || wanted.num_insertions || options.plan.zipf)) ||
                          wanted.false_positive_rate || wanted.theta() != 1 || wanted.needs_deletes ||
                          wanted.preference || !options.figures.empty() || !options.plan.histogram.empty() ||
                          !options.plan.sample.files.empty() || !shape.scheme.empty() ||
                          options.nodes.num_merged || options.nodes.num_peers || options.nodes.num_slots;
  if (is_of_keys) {
    throw std::invalid_argument(fmt::format(
        "{}: it plans a sketch, whose size does not depend on the keys; combine it only with "
        "--failure-probability, --memory and --total-count, or with --zipf, --keys and --insertions for "
        "its expected errors",
        flag_given(shape, sketch_flags)));
  }
  std::optional<ZipfStream> stream;
  if (has_stream) {
    stream = ZipfStream{*wanted.num_keys, *options.plan.zipf, *wanted.num_insertions};
    if (!options.weights.empty()) stream->weights = read_weights(options.weights);
  }
  return plan_sketch(shape, stream, options.json);
}

std::string table_of(const Plan& plan, std::uint64_t threshold) {
  std::vector<std::string> header = {"structure", "memory", "bits per key", "positions", "bits", "k", "keys"};
  if (threshold == 1) {
    header.emplace_back("false positive rate");
  } else {
    header.emplace_back("false positive rate if never inserted");
    header.push_back(fmt::format("if inserted {} times", threshold - 1));
  }
  header.insert(header.end(), {"P(saturated)", "saturated", "cache lines per insert", "miss", "hit"});
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
    row.push_back(fmt::format("{:.3g}", candidate.expected_saturated_counters));
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
  Table cells({"dleft: shape", "remainder", "counter", "side table", "load", "max load", "moves per insert",
               "P(full)", "code path"});
  Table sizes({"dleft: shape", "doublings", "memory", "keys", "false positive rate"});
  bool any = false;
  bool grows = false;
  for (const Candidate& candidate : plan.candidates) {
    if (!candidate.dleft) continue;
    const auto& shape = std::get<DLeftShape>(candidate.shape.shape);
    const DLeftForecast& forecast = *candidate.dleft;
    const std::string name = fmt::format("{} x {}{}", shape.num_subtables, shape.cells_per_bucket,
                                         forecast.max_moves_per_insertion == 0 ? ", no moves" : "");
    cells.add_row(
        {name, fmt::format("{} bits", shape.remainder_bits), fmt::format("{} bits", shape.counter_bits),
         fmt::format("{} entries", shape.spill_capacity), fmt::format("{:.1f}%", 100 * forecast.load),
         fmt::format("{:.1f}%", 100 * forecast.carried_load), human_rate(forecast.moves_per_insertion),
         human_rate(forecast.failure_probability),
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

/// Another table with the times, and where they come from.
std::string times_table_of(const Plan& plan) {
  Table table({"ns per key, in batches", "insert", "remove", "hit", "miss", "line read", "source"});
  const auto text_of_time = [](double ns) { return fmt::format("{:.1f}", ns); };
  bool any_of_table = false;
  for (const Candidate& candidate : plan.candidates) {
    const OperationCosts& costs = candidate.operation_costs;
    table.add_row({candidate.name(), text_of_time(costs.insert_ns),
                   costs.remove_ns ? text_of_time(*costs.remove_ns) : "-",
                   text_of_time(costs.lookup_present_ns), text_of_time(costs.lookup_absent_ns),
                   text_of_time(costs.line_read_ns), std::string(tally::name_of(costs.source))});
    any_of_table = any_of_table || costs.source == CostSource::table;
  }
  std::string text = "\n" + table.text();
  if (any_of_table) {
    text +=
        wrapped(
            "These times were measured once, as docs/benchmarks.md says; 'tally bench' with the same options "
            "measures those of this machine.",
            0) +
        "\n";
  }
  return text;
}

std::string plan_text(const Plan& plan, std::uint64_t threshold,
                      const std::optional<PlanPreference>& preference, const NodeOptions& nodes) {
  const Candidate& first = plan.recommended();
  std::string text = table_of(plan, threshold) + times_table_of(plan) + dleft_table_of(plan) +
                     nodes_text(nodes, plan.candidates);
  text +=
      "\n" +
      wrapped(fmt::format("Recommended: {}, because {}.",
                          preference ? first.name() : std::string(tally::name_of(first.kind())), plan.reason),
              0) +
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

/// Answers whether the memory is enough.
ExitCode run_plan_check(CommandLine app, const PlanCommandOptions& options, const Requirements& wanted,
                        const std::vector<MeasuredFilter>& figures) {
  PlanCheck check = check_plan(wanted, figures);
  for (std::string& warning : check.warnings) warning = warning_in_words_of(app, warning);
  std::vector<Candidate> needed;
  for (const StructureFit& fit : check.structures) {
    if (fit.needed) needed.push_back(*fit.needed);
  }
  if (options.json) {
    Json json = plan_check_json(check);
    add_nodes_json(json, options.nodes, needed);
    print_json(json);
  } else {
    print(plan_check_text(check) + nodes_text(options.nodes, needed));
  }
  if (options.plot.wanted) {
    Requirements of_keys_and_rate = wanted;
    of_keys_and_rate.memory_bytes.reset();
    draw(options.plot, plan_figure(of_keys_and_rate, plan(of_keys_and_rate, figures)));
  }
  return check.is_enough() ? ExitCode::success : ExitCode::none;
}

}  // namespace

Run declare_plan(CommandLine app) {
  const auto options = std::make_shared<PlanCommandOptions>();
  add_details(app, R"(
      Lists every structure that meets the requirements, and recommends one. Give the keys as a number, as a sample
      to count, as a histogram of counts, or as a Zipf law.

      With --fastest, --smallest or --balanced, another structure may be recommended, and the reason states its price.

      With --keys, --false-positive-rate and --memory, answers for every structure whether the memory is enough, what is
      left of it, and what it could hold; if no structure is small enough, also what would do.

      With --epsilon or --total-count, plans a count-min sketch instead.
      )");
  app.set_exit_status({.success = "if a structure meets the requirements",
                       .none = "if keys, rate and memory are given and none does"});
  add_plan_options(app, options->plan);
  add_node_options(app, options->nodes);
  app.add_flag("--rate-when-doubled", options->plan.shape.wanted.keeps_rate_when_doubled,
               "A dleft filter keeps --false-positive-rate at its last size, not only before any doubling")
      .needs(app.get_option("--max-doublings"))
      .group("Planned dleft filter");
  add_file(app, "--figures", options->figures,
           "Choose by the times in this file, the output of 'tally bench --json' with the same options, "
           "instead of those of the planner's table")
      .group("Preference");
  add_count_min_options(app, options->plan.shape);
  add_file(app, "--weights", options->weights,
           "A file with two numbers per line: a weight, and the number of insertions that add it ('-': "
           "standard input); with --zipf, for the expected errors")
      .needs(app.get_option("--zipf"))
      .group("Count-Min sketch");
  add_plot(app, options->plot, "false positive rate against memory");
  add_json(app, options->json);
  return [app, options] {
    check_plot(options->plot, options->json);
    if (!options->plan.sample.files.empty())
      refuse_input_as_output(options->plan.sample.files, options->plot.file, "--plot");
    if (!flag_given(options->plan.shape, sketch_flags).empty()) return run_plan_sketch(*options);
    if (!options->weights.empty()) {
      throw std::invalid_argument(
          "--weights: only count-min sketches take weights; also give --epsilon or --total-count");
    }
    if (!options->figures.empty() && !options->plan.shape.wanted.preference) {
      throw std::invalid_argument(
          fmt::format("--figures: they are for {}; also give one of these", preference_flags));
    }
    const std::vector<MeasuredFilter> figures =
        options->figures.empty() ? std::vector<MeasuredFilter>() : read_figures(options->figures);
    const Requirements wanted = requirements_of_node(options->nodes, requirements_of(options->plan));
    if ((wanted.num_keys || wanted.histogram) && wanted.false_positive_rate && wanted.memory_bytes)
      return run_plan_check(app, *options, wanted, figures);
    Plan result = plan(wanted, figures);
    if (!options->figures.empty()) require_own_figures(options->figures, result);
    for (std::string& warning : result.warnings) warning = warning_in_words_of(app, warning);
    warn_of_high_rate(wanted, result);
    if (options->json) {
      Json json = plan_json(result, wanted.preference);
      add_nodes_json(json, options->nodes, result.candidates);
      print_json(json);
    } else {
      print(plan_text(result, wanted.theta(), wanted.preference, options->nodes));
    }
    if (options->plot.wanted) draw(options->plot, plan_figure(wanted, result));
    return ExitCode::success;
  };
}

}  // namespace tally::cli
