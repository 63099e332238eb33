#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>

#include "cli/signals.hpp"
#include "commands/commands.hpp"
#include "commands/top_check.hpp"
#include "commands/top_explain.hpp"
#include "commands/top_files.hpp"
#include "commands/top_plan.hpp"
#include "commands/top_report.hpp"
#include "commands/top_store.hpp"
#include "files/stream_state.hpp"
#include "input/input_is_output.hpp"
#include "input/read_ahead.hpp"
#include "text/key_json.hpp"

namespace tally::cli {
namespace {

constexpr std::uint64_t least_memory = 65536;

/// The first argument is K if it begins with a digit, and else the first file.
void take_num_keys(TopOptions& options) {
  const std::string& text = options.num_keys_or_file;
  if (text.empty()) return;
  if (text[0] < '0' || text[0] > '9') {
    options.input.files.insert(options.input.files.begin(), text);
    return;
  }
  if (options.share) throw std::invalid_argument("K and --share are both given; leave one out");
  try {
    options.num_keys = parse_count(text, {1, CountedKeys::max_capacity / 2});
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("K: {}; for a file of that name give ./{}", error.what(), text));
  }
}

/// Options that must match for a run to resume from a saved state. Their names are stored in the file.
StateOptions state_options(const TopOptions& options, const TopStream::Options& planned) {
  StateOptions list{{"--method", options.method},
                    {"candidates (by --memory, --error, --share or K)", std::to_string(planned.capacity)},
                    {"counters a"
                     " row (by --memory)",
                     std::to_string(planned.sketch.width)},
                    {"--window", planned.window ? duration_text(*planned.window) : ""},
                    {"--slots", std::to_string(planned.num_slots)}};
  append_options(list, options.input, options.records, planned.hasher);
  return list;
}

/// The file that --save names, checked and locked before any work is done.
std::optional<OutputFile> open_saved(const TopOptions& options) {
  const std::string& path = options.save_path;
  if (path.empty()) return std::nullopt;
  if (path == "-")
    throw std::invalid_argument("--save: '-' is standard output, which has the keys; give a file");
  const auto target = [](const std::string& name) { return std::filesystem::weakly_canonical(name); };
  if (!options.state_path.empty() && target(path) == target(options.state_path))
    throw std::invalid_argument(fmt::format("--save and --state both name '{}'; give two files", path));
  refuse_input_as_output(options.input.files, path, "--save");
  return std::optional<OutputFile>(std::in_place, path, options.force, options.quiet, "--save");
}

/// In two threads, if that is wanted and each line has a key alone, which is a text. False, and has done nothing, if not.
template <class Add>
bool read_keys_ahead(const TopOptions& options, const KeyHasher& hasher, bool quiet, KeyTotals& totals,
                     Add add) {
  if (!options.records.sum_fields.empty() || !options.records.time_fields.empty() ||
      options.input.key_type != KeyType::text || !wants_to_read_ahead(options.input))
    return false;
  using Digests = WorkForTwo::Digests;
  const WorkForTwo work{.find_absent = {},
                        .remember = [](Digests) {},
                        .use =
                            [&](Texts keys, Digests digests, std::uint64_t, std::uint64_t) {
                              add(StreamRecords{keys, digests, {}, {}});
                              return Digests();
                            }};
  return read_ahead(options.input, hasher, quiet, work, totals);
}

ExitCode run_top(const TopOptions& options, StreamState& state) {
  refuse_input_as_output(options.input.files, options.state_path, "--state");
  const std::optional<OutputFile> saved = open_saved(options);
  const TopStream::Options planned = plan_top(options);
  TopStream stream(planned);
  TopReport report(options, [&] { return stream.candidates(); });
  const bool snapshots = options.interval && !report.on_screen();
  std::optional<ExactRanking> check;
  if (options.exact) check.emplace();

  const auto start = std::chrono::steady_clock::now();
  KeyTotals totals;
  TimeSteps intervals(options.refresh_interval());
  state.set_options(state_options(options, planned));
  if (state.restore([&](StateReader& from) {
        stream.restore(from, options.hasher.key());
        intervals.restore(from);
      })) {
    remark(options.quiet,
           fmt::format("resuming from {}, after {} lines", options.state_path, stream.num_records()));
  }
  const auto add = [&](const StreamRecords& records) {
    stream.add(records);
    if (check) check->add(records);
  };
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto summary_of = [&](const Ranking& ranking) {
    Json json{{"num_lines", stream.num_records()}};
    json.update(report.totals(ranking));
    if (options.window) {
      json["num_late_lines"] = stream.clock().num_late();
      json["num_lines_left_out"] = stream.clock().num_left_out();
    }
    json.update(Json{{"num_skipped_lines", totals.num_skipped},
                     {"num_candidates", planned.capacity},
                     {"memory_bytes", stream.memory_bytes()},
                     {"seconds", seconds()},
                     {"interrupted", stop_requested()}});
    json.update(hash_json(planned.hasher));
    return json;
  };
  const auto words_of = [&](const Ranking& ranking) {
    return fmt::format(
        "{}{} lines{}{}; {} keys, {} of them certain; any other key has at most {}{}; {}, {:.2f} s; {}",
        stop_requested() ? "interrupted after " : "", stream.num_records(),
        options.records.sum_fields.empty() ? "" : fmt::format(", sum {}", ranking.total),
        options.window ? fmt::format(", {} in the last {}", ranking.total, duration_text(*options.window))
                       : "",
        ranking.keys.size(), report.totals(ranking)["num_certain"].dump(), ranking.bound_of_others,
        unless_chosen(planned.hasher), human_bytes(static_cast<double>(stream.memory_bytes())), seconds(),
        hash_text(planned.hasher));
  };
  const LiveStatus status = report.status({.text = [&] { return words_of(report.ranking()); },
                                           .summary = [&] { return summary_of(report.ranking()); },
                                           .besides =
                                               [&] {
                                                 if (report.on_screen()) report.redraw(stream.num_records());
                                               }});
  const bool with_times = options.window || snapshots;
  const bool is_quiet = options.quiet || report.on_screen();
  if (with_times || !read_keys_ahead(options, planned.hasher, is_quiet, totals, add)) {
    RecordReader reader(options.input, options.records, planned.hasher, with_times);
    for_each_record(reader, is_quiet, [&](const StreamRecords& records) {
      totals.num_skipped = reader.num_skipped();
      if (!snapshots) return add(records);
      intervals.split(records, add, [&](std::uint64_t) {
        report.write_snapshot(intervals.latest(), stream.num_records());
      });
    });
    totals.num_skipped = reader.num_skipped();
  }

  const Ranking ranking = report.ranking();
  report.write_last(ranking);
  std::optional<ExactRanking::Result> exact;
  if (check) exact = check->compare(ranking, options.share, options.num_keys);
  Json summary = summary_of(ranking);
  if (exact) summary["exact"] = check_json(*exact);
  report.finish(summary);
  if (saved) saved->save(stream.file());
  state.save([&](StateWriter& to) {
    stream.save(to);
    intervals.save(to);
  });

  remark(options.quiet, words_of(ranking));
  remark_lines_lost(options.quiet, totals.num_skipped, stream.clock());
  if (saved) remark(options.quiet, fmt::format("saved to '{}'", options.save_path));
  if (exact) remark(options.quiet, check_text(*exact));
  return ranking.keys.empty() ? ExitCode::none : ExitCode::success;
}

}  // namespace

namespace {

void add_files_of_top(CommandLine app, TopOptions& options) {
  const Option save =
      add_file(app, "--save", options.save_path,
               "Write candidates and sketch to this file at the end, or when interrupted, for "
               "--from and 'tally merge'");
  save.excludes("--window");
  add_force(app, options.force).needs(save);
  app.add_option(
         "--from", options.saved_files,
         "Read files of --save or 'tally merge' instead of an input, and print the ranking over all of them "
         "(give K before this option)")
      .type_name("FILE")
      .expected(1, Option::any_number);
}

void exclude_what_needs_an_input(CommandLine app) {
  const Option from = app.get_option("--from");
  for (const char* name :
       {"--no-decompress", "--delimiter", "--fields", "--sum",     "--time",   "--skip-bad", "--window",
        "--slots",         "--interval",  "--every",  "--follow",  "--memory", "--error",    "--method",
        "--state",         "--save",      "--exact",  "--threads", "--seed",   "--keyed"}) {
    from.excludes(app.get_option(name));
  }
  app.get_option("--save").excludes("--keyed");
}

}  // namespace

Run declare_top(CommandLine app) {
  auto options = std::make_shared<TopOptions>();
  auto store = std::make_shared<StoreOptions>();
  app.set_exit_status({.success = "if a key was printed", .none = "if none was"});
  app.add_option("k", options->num_keys_or_file, "Print the K most frequent keys (default: 10)")
      .type_name("K");
  add_input_options(app, options->input);
  add_sum(app, options->records);
  add_time(app, options->records);
  add_follow(app, options->input);
  add_rate(app, "-s,--share", options->share,
           "Instead of K: print every key above this share of the stream; none is missed");
  add_duration(app, "-w,--window", options->window, "Count only the lines of this last time, such as 10m");
  add_count(app, "--slots", options->num_slots,
            "Number of slots in a --window; counts reach back up to one slot further (default: 4)",
            {1, 1000});
  add_duration(app, "-i,--interval", options->interval, R"(
      On a terminal, the time between two redraws of the table (default: 1s). Otherwise, print the result so far and
      an empty line each time this much time has passed in the stream
      )");
  add_every(app, options->every);
  app.add_flag("-e,--with-error", options->with_error, "Print after the count how much too high it may be");
  add_size(app, "-m,--memory", options->memory_bytes,
           "Memory of candidates and sketch (keys longer than 15 bytes need more)", least_memory);
  add_rate(app, "--error", options->error,
           "Largest error of any count, as a share of the stream (default: 1/16384)");
  add_choice(app, "--method", options->method,
             "Keep candidates and a Count-Min sketch of all other keys, or only candidates (default: sketch)",
             {"sketch", "space-saving"});
  add_state(app, options->state_path, options->waits_for_state);
  add_files_of_top(app, *options);
  app.add_flag("--exact", options->exact, "Also count exactly, in unlimited memory, and compare");
  add_threads(app, options->input, "-t,--threads", "", "the output",
              "--follow, --sum, --key-type, --window or --interval");
  add_stream_hasher_options(
      app, options->hasher,
      fmt::format("drawn at random, or the seed in the --state; with --save {}, so that files can be merged",
                  default_seed));
  add_json(app, options->json);
  add_explain(app, options->explain).excludes("--state").excludes("--from");
  add_quiet(app, options->quiet);
  exclude_what_needs_an_input(app);
  add_store(app, *store, StoreUse::write_or_make);
  return [app, options, store] {
    take_num_keys(*options);
    refuse_followed_state(options->input, options->state_path, store->is_given());
    if (store->is_given()) {
      refuse_with_store(
          app, {"--sum", "--time", "--skip-bad", "--share", "--window", "--slots", "--interval", "--every",
                "--with-error", "--memory", "--method", "--threads", "--wait-for-state", "--save", "--from",
                "--exact", "--key-file", "--keyed", "--explain"});
      store->state_path = options->state_path;
      refuse_input_as_output(options->input.files, store->state_path, "--state");
      return run_top_store(*options, *store);
    }
    refuse_without_store(app, {"--password-file", "--patience", "--wait", "--shards"});
    options->hasher.for_files = !options->save_path.empty();
    if (!options->saved_files.empty()) {
      if (!options->input.files.empty()) {
        throw std::invalid_argument(
            fmt::format("'{}' and --from are both given: --from reads no input; leave one out",
                        options->input.files.front()));
      }
      return run_top_from(*options);
    }
    if (options->exact && options->window)
      throw std::invalid_argument("--exact and --window are both given; leave one out");
    if (options->exact && !options->state_path.empty())
      throw std::invalid_argument("--exact and --state are both given; leave one out");
    if (!options->records.time_fields.empty() && !options->window && !options->interval)
      throw std::invalid_argument(
          "--time is only for --window or --interval; give one of them, or leave --time out");
    if (options->explain) return explain_top(*options);
    return run_with_state(StateKind::top, *options, run_top);
  };
}

}  // namespace tally::cli
