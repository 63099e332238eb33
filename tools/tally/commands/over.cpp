#include "commands/over.hpp"

#include <fmt/core.h>

#include <memory>
#include <stdexcept>

#include "commands/commands.hpp"
#include "commands/over_explain.hpp"
#include "commands/over_store.hpp"
#include "input/input_is_output.hpp"
#include "input/live_status.hpp"
#include "input/read_ahead.hpp"
#include "shape/options.hpp"
#include "tally/shapes/threshold.hpp"

namespace tally::cli {
namespace {

bool adds_up(const OverOptions& options) { return !options.records.sum_fields.empty() || options.window; }

OverStoreOptions store_options(const OverOptions& options, const StoreOptions& store, bool has_slots) {
  refuse_input_as_output(options.input.files, store.state_path, "--state");
  if (options.window && (options.num_keys || options.false_positive_rate || options.update)) {
    throw std::invalid_argument(
        "--keys, --false-positive-rate and --update cannot be combined with --window; give --memory");
  }
  if (!options.window && options.threshold > max_threshold_limit) {
    throw std::invalid_argument(fmt::format("threshold: {} is too large; must be at most {}",
                                            options.threshold, max_threshold_limit));
  }
  return {.threshold = options.threshold,
          .input = options.input,
          .hasher = options.hasher,
          .store = store,
          .window = options.window,
          .num_slots = has_slots ? std::optional(options.num_slots) : std::nullopt,
          .num_keys = options.num_keys,
          .memory_bytes = options.memory_bytes,
          .false_positive_rate = options.false_positive_rate,
          .update = options.update,
          .json = options.json,
          .quiet = options.quiet,
          .line_buffered = options.line_buffered};
}

void refuse_with_counts_at_end(const OverOptions& options) {
  const auto refuse = [](bool is_given, std::string_view flag, std::string_view why) {
    if (is_given)
      throw std::invalid_argument(
          fmt::format("{} and --counts-at-end are both given: {}; leave one out", flag, why));
  };
  refuse(!options.state_path.empty(), "--state", "a state has no counts of reported keys");
  refuse(options.exact, "--exact", "--exact compares what is reported at once");
  refuse(options.window.has_value(), "--window", "keys of a window are reported again and again");
  refuse(!options.records.sum_fields.empty(), "--sum", "sums of reported keys are not continued");
  refuse(options.with_count, "--with-count", "--counts-at-end prints counts of the whole input");
  refuse(options.line_buffered, "--line-buffered", "--counts-at-end prints at the end");
  refuse(options.input.num_threads > 1u, "--threads", "it counts in one thread");
}

}  // namespace

StateOptions state_options(const OverOptions& options, const KeyHasher& hasher) {
  const auto text = [](const auto& value) { return value ? fmt::format("{}", *value) : std::string(); };
  StateOptions list{{"N", std::to_string(options.threshold)},
                    {"--keys", text(options.num_keys)},
                    {"--memory", text(options.memory_bytes)},
                    {"--false-positive-rate", text(options.false_positive_rate)},
                    {"--update", std::string(name_of(options.update_or_plain()))},
                    {"--window", options.window ? duration_text(*options.window) : ""},
                    {"--slots", std::to_string(options.num_slots)}};
  append_options(list, options.input, options.records, hasher);
  return list;
}

Run declare_over(CommandLine app) {
  auto options = std::make_shared<OverOptions>();
  auto store = std::make_shared<StoreOptions>();
  app.set_exit_status({.success = "if a key was printed", .none = "if none was"});
  add_count(app, "threshold", options->threshold,
            "Threshold N: print a key as soon as it has occurred N times; with --sum, as soon as its sum is "
            "at least N")
      .type_name("N")
      .required();
  add_input_options(app, options->input);
  add_prints_lines(app, options->input);
  add_sum(app, options->records);
  add_time(app, options->records);
  add_follow(app, options->input);
  add_every(app, options->every);
  add_duration(app, "-w,--window", options->window, R"(
      Print a key each time it reaches N within this time, such as 10m, but at most about once per window
      )");
  add_count(app, "--slots", options->num_slots,
            "Number of slots in a --window; counts reach back up to one slot further (default: 4)",
            {1, 1000});
  add_count(app, "-n,--keys", options->num_keys, R"(
      Number of distinct keys to plan for (default without --memory: count the first keys exactly, then open
      larger and larger filters as needed)
      )",
            {1, std::uint64_t{1} << 56});
  add_size(app, "-m,--memory", options->memory_bytes, R"(
      Maximum memory of the filter and the set of reported keys together (default with --sum or --window: 16MiB)
      )",
           least_memory_of_digests);
  add_rate(app, "-p,--false-positive-rate", options->false_positive_rate, R"(
      Share of the keys that occur fewer than N times but may be printed anyway (default: 1%, or more if --keys and
      --memory give more)
      )");
  add_update(app, options->update,
             "Update of counters: conservative has fewer false positives; the expected number that is "
             "printed is only "
             "a bound for it (default: plain)");
  add_threads(app, options->input, "-t,--threads", "the second one also looks up the printed keys",
              "the output", "--follow, --memory, --exact, --counts-at-end, --sum or --window");
  app.add_flag("-c,--with-count", options->with_count, R"(
      Print the count of a key at that moment before it: N or slightly more. It is not the count in the whole
      input; for that, use 'tally top', or 'tally build --kind count-min' and 'tally count'
      )");
  app.add_flag("--counts-at-end", options->counts_at_end, R"(
      Print nothing until the end, then each key after its count in the whole input, in the order in which they
      reached N: exact, except that the count of a false report is too high by at most N - 1. Needs memory for the
      reported keys and their texts. With --memory they get a quarter of it. A key for which there is no room
      is printed at once, as '>=N', and in JSON with "counted": false
      )");
  app.add_flag("--exact", options->exact, R"(
      Also count exactly, in unlimited memory, and compare: missed keys, early and false reports, predictions
      )");
  add_state(app, options->state_path, options->waits_for_state);
  add_stream_hasher_options(app, options->hasher, "drawn at random, or the seed in the --state");
  add_json(app, options->json);
  add_explain(app, options->explain).excludes("--state");
  add_line_buffered(app, options->line_buffered);
  add_quiet(app, options->quiet);
  add_store(app, *store, StoreUse::write_or_make);
  return [app, options, store] {
    refuse_followed_state(options->input, options->state_path, store->is_given());
    if (store->is_given()) {
      refuse_with_store(
          app, {"--sum", "--time", "--skip-bad", "--threads", "--with-count", "--counts-at-end", "--exact",
                "--every", "--wait-for-state", "--key-file", "--keyed", "--explain"});
      store->state_path = options->state_path;
      return run_over_store(store_options(*options, *store, app.get_option("--slots").is_given()));
    }
    refuse_without_store(app, {"--password-file", "--patience", "--wait", "--shards"});
    if (options->counts_at_end) refuse_with_counts_at_end(*options);
    if (options->exact && !options->state_path.empty())
      throw std::invalid_argument("--exact and --state are both given; leave one out");
    refuse_input_as_output(options->input.files, options->state_path, "--state");
    if (adds_up(*options)) {
      if (options->num_keys || options->false_positive_rate || options->update || options->exact) {
        throw std::invalid_argument(
            "--keys, --false-positive-rate, --update and --exact cannot be combined with --sum or --window; "
            "give --memory");
      }
      if (options->explain) return explain_over_sums(*options);
      return run_with_state(StateKind::sums, *options, run_over_sums);
    }
    if (!options->records.time_fields.empty())
      throw std::invalid_argument("--time is only for --window; give --window, or leave --time out");
    if (options->threshold > max_threshold_limit) {
      throw std::invalid_argument(
          fmt::format("threshold: {} is too large; must be at most {} (more with --sum)", options->threshold,
                      max_threshold_limit));
    }
    if (options->explain) return explain_over_threshold(*options);
    return run_with_state(StateKind::threshold, *options, run_over_threshold);
  };
}

}  // namespace tally::cli
