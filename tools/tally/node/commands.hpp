#pragma once

#include <cstdint>
#include <string_view>

#include "input/line_input.hpp"
#include "node/line_session.hpp"
#include "node/summary_node.hpp"
#include "text/duration.hpp"
#include "text/output.hpp"

namespace tally::cli {

/// The lines of standard input, with their answers on standard output.
class NodeCommands {
 public:
  struct Options {
    LineSession::Options lines;
    bool quiet = false;
    bool stays = false;  ///< waits for another writer after the end of a pipe
  };

  NodeCommands(const Options& options, SummaryNode& node);
  NodeCommands(const NodeCommands&) = delete;  // its session points to it
  NodeCommands& operator=(const NodeCommands&) = delete;

  /// Whether to read on; false until a !wait is over.
  bool wants_input() const noexcept { return !input_.has_ended() && !session_.is_waiting(); }
  bool has_ended() const noexcept { return input_.has_ended() && !session_.is_waiting(); }
  /// When to call step, even without events.
  Nanoseconds deadline() const noexcept { return session_.deadline(); }
  /// The number of invalid lines, and of refused changes.
  std::uint64_t num_refused() const noexcept {
    return session_.num_refused_lines() + num_full_ + num_absent_;
  }

  /// Does what is due, and prints the answers. `readable`: poll reported input on standard input.
  void step(bool readable, Nanoseconds now);
  /// The last call: throws if output could not be written, and reports what was refused.
  void finish();

 private:
  void note_refusal(LineSession::Refusal refusal, std::uint64_t number, std::string_view why);

  Options options_;
  SummaryNode& node_;
  LineSession session_;
  LineInput input_;
  Output output_;
  bool has_warned_of_input_ = false;
  std::uint64_t num_lines_ = 0;
  std::uint64_t num_full_ = 0;    // insertions refused
  std::uint64_t num_absent_ = 0;  // removes refused
};

}  // namespace tally::cli
