#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "files/guarded_file.hpp"
#include "streams/state_file.hpp"
#include "streams/time_steps.hpp"
#include "tally/sets/hash_set.hpp"
#include "tally/sketches/counted_keys.hpp"

// How the parts that several commands share stand in a state file.

namespace tally::cli {

/// --state FILE, and --wait for one that another run holds.
void add_state(CommandLine app, std::string& path, bool& waits);

/// What of these options must be the same in the run that goes on: which keys, and their hash.
void append_options(StateOptions& list, const InputOptions& input, const RecordOptions& records,
                    const KeyHasher& hasher);

/// The state of a command's run, in the file that --state names; nothing is done without one. The file is held as
/// long as this lives (GuardedFile): another run that began in between would end with a state that lacks what this
/// one read.
class StreamState {
 public:
  /// Throws as GuardedFile: also if another run holds the file and this one does not wait.
  StreamState(const std::string& path, StateKind kind, bool waits, bool quiet) : kind_(kind) {
    if (!path.empty()) file_.emplace(path, quiet, waits ? WhenHeld::wait : WhenHeld::refuse);
  }

  /// As StateReader::open takes them; before restore and save.
  void set_options(StateOptions options) { options_ = std::move(options); }

  /// Draws the seed or the secret of the hash, as HasherOptions::draw does; but the seed of a stream that goes on from
  /// a state is that of the state, which keeps it. Throws std::invalid_argument for --keyed with a state.
  void draw_hash(HasherOptions& hasher) const;

  /// Lets `take_up` read what `save` had written. False if there is no file. Throws as StateReader does.
  bool restore(const std::function<void(StateReader&)>& take_up) const;
  void save(const std::function<void(StateWriter&)>& put) const;

 private:
  std::optional<GuardedFile> file_;
  StateKind kind_;
  StateOptions options_;
};

/// run(options, state), the state being held and the hash drawn first.
template <class Options, class Run>
ExitCode run_with_state(StateKind kind, Options& options, Run run) {
  StreamState state(options.state_path, kind, options.waits_for_state, options.quiet);
  state.draw_hash(options.hasher);
  return run(options, state);
}

void write(StateWriter& state, const TimeSteps& clock);
void read(StateReader& state, TimeSteps& clock);

void write(StateWriter& state, const CountedKeys& keys);
CountedKeys read_counted_keys(StateReader& state, std::uint64_t capacity);

}  // namespace tally::cli
