#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "commands/top_plan.hpp"
#include "commands/top_table.hpp"
#include "streams/ranking.hpp"
#include "text/output.hpp"

namespace tally::cli {

/// Computes rankings, and writes them: a table that is drawn anew on a terminal, else keys.
class TopReport {
 public:
  /// `candidates` reads them as they are at the time.
  TopReport(const TopOptions& options, std::function<Ranking()> candidates);

  bool on_screen() const { return on_screen_; }

  Ranking ranking() const {
    return options_.share ? above_share_of(candidates_(), *options_.share)
                          : top_of(candidates_(), options_.num_keys);
  }

  /// Draws the table, if it is time to.
  void redraw();
  /// The keys so far, of so many lines, and what ends them.
  void write_snapshot(Nanoseconds time, std::uint64_t num_lines);
  void write_last(const Ranking& ranking);
  /// With --json the summary, and the end of the output.
  void finish(const Json& summary);

  /// What a summary says of the ranking.
  Json totals(const Ranking& ranking) const;

 private:
  using Clock = std::chrono::steady_clock;

  /// Whether the key is one of the answer for certain.
  bool is_certain(const Ranking& ranking, const KeyCount& key) const;
  void write_keys(const Ranking& ranking);
  std::string table(const Ranking& ranking) const;

  const TopOptions& options_;
  std::function<Ranking()> candidates_;
  bool on_screen_;
  Output output_;
  ScreenTable screen_;
  Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(100);
};

}  // namespace tally::cli
