#pragma once

#include <functional>
#include <string>
#include <utility>

#include "options.hpp"
#include "state_file.hpp"
#include "tally/filters/hash_set.hpp"
#include "tally/sketches/counted_keys.hpp"
#include "time_steps.hpp"

// How the parts that several commands share stand in a state file.

namespace tally::cli {

/// --state FILE.
void add_state(CLI::App& app, std::string& path);

/// Draws the seed or the secret of the hash, as HasherOptions::draw does; but the seed of a stream that goes on from a
/// state is that of the state, which keeps it. Throws std::invalid_argument for --keyed with a state.
void draw_hash(HasherOptions& hasher, const std::string& state_path);

/// What of these options must be the same in the run that goes on: which keys, and their hash.
void append_options(StateOptions& list, const InputOptions& input, const RecordOptions& records,
                    const KeyHasher& hasher);

/// The state of a command's run, in the file that --state names; nothing is done without one.
class StreamState {
 public:
  /// `options` as StateReader::open takes them.
  StreamState(std::string path, StateKind kind, StateOptions options)
      : path_(std::move(path)), kind_(kind), options_(std::move(options)) {}

  /// Lets `take_up` read what `save` had written. False if there is no file. Throws as StateReader does, and as
  /// check_can_write: before a stream is read for nothing.
  bool restore(const std::function<void(StateReader&)>& take_up) const;
  void save(const std::function<void(StateWriter&)>& put) const;

 private:
  std::string path_;
  StateKind kind_;
  StateOptions options_;
};

void write(StateWriter& state, const TimeSteps& clock);
void read(StateReader& state, TimeSteps& clock);

void write(StateWriter& state, const CountedKeys& keys);
CountedKeys read_counted_keys(StateReader& state, std::uint64_t capacity);

}  // namespace tally::cli
