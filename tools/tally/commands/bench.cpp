#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/measure.hpp"
#include "bench/timing.hpp"
#include "cli/documents.hpp"
#include "cli/flag_words.hpp"
#include "cli/options.hpp"
#include "commands/commands.hpp"
#include "files/shape_json.hpp"
#include "shape/dleft_options.hpp"
#include "shape/options.hpp"
#include "shape/scheme_option.hpp"
#include "tally/planner.hpp"
#include "text/output.hpp"
#include "text/wrapped.hpp"

namespace tally::cli {
namespace {

struct BenchOptions {
  ShapeOptions shape;
  MeasureOptions measure{.seed = default_seed};
  bool json = false;
};

struct Timed {
  Candidate candidate;
  Measured measured;

  /// "dleft 2 x 32": there may be several of a kind.
  std::string name() const {
    std::string text(tally::name_of(candidate.kind()));
    if (const auto* dleft = std::get_if<DLeftShape>(&candidate.shape.shape))
      text += fmt::format(" {} x {}", dleft->num_subtables, dleft->cells_per_bucket);
    return text;
  }
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
    add({timed.name(), human_bytes(static_cast<double>(timed.measured.memory_bytes)),
         fmt::format("{:.2f}", timed.bits_per_key()), human_rate(timed.measured.false_positive_rate), "2048"},
        timed.measured.batches);
    add({"", "", "", "", "1"}, timed.measured.single);
  }
  return table.text();
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
  text += wrapped(fmt::format("Smallest: {}, {:.1f} bits per key. Fastest lookups in batches: {}.",
                              smallest->name(), smallest->bits_per_key(), fastest->name()),
                  0) +
          "\n";
  return text;
}

Json times_json(const OperationTimes& times) {
  constexpr std::array<const char*, num_operations> names{"insert", "remove", "lookup_present",
                                                          "lookup_absent", "line_read"};
  Json json = Json::object();
  for (std::size_t i = 0; i < num_operations; ++i) {
    if (times[i].empty()) continue;
    json[names[i]] = {{"median_ns", median(times[i])},
                      {"least_ns", *std::ranges::min_element(times[i])},
                      {"largest_ns", *std::ranges::max_element(times[i])}};
  }
  return json;
}

Json bench_json(const std::vector<Timed>& all) {
  Json candidates = Json::array();
  for (const Timed& timed : all) {
    candidates.push_back({{"name", timed.name()},
                          {"shape", shape_to_json(timed.candidate.shape)},
                          {"num_keys", timed.candidate.num_keys},
                          {"memory_bytes", timed.measured.memory_bytes},
                          {"bits_per_key", timed.bits_per_key()},
                          {"false_positive_rate", timed.measured.false_positive_rate},
                          {"predicted_false_positive_rate", timed.candidate.false_positive_rate},
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
      keys; otherwise they are of keys that are in the filter.

      Compare only the times of one run: machines differ, and are noisy.

      Exit status: 0 if all structures gave right answers, 2 after an error.
      )");
  Requirements& wanted = options->shape.wanted;
  add_count(app, "-n,--keys", wanted.num_keys, "Number of distinct keys, at least 10,000",
            {least_measured_keys});
  add_rate(app, "-p,--false-positive-rate", wanted.false_positive_rate, "Largest false positive rate");
  add_size(app, "-m,--memory", wanted.memory_bytes, "Memory of each structure, which is never exceeded");
  app.add_flag("--deletes", wanted.needs_deletes, "Keys will be removed");
  app.add_flag("--counts", wanted.needs_counts, "Queries will ask for the count of a key");
  add_scheme(app, options->shape.scheme);
  add_dleft_plan_options(app, wanted);
  add_count(app, "--rounds", options->measure.num_rounds,
            "Number of rounds, of which the median is printed (default: 5)", {1, 1000});
  add_count(app, "--seed", options->measure.seed, "Seed of the random keys", {0, ~std::uint64_t{0}});
  add_json(app, options->json);
  return [options] {
    Requirements requirements = options->shape.wanted;
    if (!options->shape.scheme.empty()) requirements.scheme = options->shape.scheme;
    std::vector<Timed> all;
    for (const Candidate& candidate : plan(requirements).candidates) {
      MeasureOptions own = options->measure;
      own.num_keys = candidate.num_keys;
      if (own.num_keys < least_measured_keys) {
        throw std::invalid_argument(fmt::format("--memory: it is enough for {} keys; give enough for {}",
                                                own.num_keys, least_measured_keys));
      }
      own.false_positive_rate = candidate.false_positive_rate;
      all.push_back({candidate, measure(candidate.shape, own)});
    }
    if (options->json) {
      print_json(bench_json(all));
    } else {
      print(bench_text(all));
    }
    return ExitCode::success;
  };
}

}  // namespace tally::cli
