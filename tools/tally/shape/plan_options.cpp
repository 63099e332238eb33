#include "shape/plan_options.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <stdexcept>

#include "cli/options.hpp"
#include "input/sample.hpp"
#include "shape/dleft_options.hpp"
#include "shape/histogram_limit.hpp"
#include "shape/preference_options.hpp"
#include "shape/scheme_option.hpp"
#include "tally/planner.hpp"

namespace tally::cli {
namespace {

/// Checks here what the planner would report in terms of num_keys, which the user does not give with a histogram.
void check_histogram(const PlanOptions& options, const theory::CountHistogram& histogram) {
  const std::string_view flag = flag_of_histogram(options);
  if (histogram.num_distinct() == 0)
    throw std::invalid_argument(fmt::format("{}: it contains no keys; give one with at least one key", flag));
  if (!options.shape.wanted.false_positive_rate && !options.shape.wanted.memory_bytes) {
    throw std::invalid_argument(fmt::format(
        "{}: it determines the number of keys; also give --false-positive-rate or --memory", flag));
  }
}

}  // namespace

std::string_view flag_of_histogram(const PlanOptions& options) {
  if (options.zipf) return "--zipf";
  return options.histogram.empty() ? "--from" : "--histogram";
}

void add_plan_options(CommandLine app, PlanOptions& options, const std::string& of_keys) {
  Option keys = add_count(app, "-n,--keys", options.shape.wanted.num_keys,
                          "Number of distinct keys (with --zipf: of keys to draw from)" + of_keys);
  add_rate(app, "-p,--false-positive-rate", options.shape.wanted.false_positive_rate,
           "Largest false positive rate");
  add_size(app, "-m,--memory", options.shape.wanted.memory_bytes, "Memory, which is never exceeded");
  add_count(app, "-t,--theta,--threshold", options.shape.wanted.threshold,
            "Queries ask whether a key was inserted at least this number of times (default: 1)",
            {1, max_threshold_limit});
  app.add_flag("--deletes", options.shape.wanted.needs_deletes, "Keys will be removed");
  app.add_flag("--counts", options.shape.wanted.needs_counts, "Queries will ask for the count of a key");
  Option insertions = add_count(app, "--insertions", options.shape.wanted.num_insertions,
                                "Number of insertions, including repeated keys");
  add_update(
      app, options.shape.wanted.update,
      "Update of the counters of threshold filters (default: plain); with --zipf, --histogram or --from "
      "conservative update may need fewer");
  add_scheme(app, options.shape.scheme);
  Option from =
      app.add_option("--from", options.sample.files,
                     "Count the keys of these files exactly and plan for them ('-': standard input)")
          .type_name("FILE")
          .group("Input");
  Option histogram =
      add_file(
          app, "--histogram", options.histogram,
          "A file with two numbers per line: a count, and the number of keys with that count ('-': standard "
          "input)")
          .group("Input");
  Option zipf =
      add_real(app, "--zipf", options.zipf, "Keys are drawn by Zipf's law with this exponent", {0, 20})
          .group("Input");
  add_field_options(app, options.sample);
  add_dleft_plan_options(app, options.shape.wanted);
  add_preference_options(app, options.shape.wanted);
  from.excludes(keys).excludes(histogram).excludes(zipf).excludes(insertions);
  histogram.excludes(keys).excludes(zipf).excludes(insertions);
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

}  // namespace tally::cli
