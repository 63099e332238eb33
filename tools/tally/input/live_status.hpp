#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "text/duration.hpp"
#include "text/json.hpp"
#include "text/output.hpp"

namespace tally::cli {

/// --every.
void add_every(CommandLine app, std::optional<Nanoseconds>& every);

/// What a command says while it reads: a remark when SIGUSR1 comes, and after each interval its summary as a line of JSON.
class LiveStatus {
 public:
  struct Says {
    std::function<std::string()> text;
    std::function<Json()> summary = {};
  };

  /// The summaries go to `output`, or if that is null to standard error.
  LiveStatus(Says says, std::optional<Nanoseconds> every = {}, Output* output = nullptr);

  /// Says what is due. Cheap: call it once per batch, and while the input waits.
  void look();

 private:
  using Clock = std::chrono::steady_clock;

  void write_summary();

  Says says_;
  std::optional<std::chrono::nanoseconds> every_;
  Output* output_;
  Clock::time_point next_ = Clock::now();
};

}  // namespace tally::cli
