#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/figures.hpp"
#include "bench/measure.hpp"
#include "bench/timing.hpp"
#include "cli/documents.hpp"
#include "cli/flag_words.hpp"
#include "cli/options.hpp"
#include "commands/commands.hpp"
#include "files/shape_json.hpp"
#include "shape/plan_options.hpp"
#include "tally/planner.hpp"
#include "text/output.hpp"
#include "text/wrapped.hpp"

namespace tally::cli {
namespace {

struct BenchOptions {
  PlanOptions plan;
  MeasureOptions measure{.seed = default_seed};
  bool json = false;
};

struct Timed {
  Candidate candidate;
  Measured measured;

  double bits_per_key() const {
    return 8.0 * static_cast<double>(measured.memory_bytes) / static_cast<double>(candidate.num_keys);
  }
  /// The median of a lookup of present and of absent keys in batches.
  double lookup_time() const {
    return median(measured.batches[static_cast<std::size_t>(Operation::lookup_present)]) +
           median(measured.batches[static_cast<std::size_t>(Operation::lookup_absent)]);
  }
};

std::string time_text(const std::vector<double>& times) {
  return times.empty() ? "-" : fmt::format("{:.1f}", median(times));
}

std::string table_of(const std::vector<Timed>& all) {
  Table table({"structure", "memory", "bits per key", "false positive rate", "keys per call", "insert",
               "remove", "hit", "miss", "line read"});
  for (const Timed& timed : all) {
    const auto add = [&](std::vector<std::string> row, const OperationTimes& times) {
      for (const std::vector<double>& own : times) row.push_back(time_text(own));
      table.add_row(std::move(row));
    };
    add({timed.candidate.name(), human_bytes(static_cast<double>(timed.measured.memory_bytes)),
         fmt::format("{:.2f}", timed.bits_per_key()), human_rate(timed.measured.false_positive_rate), "2048"},
        timed.measured.batches);
    add({"", "", "", "", "1"}, timed.measured.single);
  }
  return table.text();
}

MeasuredFilter figures_of(const Timed& timed) {
  return measured_filter(timed.candidate.shape, [&](Operation operation) {
    return median(timed.measured.batches[static_cast<std::size_t>(operation)]);
  });
}

/// The structures in the order of the plan with their own times, and its reason.
Plan plan_again(const Requirements& requirements, std::vector<Timed>& all) {
  std::vector<MeasuredFilter> figures;
  for (const Timed& timed : all) figures.push_back(figures_of(timed));
  Plan result = plan(requirements, figures);
  std::vector<Timed> ordered;
  for (const Candidate& candidate : result.candidates) {
    const auto own =
        std::ranges::find(all, candidate.shape, [](const Timed& t) { return t.candidate.shape; });
    ordered.push_back(*own);
  }
  all = std::move(ordered);
  return result;
}

std::string recommendation_text(const Plan& choice) {
  return wrapped(fmt::format("Recommended: {}, because {}.", choice.recommended().name(), choice.reason), 0) +
         "\n";
}

std::string bench_text(const std::vector<Timed>& all) {
  const auto smallest =
      std::ranges::min_element(all, {}, [](const Timed& t) { return t.measured.memory_bytes; });
  const auto fastest = std::ranges::min_element(all, {}, [](const Timed& t) { return t.lookup_time(); });
  std::string text = table_of(all) + "\n";
  text += wrapped(
              "Times are medians in ns of processor time per key; keys are ready digests. 'line read' is one "
              "random "
              "64-byte line of the filter's own memory per key, with and without prefetch: no filter can be "
              "faster "
              "than the number of lines it reads.",
              0) +
          "\n";
  text +=
      wrapped(fmt::format("Smallest: {}, {:.1f} bits per key. Fastest lookups in batches: {}.",
                          smallest->candidate.name(), smallest->bits_per_key(), fastest->candidate.name()),
              0) +
      "\n";
  return text;
}

Json times_json(const OperationTimes& times) {
  Json json = Json::object();
  for (std::size_t i = 0; i < num_operations; ++i) {
    if (times[i].empty()) continue;
    json[operation_names[i]] = {{"median_ns", median(times[i])},
                                {"least_ns", *std::ranges::min_element(times[i])},
                                {"largest_ns", *std::ranges::max_element(times[i])}};
  }
  return json;
}

Json bench_json(const std::vector<Timed>& all) {
  Json candidates = Json::array();
  for (const Timed& timed : all) {
    candidates.push_back(
        {{"name", timed.candidate.name()},
         {"shape", shape_to_json(timed.candidate.shape)},
         {"num_keys", timed.candidate.num_keys},
         {"memory_bytes", timed.measured.memory_bytes},
         {"bits_per_key", timed.bits_per_key()},
         {"false_positive_rate", timed.measured.false_positive_rate},
         {"predicted_false_positive_rate", timed.candidate.errors.back().false_positive_rate},
         {"batches", times_json(timed.measured.batches)},
         {"single", times_json(timed.measured.single)}});
  }
  return {{"candidates", candidates}};
}

}  // namespace

Run declare_bench(CommandLine app) {
  const auto options = std::make_shared<BenchOptions>();
  add_details(app, R"(
      Plans structures as 'tally plan' does, makes each of them on this machine, fills it with random keys, and checks
      its answers and its false positive rate. Then it times every operation, in batches of 2048 keys and one key per
      call. With --deletes, insertions are of new keys, each after the removal of an old one, at the full number of
      keys; otherwise they are of keys that are in the filter. A threshold filter gets every key as often as --threshold
      says, any other filter once.

      With --fastest, --smallest or --balanced, the structures are in that order by their own times, and one is
      recommended. The output of --json is a file for 'tally plan --figures'.

      Compare only the times of one run: machines differ, and are noisy.
      )");
  app.set_exit_status({.success = "if all structures gave right answers"});
  add_plan_options(app, options->plan, fmt::format("; at least {}", least_measured_keys));
  add_count(app, "--rounds", options->measure.num_rounds,
            "Number of rounds, of which the median is printed (default: 5)", {1, 1000});
  add_count(app, "--seed", options->measure.seed, "Seed of the random keys", {0, ~std::uint64_t{0}});
  add_json(app, options->json);
  return [options] {
    const Requirements requirements = requirements_of(options->plan);
    std::vector<Timed> all;
    for (const Candidate& candidate : plan(requirements).candidates) {
      MeasureOptions own = options->measure;
      own.num_keys = candidate.num_keys;
      if (own.num_keys < least_measured_keys) {
        throw std::invalid_argument(
            fmt::format("{}: {} is planned for {} keys, too few to time; must be at least {}",
                        requirements.num_keys    ? "--keys"
                        : requirements.histogram ? flag_of_histogram(options->plan)
                                                 : "--memory",
                        candidate.name(), own.num_keys, least_measured_keys));
      }
      own.false_positive_rate = candidate.errors.back().false_positive_rate;
      all.push_back({candidate, measure(candidate.shape, own)});
    }
    std::optional<Plan> choice;
    if (requirements.preference) choice = plan_again(requirements, all);
    if (options->json) {
      Json json = bench_json(all);
      if (choice) {
        json["recommended"] = tally::name_of(choice->recommended().kind());
        json["reason"] = choice->reason;
      }
      print_json(json);
    } else {
      print(bench_text(all));
      if (choice) print(recommendation_text(*choice));
    }
    return ExitCode::success;
  };
}

}  // namespace tally::cli
