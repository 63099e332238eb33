#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "cli/options.hpp"
#include "cli/signals.hpp"
#include "commands/commands.hpp"
#include "input/input_is_output.hpp"
#include "input/key_loop.hpp"
#include "input/read_ahead.hpp"
#include "streams/state.hpp"
#include "streams/sum.hpp"
#include "streams/threshold.hpp"
#include "text/key_json.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

struct OverOptions {
  std::uint64_t threshold = 0;
  InputOptions input;
  RecordOptions records;
  HasherOptions hasher;
  std::optional<Nanoseconds> window;
  std::uint32_t num_slots = 4;
  std::string state_path;
  bool waits_for_state = false;
  std::optional<std::uint64_t> num_keys;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> false_positive_rate;
  std::string update = "plain";
  std::optional<std::uint32_t> num_threads;
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

/// A count or sum that is printed is easily taken for that of the whole input.
void explain_counts(const OverOptions& options) {
  if (!options.with_count || options.json) return;
  remark(options.quiet,
         fmt::format(
             "each {0} is that when the key was printed; for {0}s of the whole input: 'tally top', or 'tally "
             "build --kind count-min' and 'tally count'",
             options.records.sum_fields.empty() ? "count" : "sum"));
}

/// Sums and windows take this much if --memory is not given.
constexpr std::uint64_t default_sum_memory = std::uint64_t{16} << 20;

bool adds_up(const OverOptions& options) { return !options.records.sum_fields.empty() || options.window; }

/// What a run must have the same to go on from a state.
StateOptions state_options(const OverOptions& options, const KeyHasher& hasher) {
  const auto text = [](const auto& value) { return value ? fmt::format("{}", *value) : std::string(); };
  StateOptions list{{"N", std::to_string(options.threshold)},
                    {"--keys", text(options.num_keys)},
                    {"--memory", text(options.memory_bytes)},
                    {"--false-positive-rate", text(options.false_positive_rate)},
                    {"--update", options.update},
                    {"--window", options.window ? duration_text(*options.window) : ""},
                    {"--slots", std::to_string(options.num_slots)}};
  append_options(list, options.input, options.records, hasher);
  return list;
}

/// Lets the stream go on from the state, if there is one.
template <class Stream>
void restore(const OverOptions& options, const StreamState& state, Stream& stream) {
  if (state.restore([&](StateReader& from) { stream.restore(from, options.hasher.key()); }))
    remark(options.quiet, "goes on from " + options.state_path);
}

/// Writes the keys that are reported.
class OverReport {
 public:
  explicit OverReport(const OverOptions& options)
      : options_(options),
        output_({.nul_separated = options.input.nul_separated && !options.json,
                 .line_buffered = options.line_buffered}) {}

  void operator()(std::string_view key, std::uint64_t count) {
    if (options_.json) {
      Json line = key_json(key);
      line[options_.records.sum_fields.empty() ? "count" : "sum"] = count;
      output_.write_record(json_line(line));
    } else if (options_.with_count) {
      output_.write_key(std::to_string(count), key);
    } else {
      output_.write_key(key);
    }
  }
  void finish(const Json& summary) {
    if (options_.json) output_.write_record(json_line(Json{{"summary", summary}}));
    output_.finish();
  }

 private:
  const OverOptions& options_;
  Output output_;
};

ExitCode run_over_sums(const OverOptions& options, StreamState& state) {
  OverReport report(options);
  const KeyHasher hasher = options.hasher.hasher();
  SumStream stream({.threshold = options.threshold,
                    .memory_bytes = options.memory_bytes.value_or(default_sum_memory),
                    .window = options.window,
                    .num_slots = options.num_slots,
                    .hasher = hasher},
                   std::ref(report), [&](const std::string& text) { remark(options.quiet, text); });
  state.set_options(state_options(options, hasher));
  restore(options, state, stream);
  RecordReader reader(options.input, options.records, hasher, options.window.has_value());
  const auto start = std::chrono::steady_clock::now();
  for_each_record(reader, options.quiet, [&](const Records& records) { stream.add(records); });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  const CountMinBound bound = stream.bound();
  const double overcount = bound.epsilon * static_cast<double>(stream.total());
  Json summary{{"num_lines", stream.num_counted()},
               {"total", stream.total()},
               {"num_reported", stream.num_reported()},
               {"num_possible_repeats", stream.num_repeats_possible()},
               {"overcount_at_most", overcount},
               {"failure_probability", bound.failure_probability},
               {"num_late_lines", stream.clock().num_late()},
               {"num_lines_left_out", stream.clock().num_left_out()},
               {"num_skipped_lines", reader.num_skipped()},
               {"memory_bytes", stream.memory_bytes()},
               {"seconds", seconds},
               {"interrupted", stop_requested()}};
  summary.update(hash_json(hasher));
  report.finish(summary);
  state.save([&](StateWriter& into) { stream.save(into); });
  remark(
      options.quiet,
      fmt::format(
          "{}{} lines, {} reported at {}{}; a sum is too high by more than {:.0f} with probability at most "
          "{}{}; {}, {:.2f} s; {}",
          stop_requested() ? "interrupted after " : "", stream.num_counted(), stream.num_reported(),
          options.threshold, options.window ? " within " + duration_text(*options.window) : std::string(),
          overcount, human_rate(bound.failure_probability), unless_chosen(hasher),
          human_bytes(static_cast<double>(stream.memory_bytes())), seconds, hash_text(hasher)));
  if (stream.num_repeats_possible() > 0) {
    remark(options.quiet, fmt::format("{} reports may be repeats: the set of reported keys was full",
                                      stream.num_repeats_possible()));
  }
  explain_counts(options);
  remark_lines_lost(options.quiet, reader, stream.clock().num_left_out());
  return stream.num_reported() > 0 ? ExitCode::success : ExitCode::none;
}

bool wants_two_threads(const OverOptions& options) {
  return options.num_threads ? *options.num_threads > 1 : std::thread::hardware_concurrency() > 1;
}

void read_keys(const OverOptions& options, const KeyHasher& hasher, ThresholdStream& stream) {
  using Keys = WorkForTwo::Keys;
  using Digests = WorkForTwo::Digests;
  const WorkForTwo work{
      .find_absent = [&](Digests digests, auto indices) { return stream.find_unreported(digests, indices); },
      .remember = [&](Digests digests) { stream.remember_reported(digests); },
      .use =
          [&](Keys keys, Digests digests, std::uint64_t num_others, std::uint64_t num_remembered) {
            return stream.add_unreported(keys, digests, num_others, num_remembered);
          }};
  const bool in_two_threads =
      wants_two_threads(options) && stream.can_be_shared() && can_read_ahead(options.input);
  if (in_two_threads && read_ahead(options.input, hasher, options.quiet, work)) return;
  for_each_batch(options.input, hasher, options.quiet,
                 [&](Keys keys, Digests digests) { stream.add(keys, digests); });
}

/// What the rate means for who reads the output.
std::string false_share_text(const OverOptions& options, const ThresholdStream& stream,
                             const std::optional<double>& num_false) {
  if (stream.num_reported() == 0) return "";
  if (!num_false) return "; how many of those printed are false is not known";
  return fmt::format("; of those printed, {} {} are expected to be false",
                     options.update == "plain" ? "about" : "at most about",
                     human_rate(*num_false / static_cast<double>(stream.num_reported())));
}

/// Said to those who want quiet, too.
void warn_of_broken_promises(const ThresholdStream& stream) {
  constexpr double shown_as_more = 1.001;
  if (stream.error_bound() > shown_as_more * stream.planned_error()) {
    remark(false,
           fmt::format("warning: planned for a false positive rate of {}, and it is up to {} now; no key is "
                       "missed; give more --keys or --memory",
                       human_rate(stream.planned_error()), human_rate(stream.error_bound())));
  }
  if (stream.num_repeats_possible() > 0) {
    remark(false,
           fmt::format(
               "warning: {} reports may be repeats: the set of reported keys was full; give more --memory",
               stream.num_repeats_possible()));
  }
}

ExitCode run_over(const OverOptions& options, StreamState& state) {
  OverReport report(options);
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
      std::ref(report), notice, check ? &*check : nullptr);
  state.set_options(state_options(options, hasher));
  restore(options, state, stream);

  const auto start = std::chrono::steady_clock::now();
  read_keys(options, hasher, stream);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  Json summary{{"num_lines", stream.num_lines()},
               {"num_distinct_keys_estimate", stream.num_distinct()},
               {"num_reported", stream.num_reported()},
               {"num_possible_repeats", stream.num_repeats_possible()},
               {"counted_exactly", stream.counts_exactly()},
               {"num_generations", stream.num_generations()},
               {"false_positive_rate_at_most", stream.error_bound()},
               {"false_positive_rate_planned", stream.planned_error()},
               {"num_expected_false_reports", nullptr},
               {"memory_bytes", stream.memory_bytes()},
               {"seconds", seconds},
               {"interrupted", stop_requested()}};
  summary.update(hash_json(hasher));
  const std::optional<double> num_false = stream.expected_false_reports();
  if (num_false) summary["num_expected_false_reports"] = *num_false;
  if (check) summary["exact"] = check_json(check->result(), check->predicts());
  report.finish(summary);
  state.save([&](StateWriter& into) { stream.save(into); });
  const std::string error = stream.counts_exactly() ? "counted exactly"
                                                    : fmt::format(
                                                          "a key below the threshold is reported with "
                                                          "probability at most {}",
                                                          human_rate(stream.error_bound())) +
                                                          false_share_text(options, stream, num_false);
  remark(options.quiet,
         fmt::format("{}{} lines, about {} distinct keys, {} reported at {} times; {}{}; {}, {:.2f} s; {}",
                     stop_requested() ? "interrupted after " : "", stream.num_lines(),
                     human_count(static_cast<double>(stream.num_distinct())), stream.num_reported(),
                     options.threshold, error, unless_chosen(hasher),
                     human_bytes(static_cast<double>(stream.memory_bytes())), seconds, hash_text(hasher)));
  explain_counts(options);
  warn_of_broken_promises(stream);
  if (check) remark(options.quiet, check_text(check->result(), check->predicts()));
  return stream.num_reported() > 0 ? ExitCode::success : ExitCode::none;
}

}  // namespace

Run declare_over(CommandLine app) {
  auto options = std::make_shared<OverOptions>();
  add_count(app, "threshold", options->threshold,
            "N: print a key when it has been seen this many times, or with --sum: when its sum is that much")
      .type_name("N")
      .required();
  add_input_options(app, options->input);
  add_sum(app, options->records);
  add_time(app, options->records);
  add_skip_bad(app, options->records);
  add_duration(
      app, "-w,--window", options->window,
      "print a key whenever it reaches N within this time, such as 10m; at most once in about a window");
  add_count(app, "--slots", options->num_slots,
            "with --window: cut it so often; what is counted reaches back up to a slot further (default: 4)",
            {1, 1000});
  add_count(app, "-n,--keys", options->num_keys,
            "distinct keys to plan for (default, without --memory: the first are counted exactly, then "
            "filters are opened as keys come)",
            {1, std::uint64_t{1} << 56});
  add_size(
      app, "-m,--memory", options->memory_bytes,
      "memory of filter and reported keys together, never exceeded (default with --sum or --window: 16MiB)",
      least_memory_of_digests);
  Option rate = add_rate(app, "-p,--false-positive-rate", options->false_positive_rate,
                         "of the keys seen fewer than N times, the share that may be printed all the "
                         "same (default 1%, or more where "
                         "--keys with --memory gives more)");
  Option update = add_choice(app, "--update", options->update,
                             "how counters rise; conservative errs less, and theory only bounds it",
                             {"plain", "conservative"});
  add_count(app, "-t,--threads", options->num_threads,
            "2: a second thread reads files ahead, for the same output (the default where there are two "
            "processors; without --memory, --exact, --sum and --window)",
            {1, 2});
  app.add_flag(
      "-c,--with-count", options->with_count,
      "print before the key its count at that moment: N or little more, not how often it comes in the whole "
      "input (for that: 'tally top', or 'tally build --kind count-min' and 'tally count')");
  app.add_flag("--exact", options->exact,
               "count exactly as well (memory without bound) and compare: misses, early and false reports, "
               "prediction");
  add_state(app, options->state_path, options->waits_for_state);
  add_stream_hasher_options(app, options->hasher, "drawn at random, or what the --state was begun with");
  add_json(app, options->json);
  add_line_buffered(app, options->line_buffered);
  add_quiet(app, options->quiet);
  return [options, rate, update] {
    if (options->exact && !options->state_path.empty())
      throw std::invalid_argument("--exact and --state are both given; leave one out");
    refuse_input_as_output(options->input.files, options->state_path, "--state");
    if (adds_up(*options)) {
      if (options->num_keys || rate.is_given() || update.is_given() || options->exact) {
        throw std::invalid_argument(
            "--keys, --false-positive-rate, --update and --exact are not for --sum and --window; give "
            "--memory");
      }
      return run_with_state(StateKind::over_sums, *options, run_over_sums);
    }
    if (!options->records.time_fields.empty()) throw std::invalid_argument("--time needs --window");
    if (options->threshold > max_threshold_limit) {
      throw std::invalid_argument(
          fmt::format("threshold: {} is too large; must be at most {} (more with --sum)", options->threshold,
                      max_threshold_limit));
    }
    return run_with_state(StateKind::over, *options, run_over);
  };
}

}  // namespace tally::cli
