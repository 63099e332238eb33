#include "node/commands.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/signals.hpp"

namespace tally::cli {

NodeCommands::NodeCommands(const Options& options, SummaryNode& node)
    : options_(options),
      node_(node),
      session_(options.lines, node,
               [this](LineSession::Refusal refusal, std::uint64_t number, std::string_view why) {
                 note_refusal(refusal, number, why);
               }),
      input_(options.lines.nul_separated ? '\0' : '\n'),
      output_({.nul_separated = options.lines.nul_separated && !options.lines.json, .line_buffered = false}) {
}

void NodeCommands::step(bool readable, Nanoseconds now) {
  if (readable) input_.read_some();
  session_.end_wait(now, stop_requested());
  output_.write(session_.take_answers());
  while (!session_.is_waiting()) {
    const std::optional<std::string_view> line = input_.next_line();
    if (!line) break;
    ++num_lines_;
    session_.take(*line, now);
    output_.write(session_.take_answers());
  }
  session_.apply_changes();
  output_.flush();
  if (!has_ended()) return;
  node_.own().announce();  // nothing more will be loaded
  if (!options_.stays || input_.await_next_writer() != LineInput::NextWriter::impossible) return;
  if (!std::exchange(has_warned_of_input_, true)) {
    warn("standard input cannot be opened again: lines of later writers are not read");
  }
}

void NodeCommands::finish() {
  output_.finish();
  if (num_full_ + num_absent_ > 0) {
    remark(options_.quiet, fmt::format("{} insertions and removals were refused", num_full_ + num_absent_));
  }
  if (session_.num_refused_lines() > 0) {
    remark(options_.quiet, fmt::format("{} lines were invalid", session_.num_refused_lines()));
  }
}

// Says the first of each kind.
void NodeCommands::note_refusal(LineSession::Refusal refusal, std::uint64_t number, std::string_view why) {
  using enum LineSession::Refusal;
  switch (refusal) {
    case line:
      if (session_.num_refused_lines() == 1)
        remark(options_.quiet, fmt::format("line {}: {}", num_lines_, why));
      break;
    case full:
      if (num_full_ == 0) {
        warn("the filter is full: keys are refused, and no peer will receive them; give more --keys");
      }
      num_full_ += number;
      break;
    case absent:
      if (num_absent_ == 0) {
        remark(options_.quiet, "removing a key that is provably absent was refused; nothing changed");
      }
      num_absent_ += number;
      break;
  }
}

}  // namespace tally::cli
