#pragma once

#include <chrono>
#include <string>

#include "output.hpp"
#include "top_plan.hpp"
#include "top_stream.hpp"
#include "top_table.hpp"

namespace tally::cli {

/// Computes rankings, and writes them: a table that is drawn anew on a terminal, else keys.
class TopReport {
 public:
  TopReport(const TopOptions& options, const TopStream& stream);

  bool on_screen() const { return on_screen_; }

  TopStream::Ranking ranking() const {
    return options_.share ? stream_.above_share(*options_.share) : stream_.top(options_.num_keys);
  }

  /// Draws the table, if it is time to.
  void redraw();
  /// The keys so far, and what ends them.
  void write_snapshot(Nanoseconds time);
  void write_last(const TopStream::Ranking& ranking);
  /// With --json the summary, and the end of the output.
  void finish(const Json& summary);

  /// What a summary says of the ranking.
  Json totals(const TopStream::Ranking& ranking) const;

 private:
  using Clock = std::chrono::steady_clock;

  /// Whether the key is one of the answer for certain.
  bool is_certain(const TopStream::Ranking& ranking, const KeyCount& key) const;
  void write_keys(const TopStream::Ranking& ranking);
  std::string table(const TopStream::Ranking& ranking) const;

  const TopOptions& options_;
  const TopStream& stream_;
  bool on_screen_;
  Output output_;
  ScreenTable screen_;
  Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(100);
};

}  // namespace tally::cli
