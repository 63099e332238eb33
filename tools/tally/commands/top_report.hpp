#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "commands/top_plan.hpp"
#include "commands/top_table.hpp"
#include "input/live_status.hpp"
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

  /// Draws the table if the interval has passed and there are more lines than were drawn.
  void redraw(std::uint64_t num_lines);
  /// The current keys, after `num_lines` lines, and what ends them.
  void write_snapshot(Nanoseconds time, std::uint64_t num_lines);
  void write_last(const Ranking& ranking);
  /// With --json, writes the summary. Ends the output.
  void finish(const Json& summary);
  /// What is said while the input is read.
  LiveStatus status(LiveStatus::Says says) {
    return LiveStatus(std::move(says), options_.every, options_.json ? &output_ : nullptr);
  }

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
  std::uint64_t num_drawn_lines_ = 0;
  Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(100);
};

}  // namespace tally::cli
