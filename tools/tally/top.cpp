#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <unordered_map>

#include "commands.hpp"
#include "event_time.hpp"
#include "exact_check.hpp"
#include "key_json.hpp"
#include "options.hpp"
#include "output.hpp"
#include "signals.hpp"
#include "stream_state.hpp"
#include "top_stream.hpp"
#include "top_table.hpp"

namespace tally::cli {
namespace {

constexpr std::uint64_t default_num_keys = 10;
constexpr std::uint64_t default_capacity = 16384;
constexpr std::uint64_t default_width = 65536;
constexpr std::uint64_t window_divisor = 4;  // a slot of a window has a quarter of that
constexpr std::uint32_t depth = 4;
constexpr std::uint64_t least_memory = 65536;
// What a candidate takes: its entry, heap node, key of at most 15 bytes and up to four places of the index.
constexpr std::uint64_t candidate_bytes = 112;
constexpr Nanoseconds refresh_interval = nanoseconds_per_second;

struct TopOptions {
  std::string num_keys_or_file;
  std::optional<double> share;
  InputOptions input;
  RecordOptions records;
  HasherOptions hasher;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> error;
  std::string method = "sketch";
  std::optional<Nanoseconds> window;
  std::uint32_t num_slots = 4;
  std::optional<Nanoseconds> interval;
  std::string state_path;
  bool with_error = false;
  bool exact = false;
  bool json = false;
  bool quiet = false;

  std::uint64_t num_keys = default_num_keys;
};

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

/// 1 / share, rounded up; a capacity that is refused where that is too many.
std::uint64_t keys_for_share(double share) {
  constexpr double too_many = 2.0 * CountedKeys::max_capacity;
  return static_cast<std::uint64_t>(std::min(std::ceil(1 / share), too_many));
}

/// The candidates that the answer needs at least; twice as many is the rule.
std::uint64_t least_capacity(const TopOptions& options) {
  return options.share ? keys_for_share(*options.share) : options.num_keys;
}

TopStream::Options plan(const TopOptions& options) {
  const bool space_saving = options.method == "space-saving";
  const std::uint64_t num_slots = options.window ? std::uint64_t{options.num_slots} + 1 : 1;
  std::uint64_t capacity = default_capacity / (options.window ? window_divisor : 1);
  std::uint64_t width = default_width / (options.window ? window_divisor : 1);
  capacity = std::max(capacity, 2 * least_capacity(options));
  if (options.error) capacity = std::max(keys_for_share(*options.error), least_capacity(options));
  if (options.memory_bytes) {
    const std::uint64_t bytes = *options.memory_bytes / num_slots;
    if (!options.error) capacity = bytes / candidate_bytes / (space_saving ? 1 : 2);
    const std::uint64_t left = bytes - std::min(bytes, candidate_bytes * capacity);
    width = left / (8 * depth);
    if (capacity < least_capacity(options) || (!space_saving && width == 0)) {
      throw std::invalid_argument(fmt::format(
          "--memory is {}; {} candidates{} need at least {}",
          human_bytes(static_cast<double>(*options.memory_bytes)),
          std::max(capacity, least_capacity(options)),
          num_slots == 1 ? "" : fmt::format(" in each of {} slots", num_slots),
          human_bytes(static_cast<double>(num_slots * std::max(capacity, least_capacity(options)) *
                                          candidate_bytes * (space_saving ? 1 : 2)))));
    }
  }
  return {.capacity = capacity,
          .sketch = {width, depth, 1, 64, CounterUpdate::conservative},
          .space_saving = space_saving,
          .window = options.window,
          .num_slots = options.num_slots,
          .hasher = options.hasher.hasher()};
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

/// Counts exactly, in memory without bound, and compares.
class ExactRanking {
 public:
  void add(const Records& records) {
    for (std::size_t i = 0; i < records.size(); ++i) {
      const std::uint64_t weight = records.weights.empty() ? 1 : records.weights[i];
      counts_[records.digests[i]] += weight;
    }
  }

  struct Result {
    std::uint64_t num_distinct = 0;
    std::uint64_t num_wanted = 0;  ///< keys of the true answer
    std::uint64_t num_missed = 0;  ///< of them, not printed
    std::uint64_t num_false = 0;   ///< printed, and not of them (keys of equal counts are as good)
    std::uint64_t num_outside_bounds = 0;
    std::uint64_t greatest_overcount = 0;
  };
  Result compare(const TopStream::Ranking& ranking, std::optional<double> share,
                 std::uint64_t num_keys) const {
    Result result{.num_distinct = counts_.size()};
    // The least true count of an answer.
    std::vector<std::uint64_t> counts;
    for (const auto& [digest, count] : counts_) {
      if (share ? is_above_share(count, *share, ranking.total) : count > 0) counts.push_back(count);
    }
    if (!share && counts.size() > num_keys) {
      const auto last = counts.begin() + static_cast<std::ptrdiff_t>(num_keys - 1);
      std::nth_element(counts.begin(), last, counts.end(), std::greater<>());
      counts.resize(num_keys);
    }
    result.num_wanted = counts.size();
    const std::uint64_t least =
        counts.empty() ? ~std::uint64_t{0} : *std::min_element(counts.begin(), counts.end());
    for (const KeyCount& key : ranking.keys) {
      const std::uint64_t truth = counts_.at(key.digest);
      result.num_false += truth < least;
      result.num_outside_bounds += truth > key.count || truth < key.least();
      result.greatest_overcount = std::max(result.greatest_overcount, key.count - std::min(key.count, truth));
    }
    result.num_missed = result.num_wanted -
                        std::min<std::uint64_t>(result.num_wanted, ranking.keys.size() - result.num_false);
    return result;
  }

 private:
  std::unordered_map<Hash128, std::uint64_t, HashOfDigest> counts_;
};

/// Computes and writes rankings.
class TopReport {
 public:
  TopReport(const TopOptions& options, const TopStream& stream)
      : options_(options),
        stream_(stream),
        on_screen_(!options.json && ScreenTable::is_possible()),
        output_({.nul_separated = options.input.nul_separated && !options.json}) {}

  bool on_screen() const { return on_screen_; }

  TopStream::Ranking ranking() const {
    return options_.share ? stream_.above_share(*options_.share) : stream_.top(options_.num_keys);
  }

  /// Whether the key is one of the answer for certain.
  bool is_certain(const TopStream::Ranking& ranking, const KeyCount& key) const {
    return options_.share ? is_above_share(key.least(), *options_.share, ranking.total)
                          : key.least() >= ranking.bound_of_others;
  }

  void redraw() {
    const Clock::time_point now = Clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::nanoseconds(options_.interval.value_or(refresh_interval));
    screen_.draw(table(ranking()), false);
  }

  void write_snapshot(Nanoseconds time) {
    const TopStream::Ranking ranking = this->ranking();
    write_keys(ranking);
    if (options_.json) {
      Json snapshot{{"time", time_text(time)}};
      snapshot.update(totals(ranking));
      output_.write_record(json_line(Json{{"snapshot", snapshot}}));
    } else {
      output_.write_record("\n");
    }
    output_.flush();
  }

  void write_last(const TopStream::Ranking& ranking) {
    if (on_screen_) {
      screen_.draw(table(ranking), true);
    } else {
      write_keys(ranking);
    }
  }

  Json totals(const TopStream::Ranking& ranking) const {
    std::uint64_t num_certain = 0;
    for (const KeyCount& key : ranking.keys) num_certain += is_certain(ranking, key);
    return {{"num_lines", stream_.num_counted()},        {"total", ranking.total},
            {"num_keys", ranking.keys.size()},           {"num_certain", num_certain},
            {"others_at_most", ranking.bound_of_others}, {"not_kept_at_most", ranking.floor}};
  }

  Output& output() { return output_; }

 private:
  using Clock = std::chrono::steady_clock;

  void write_keys(const TopStream::Ranking& ranking) {
    for (const KeyCount& key : ranking.keys) {
      if (options_.json) {
        Json line = key_json(key.key);
        line["count"] = key.count;
        line["error"] = key.error;
        line["share"] = share_of(key, ranking);
        line["certain"] = is_certain(ranking, key);
        output_.write_record(json_line(line));
      } else if (options_.with_error) {
        output_.write_key(fmt::format("{}\t{}", key.count, key.error), key.key);
      } else {
        output_.write_key(std::to_string(key.count), key.key);
      }
    }
  }

  static double share_of(const KeyCount& key, const TopStream::Ranking& ranking) {
    return ranking.total == 0 ? 0 : static_cast<double>(key.count) / static_cast<double>(ranking.total);
  }

  std::string table(const TopStream::Ranking& ranking) const {
    std::string text =
        fmt::format("{:>12}  {:>7}  {}key\n", options_.records.sum_fields.empty() ? "count" : "sum", "share",
                    options_.with_error ? "      error  " : "");
    for (const KeyCount& key : ranking.keys) {
      text += fmt::format("{:>12}  {:>6.2f}%  ", key.count, 100 * share_of(key, ranking));
      if (options_.with_error) text += fmt::format("{:>11}  ", key.error);
      text += printable(key.key) + "\n";
    }
    return text;
  }

  const TopOptions& options_;
  const TopStream& stream_;
  bool on_screen_;
  Output output_;
  ScreenTable screen_;
  Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(100);
};

std::string check_text(const ExactRanking::Result& result) {
  return fmt::format(
      "exactly: {} distinct keys; of {} keys that belong here {} are missing, {} are here falsely; {} counts "
      "outside their bounds; the greatest is {} too high",
      result.num_distinct, result.num_wanted, result.num_missed, result.num_false, result.num_outside_bounds,
      result.greatest_overcount);
}

Json check_json(const ExactRanking::Result& result) {
  return {{"num_distinct_keys", result.num_distinct},
          {"num_wanted", result.num_wanted},
          {"num_missed", result.num_missed},
          {"num_false", result.num_false},
          {"num_outside_bounds", result.num_outside_bounds},
          {"greatest_overcount", result.greatest_overcount}};
}

ExitCode run_top(const TopOptions& options) {
  const TopStream::Options planned = plan(options);
  TopStream stream(planned);
  TopReport report(options, stream);
  const bool snapshots = options.interval && !report.on_screen();
  RecordReader reader(options.input, options.records, planned.hasher, options.window || snapshots);
  std::optional<ExactRanking> check;
  if (options.exact) check.emplace();

  const auto start = std::chrono::steady_clock::now();
  TimeSteps intervals(options.interval.value_or(refresh_interval));
  if (!options.state_path.empty()) {
    if (auto state = StateReader::open(options.state_path, StateKind::top, state_options(options, planned))) {
      stream.restore(*state, options.hasher.key());
      read(*state, intervals);
      state->finish();
      remark(options.quiet,
             fmt::format("goes on from {}, after {} lines", options.state_path, stream.num_counted()));
    }
  }
  const auto add = [&](const Records& records) {
    stream.add(records);
    if (check) check->add(records);
  };
  for_each_record(reader, options.quiet || report.on_screen(), [&](const Records& records) {
    if (snapshots) {
      intervals.split(records, add, [&](std::uint64_t) { report.write_snapshot(intervals.latest()); });
    } else {
      add(records);
      if (report.on_screen()) report.redraw();
    }
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  const TopStream::Ranking ranking = report.ranking();
  report.write_last(ranking);
  std::optional<ExactRanking::Result> exact;
  if (check) exact = check->compare(ranking, options.share, options.num_keys);
  if (options.json) {
    Json summary = report.totals(ranking);
    if (options.window) {
      summary["num_late_lines"] = stream.clock().num_late();
      summary["num_lines_left_out"] = stream.clock().num_left_out();
    }
    summary.update(Json{{"num_skipped_lines", reader.num_skipped()},
                        {"num_candidates", planned.capacity},
                        {"memory_bytes", stream.num_bytes()},
                        {"seconds", seconds},
                        {"interrupted", stop_requested()}});
    if (exact) summary["exact"] = check_json(*exact);
    report.output().write_record(json_line(Json{{"summary", summary}}));
  }
  report.output().finish();
  if (!options.state_path.empty()) {
    StateWriter state(StateKind::top, state_options(options, planned));
    stream.save(state);
    write(state, intervals);
    state.save(options.state_path);
  }

  const Json totals = report.totals(ranking);
  remark(
      options.quiet,
      fmt::format("{}{} lines{}{}; {} keys, {} of them here for certain; any other key has {} at most; {}, "
                  "{:.2f} s",
                  stop_requested() ? "interrupted after " : "", stream.num_counted(),
                  options.records.sum_fields.empty() ? "" : fmt::format(", sum {}", ranking.total),
                  options.window
                      ? fmt::format(", {} in the last {}", ranking.total, duration_text(*options.window))
                      : "",
                  ranking.keys.size(), totals["num_certain"].get<std::uint64_t>(), ranking.bound_of_others,
                  human_bytes(static_cast<double>(stream.num_bytes())), seconds));
  remark_lines_lost(options.quiet, reader, stream.clock().num_left_out());
  if (exact) remark(options.quiet, check_text(*exact));
  return ranking.keys.empty() ? ExitCode::none : ExitCode::success;
}

}  // namespace

Run declare_top(CLI::App& app) {
  auto options = std::make_shared<TopOptions>();
  app.add_option("k", options->num_keys_or_file, "K: print the K most frequent keys (default: 10)")
      ->type_name("K");
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
  add_state(app, options->state_path);
  app.add_flag("--exact", options->exact, "count exactly as well (memory without bound) and compare");
  add_hasher_options(app, options->hasher);
  add_json(app, options->json);
  add_quiet(app, options->quiet);
  return [options] {
    take_num_keys(*options);
    if (options->exact && options->window)
      throw std::invalid_argument("--exact and --window are both given; leave one out");
    if (options->exact && !options->state_path.empty())
      throw std::invalid_argument("--exact and --state are both given; leave one out");
    if (!options->records.time_fields.empty() && !options->window && !options->interval)
      throw std::invalid_argument("--time needs --window or --interval");
    return run_top(*options);
  };
}

}  // namespace tally::cli
