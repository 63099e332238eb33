#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "commands/top_plan.hpp"
#include "commands/top_table.hpp"
#include "tally/streams/ranking.hpp"
#include "text/output.hpp"

namespace tally::cli {

/// Computes rankings and writes them: on a terminal as a table that is redrawn, otherwise as keys.
class TopReport {
 public:
  /// `candidates` returns the current candidates.
  TopReport(const TopOptions& options, std::function<Ranking()> candidates);

  bool on_screen() const { return on_screen_; }

  Ranking ranking() const {
    return options_.share ? above_share_of(candidates_(), *options_.share)
                          : top_of(candidates_(), options_.num_keys);
  }

  /// Draws the table if the interval has passed.
  void redraw();
  /// The current keys, after `num_lines` lines, and what ends them.
  void write_snapshot(Nanoseconds time, std::uint64_t num_lines);
  void write_last(const Ranking& ranking);
  /// With --json, writes the summary. Ends the output.
  void finish(const Json& summary);

  /// The part of the summary about the ranking.
  Json totals(const Ranking& ranking) const;

 private:
  using Clock = std::chrono::steady_clock;

  /// Whether the key is certainly part of the true answer.
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
