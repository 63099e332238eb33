#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "files/guarded_file.hpp"
#include "input/records.hpp"
#include "tally/streams/state_reader.hpp"
#include "tally/streams/state_writer.hpp"

// The state of a stream in the file of --state.

namespace tally::cli {

/// --state FILE, and --wait-for-state for a file that another run has locked.
void add_state(CommandLine app, std::string& path, bool& waits);

/// The options of input and hash that must match in a run that resumes.
void append_options(StateOptions& list, const InputOptions& input, const RecordOptions& records,
                    const KeyHasher& hasher);

/// The state of a run, in the file that --state names; does nothing without --state. The file is locked as long as this
/// object lives (GuardedFile), because a second run in the meantime would end with a state that lacks the input of this
/// one.
class StreamState {
 public:
  /// Throws what GuardedFile throws, also if another run has locked the file and this one does not wait.
  StreamState(const std::string& path, StateKind kind, bool waits, bool quiet) : kind_(kind) {
    if (!path.empty())
      file_.emplace(path, quiet, waits ? WhenHeld::wait : WhenHeld::refuse_and_suggest_waiting);
  }

  /// The options that must match in a run that resumes. Called before restore and save.
  void set_options(StateOptions options) { options_ = std::move(options); }

  /// Draws the seed or the secret of the hash, as HasherOptions::draw does; but a stream that resumes from a state
  /// uses the seed in the state. Throws std::invalid_argument for --keyed with a state.
  void draw_hash(HasherOptions& hasher) const;

  /// Lets `take_up` read what `save` wrote. Returns false without a file. Throws what StateReader throws.
  bool restore(const std::function<void(StateReader&)>& take_up) const;
  void save(const std::function<void(StateWriter&)>& put) const;

 private:
  std::optional<GuardedFile> file_;
  StateKind kind_;
  StateOptions options_;
};

/// Locks the state, draws the hash, and returns run(options, state).
template <class Options, class Run>
ExitCode run_with_state(StateKind kind, Options& options, Run run) {
  StreamState state(options.state_path, kind, options.waits_for_state, options.quiet);
  state.draw_hash(options.hasher);
  return run(options, state);
}

}  // namespace tally::cli
