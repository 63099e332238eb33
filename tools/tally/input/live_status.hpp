#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "cli/meanwhile.hpp"
#include "text/duration.hpp"
#include "text/json.hpp"
#include "text/output.hpp"

namespace tally::cli {

/// --every.
void add_every(CommandLine app, std::optional<Nanoseconds>& every);

/// What a command says while its thread reads, as its Meanwhile: a remark when SIGUSR1 comes, and after each interval its
/// summary as a line of JSON.
class LiveStatus {
 public:
  struct Says {
    std::function<std::string()> text;
    std::function<Json()> summary = {};
    std::function<void()> besides = {};  ///< what is done, too, when something may be due
  };

  /// The summaries go to `output`, or if that is null to standard error.
  explicit LiveStatus(Says says, std::optional<Nanoseconds> every = {}, Output* output = nullptr);

 private:
  using Clock = std::chrono::steady_clock;

  /// Says what is due.
  void look();
  bool is_due();
  void write_summary();

  Says says_;
  std::optional<std::chrono::nanoseconds> every_;
  Output* output_;
  Clock::time_point next_ = Clock::now();
  Meanwhile meanwhile_{[this](bool) { look(); }};
};

}  // namespace tally::cli
