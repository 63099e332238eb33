#include "commands/top_report.hpp"

#include <fmt/core.h>

#include <utility>

#include "input/event_time.hpp"
#include "text/key_json.hpp"

namespace tally::cli {
namespace {

double share_of(const KeyCount& key, const Ranking& ranking) {
  return ranking.total == 0 ? 0 : static_cast<double>(key.count) / static_cast<double>(ranking.total);
}

}  // namespace

TopReport::TopReport(const TopOptions& options, std::function<Ranking()> candidates)
    : options_(options),
      candidates_(std::move(candidates)),
      on_screen_(!options.json && ScreenTable::is_possible()),
      output_({.nul_separated = options.input.nul_separated && !options.json}) {}

void TopReport::redraw(std::uint64_t num_lines) {
  const Clock::time_point now = Clock::now();
  if (now < next_ || num_lines == num_drawn_lines_) return;
  num_drawn_lines_ = num_lines;
  next_ = now + std::chrono::nanoseconds(options_.refresh_interval());
  screen_.draw(table(ranking()), false);
}

void TopReport::write_snapshot(Nanoseconds time, std::uint64_t num_lines) {
  const Ranking ranking = this->ranking();
  write_keys(ranking);
  if (options_.json) {
    Json snapshot{{"time", time_text(time)}, {"num_lines", num_lines}};
    snapshot.update(totals(ranking));
    output_.write_record(json_line(Json{{"snapshot", snapshot}}));
  } else {
    output_.write_record("\n");
  }
  output_.flush();
}

void TopReport::write_last(const Ranking& ranking) {
  if (on_screen_) {
    screen_.draw(table(ranking), true);
  } else {
    write_keys(ranking);
  }
}

void TopReport::finish(const Json& summary) {
  if (options_.json) output_.write_record(json_line(Json{{"summary", summary}}));
  output_.finish();
}

Json TopReport::totals(const Ranking& ranking) const {
  std::uint64_t num_certain = 0;
  for (const KeyCount& key : ranking.keys) num_certain += is_certain(ranking, key);
  return {{"total", ranking.total},
          {"num_keys", ranking.keys.size()},
          {"num_certain", num_certain},
          {"others_at_most", ranking.bound_of_others},
          {"not_kept_at_most", ranking.floor}};
}

bool TopReport::is_certain(const Ranking& ranking, const KeyCount& key) const {
  return options_.share ? is_above_share(key.least(), *options_.share, ranking.total)
                        : key.least() >= ranking.bound_of_others;
}

void TopReport::write_keys(const Ranking& ranking) {
  for (const KeyCount& key : ranking.keys) {
    const std::string text = shown_key(options_.input.key_type, key.key);
    if (options_.json) {
      Json line = key_json(text);
      line["count"] = key.count;
      line["error"] = key.error;
      line["share"] = share_of(key, ranking);
      line["certain"] = is_certain(ranking, key);
      output_.write_record(json_line(line));
    } else if (options_.with_error) {
      output_.write_key(fmt::format("{}\t{}", key.count, key.error), text);
    } else {
      output_.write_key(std::to_string(key.count), text);
    }
  }
}

std::string TopReport::table(const Ranking& ranking) const {
  std::string text =
      fmt::format("{:>12}  {:>7}  {}key\n", options_.records.sum_fields.empty() ? "count" : "sum", "share",
                  options_.with_error ? "      error  " : "");
  for (const KeyCount& key : ranking.keys) {
    text += fmt::format("{:>12}  {:>6.2f}%  ", key.count, 100 * share_of(key, ranking));
    if (options_.with_error) text += fmt::format("{:>11}  ", key.error);
    text += printable(shown_key(options_.input.key_type, key.key)) + "\n";
  }
  return text;
}

}  // namespace tally::cli
