#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>

#include "cli/signals.hpp"
#include "commands/commands.hpp"
#include "commands/top_check.hpp"
#include "commands/top_files.hpp"
#include "commands/top_plan.hpp"
#include "commands/top_report.hpp"
#include "input/input_is_output.hpp"
#include "streams/state.hpp"
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
    throw std::invalid_argument(fmt::format("k: {}; a file of that name is ./{}", error.what(), text));
  }
}

/// What a run must have the same to go on from a state.
StateOptions state_options(const TopOptions& options, const TopStream::Options& planned) {
  StateOptions list{{"--method", options.method},
                    {"candidates (by --memory, --error, --share or K)", std::to_string(planned.capacity)},
                    {"counters a row (by --memory)", std::to_string(planned.sketch.width)},
                    {"--window", planned.window ? duration_text(*planned.window) : ""},
                    {"--slots", std::to_string(planned.num_slots)}};
  append_options(list, options.input, options.records, planned.hasher);
  return list;
}

/// The file that --save names, refused or held before any work is done.
std::optional<OutputFile> open_saved(const TopOptions& options) {
  const std::string& path = options.save_path;
  if (path.empty()) return std::nullopt;
  if (path == "-")
    throw std::invalid_argument("--save: '-' is standard output, to which the keys go; give a file");
  const auto target = [](const std::string& name) { return std::filesystem::weakly_canonical(name); };
  if (!options.state_path.empty() && target(path) == target(options.state_path))
    throw std::invalid_argument(fmt::format("--save and --state both name '{}'; give two files", path));
  refuse_input_as_output(options.input.files, path, "--save");
  return std::optional<OutputFile>(std::in_place, path, options.force, options.quiet, "--save");
}

ExitCode run_top(const TopOptions& options, StreamState& state) {
  refuse_input_as_output(options.input.files, options.state_path, "--state");
  const std::optional<OutputFile> saved = open_saved(options);
  const TopStream::Options planned = plan_top(options);
  TopStream stream(planned);
  TopReport report(options, [&] { return stream.candidates(); });
  const bool snapshots = options.interval && !report.on_screen();
  RecordReader reader(options.input, options.records, planned.hasher, options.window || snapshots);
  std::optional<ExactRanking> check;
  if (options.exact) check.emplace();

  const auto start = std::chrono::steady_clock::now();
  TimeSteps intervals(options.refresh_interval());
  state.set_options(state_options(options, planned));
  if (state.restore([&](StateReader& from) {
        stream.restore(from, options.hasher.key());
        read(from, intervals);
      })) {
    remark(options.quiet,
           fmt::format("goes on from {}, after {} lines", options.state_path, stream.num_counted()));
  }
  const auto add = [&](const Records& records) {
    stream.add(records);
    if (check) check->add(records);
  };
  for_each_record(reader, options.quiet || report.on_screen(), [&](const Records& records) {
    if (snapshots) {
      intervals.split(records, add, [&](std::uint64_t) {
        report.write_snapshot(intervals.latest(), stream.num_counted());
      });
    } else {
      add(records);
      if (report.on_screen()) report.redraw();
    }
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  const Ranking ranking = report.ranking();
  report.write_last(ranking);
  std::optional<ExactRanking::Result> exact;
  if (check) exact = check->compare(ranking, options.share, options.num_keys);
  Json summary{{"num_lines", stream.num_counted()}};
  summary.update(report.totals(ranking));
  if (options.window) {
    summary["num_late_lines"] = stream.clock().num_late();
    summary["num_lines_left_out"] = stream.clock().num_left_out();
  }
  summary.update(Json{{"num_skipped_lines", reader.num_skipped()},
                      {"num_candidates", planned.capacity},
                      {"memory_bytes", stream.num_bytes()},
                      {"seconds", seconds},
                      {"interrupted", stop_requested()}});
  summary.update(hash_json(planned.hasher));
  if (exact) summary["exact"] = check_json(*exact);
  report.finish(summary);
  if (saved) saved->save(stream.file());
  state.save([&](StateWriter& to) {
    stream.save(to);
    write(to, intervals);
  });

  remark(
      options.quiet,
      fmt::format("{}{} lines{}{}; {} keys, {} of them here for certain; any other key has {} at most{}; {}, "
                  "{:.2f} s; {}",
                  stop_requested() ? "interrupted after " : "", stream.num_counted(),
                  options.records.sum_fields.empty() ? "" : fmt::format(", sum {}", ranking.total),
                  options.window
                      ? fmt::format(", {} in the last {}", ranking.total, duration_text(*options.window))
                      : "",
                  ranking.keys.size(), summary["num_certain"].dump(), ranking.bound_of_others,
                  unless_chosen(planned.hasher), human_bytes(static_cast<double>(stream.num_bytes())),
                  seconds, hash_text(planned.hasher)));
  remark_lines_lost(options.quiet, reader, stream.clock().num_left_out());
  if (saved) remark(options.quiet, fmt::format("saved to '{}'", options.save_path));
  if (exact) remark(options.quiet, check_text(*exact));
  return ranking.keys.empty() ? ExitCode::none : ExitCode::success;
}

}  // namespace

namespace {

void add_files_of_top(CommandLine app, TopOptions& options) {
  const Option save = add_file(app, "--save", options.save_path,
                               "write candidates and sketch to this file at the end or when "
                               "interrupted, for --from and 'tally merge'");
  save.excludes("--window");
  add_force(app, options.force).needs(save);
  app.add_option(
         "--from", options.saved_files,
         "read no input: print the ranking of what --save or 'tally merge' wrote, of several files all "
         "together (K goes before)")
      .type_name("FILE")
      .expected(1, Option::any_number);
}

void exclude_what_needs_an_input(CommandLine app) {
  const Option from = app.get_option("--from");
  for (const char* name : {"--no-decompress", "--delimiter", "--fields", "--sum", "--time", "--skip-bad",
                           "--window", "--slots", "--interval", "--memory", "--error", "--method", "--state",
                           "--save", "--exact", "--seed", "--keyed"}) {
    from.excludes(app.get_option(name));
  }
  app.get_option("--save").excludes("--keyed");
}

}  // namespace

Run declare_top(CommandLine app) {
  auto options = std::make_shared<TopOptions>();
  app.add_option("k", options->num_keys_or_file, "K: print the K most frequent keys (default: 10)")
      .type_name("K");
  add_input_options(app, options->input);
  add_sum(app, options->records);
  add_time(app, options->records);
  add_skip_bad(app, options->records);
  add_rate(app, "-s,--share", options->share,
           "in place of K: every key that is more than this share of the stream; none is missed");
  add_duration(app, "-w,--window", options->window, "only what came within this time, such as 10m");
  add_count(app, "--slots", options->num_slots,
            "with --window: cut it so often; what is counted reaches back up to a slot further (default: 4)",
            {1, 1000});
  add_duration(
      app, "-i,--interval", options->interval,
      "on a terminal: draw the table anew so often (default: 1s); else print the keys so far, and an "
      "empty line, whenever that much of the stream's time has passed");
  app.add_flag("-e,--with-error", options->with_error, "print after the count how much of it may be error");
  add_size(app, "-m,--memory", options->memory_bytes,
           "memory of candidates and sketch (keys of more than 15 bytes take more)", least_memory);
  add_rate(app, "--error", options->error,
           "no count is too high by more than this share of the stream, for certain (default: 1/16384)");
  add_choice(app, "--method", options->method,
             "a sketch before which the candidates are counted, or only candidates",
             {"sketch", "space-saving"});
  add_state(app, options->state_path, options->waits_for_state);
  add_files_of_top(app, *options);
  app.add_flag("--exact", options->exact, "count exactly as well (memory without bound) and compare");
  add_stream_hasher_options(
      app, options->hasher,
      fmt::format("drawn at random, or what the --state was begun with; with --save {}, so "
                  "that files merge",
                  default_seed));
  add_json(app, options->json);
  add_quiet(app, options->quiet);
  exclude_what_needs_an_input(app);
  return [options] {
    take_num_keys(*options);
    options->hasher.for_files = !options->save_path.empty();
    if (!options->saved_files.empty()) {
      if (!options->input.files.empty()) {
        throw std::invalid_argument(fmt::format(
            "'{}' and --from are both given: no input is read with --from", options->input.files.front()));
      }
      return run_top_from(*options);
    }
    if (options->exact && options->window)
      throw std::invalid_argument("--exact and --window are both given; leave one out");
    if (options->exact && !options->state_path.empty())
      throw std::invalid_argument("--exact and --state are both given; leave one out");
    if (!options->records.time_fields.empty() && !options->window && !options->interval)
      throw std::invalid_argument("--time needs --window or --interval");
    return run_with_state(StateKind::top, *options, run_top);
  };
}

}  // namespace tally::cli
