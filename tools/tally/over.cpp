#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "key_json.hpp"
#include "key_loop.hpp"
#include "options.hpp"
#include "output.hpp"
#include "signals.hpp"
#include "threshold_stream.hpp"

namespace tally::cli {
namespace {

struct OverOptions {
  std::uint64_t threshold = 0;
  InputOptions input;
  HasherOptions hasher;
  std::optional<std::uint64_t> num_keys;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> false_positive_rate;
  std::string update = "plain";
  bool with_count = false;
  bool exact = false;
  bool json = false;
  bool quiet = false;
  bool line_buffered = false;
};

Json check_json(const ExactCheck::Result& result, bool predicts) {
  Json json{{"num_distinct_keys", result.num_distinct},
            {"num_keys_over_threshold", result.num_over},
            {"num_missed", result.num_missed},
            {"num_early_reports", result.num_early},
            {"num_false_reports", result.num_false}};
  if (!predicts) return json;
  json["predicted_early_reports"] = result.predicted_early;
  json["predicted_false_reports"] = result.predicted_false;
  json["predicted_standard_deviation"] = result.standard_deviation;
  return json;
}

std::string check_text(const ExactCheck::Result& result, bool predicts) {
  std::string text = fmt::format(
      "exactly: {} distinct keys, {} over the threshold, {} of them missed; {} reported early, {} falsely",
      result.num_distinct, result.num_over, result.num_missed, result.num_early, result.num_false);
  if (predicts) {
    text += fmt::format("; predicted {:.1f} early and {:.1f} false, together +- {:.1f}",
                        result.predicted_early, result.predicted_false, result.standard_deviation);
  }
  return text;
}

ExitCode run_over(const OverOptions& options) {
  Output output({.nul_separated = options.input.nul_separated && !options.json,
                 .line_buffered = options.line_buffered});
  const auto report = [&](std::string_view key, std::uint64_t count) {
    if (options.json) {
      Json line = key_json(key);
      line["count"] = count;
      output.write_record(json_line(line));
    } else if (options.with_count) {
      output.write_key(std::to_string(count), key);
    } else {
      output.write_key(key);
    }
  };
  const auto notice = [&](const std::string& text) { remark(options.quiet, text); };
  const KeyHasher hasher = options.hasher.hasher();
  std::optional<ExactCheck> check;
  if (options.exact) check.emplace(options.threshold);
  ThresholdStream stream(
      {.threshold = options.threshold,
       .num_keys = options.num_keys,
       .memory_bytes = options.memory_bytes,
       .false_positive_rate = options.false_positive_rate,
       .update = options.update == "plain" ? CounterUpdate::plain : CounterUpdate::conservative,
       .hasher = hasher},
      report, notice, check ? &*check : nullptr);

  const auto start = std::chrono::steady_clock::now();
  for_each_batch(options.input, hasher, options.quiet,
                 [&](std::span<const std::string_view> keys, std::span<const Hash128> digests) {
                   stream.add(keys, digests);
                 });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  if (options.json) {
    Json summary{{"num_lines", stream.num_lines()},
                 {"num_distinct_keys_estimate", stream.num_distinct()},
                 {"num_reported", stream.num_reported()},
                 {"num_possible_repeats", stream.num_repeats_possible()},
                 {"counted_exactly", stream.counts_exactly()},
                 {"num_generations", stream.num_generations()},
                 {"false_positive_rate_at_most", stream.error_bound()},
                 {"memory_bytes", stream.memory_bytes()},
                 {"seconds", seconds},
                 {"interrupted", stop_requested()}};
    if (check) summary["exact"] = check_json(check->result(), check->predicts());
    output.write_record(json_line(Json{{"summary", summary}}));
  }
  output.finish();
  const std::string error = stream.counts_exactly() ? "counted exactly"
                                                    : fmt::format(
                                                          "a key below the threshold is reported with "
                                                          "probability at most {}",
                                                          human_rate(stream.error_bound()));
  remark(options.quiet,
         fmt::format("{}{} lines, about {} distinct keys, {} reported at {} times; {}; {}, {:.2f} s",
                     stop_requested() ? "interrupted after " : "", stream.num_lines(),
                     human_count(static_cast<double>(stream.num_distinct())), stream.num_reported(),
                     options.threshold, error, human_bytes(static_cast<double>(stream.memory_bytes())),
                     seconds));
  if (stream.num_repeats_possible() > 0) {
    remark(options.quiet, fmt::format("{} reports may be repeats: the set of reported keys was full",
                                      stream.num_repeats_possible()));
  }
  if (check) remark(options.quiet, check_text(check->result(), check->predicts()));
  return stream.num_reported() > 0 ? ExitCode::success : ExitCode::none;
}

}  // namespace

Run declare_over(CLI::App& app) {
  auto options = std::make_shared<OverOptions>();
  add_count(app, "threshold", options->threshold, "N: print a key when it has been seen this many times",
            {1, max_threshold_limit})
      ->type_name("N")
      ->required();
  add_input_options(app, options->input);
  add_count(app, "-n,--keys", options->num_keys,
            "distinct keys to plan for (default, without --memory: the first are counted exactly, then "
            "filters are opened as keys come)",
            {1, std::uint64_t{1} << 56});
  add_size(app, "-m,--memory", options->memory_bytes,
           "memory of filter and reported keys together, never exceeded", least_memory_of_digests);
  CLI::Option* rate = add_rate(
      app, "-p,--false-positive-rate", options->false_positive_rate,
      "of the keys seen fewer than N times, the share that may be printed all the same (default 1%, or what "
      "--keys with --memory gives)");
  add_choice(app, "--update", options->update,
             "how counters rise; conservative errs less, and theory only bounds it",
             {"plain", "conservative"});
  app.add_flag("-c,--with-count", options->with_count, "print the count before the key");
  app.add_flag("--exact", options->exact,
               "count exactly as well (memory without bound) and compare: misses, early and false reports, "
               "prediction");
  add_hasher_options(app, options->hasher);
  add_json(app, options->json);
  add_line_buffered(app, options->line_buffered);
  add_quiet(app, options->quiet);
  return [options, rate] {
    if (options->num_keys && options->memory_bytes && rate->count() > 0) {
      throw std::invalid_argument("--keys, --memory and --false-positive-rate are all given; leave one out");
    }
    return run_over(*options);
  };
}

}  // namespace tally::cli
