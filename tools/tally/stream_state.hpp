#pragma once

#include <string>

#include "options.hpp"
#include "state_file.hpp"
#include "tally/filters/hash_set.hpp"
#include "tally/sketches/counted_keys.hpp"
#include "time_steps.hpp"

// How the parts that several commands share stand in a state file.

namespace tally::cli {

/// --state FILE.
void add_state(CLI::App& app, std::string& path);

/// What of these options must be the same in the run that goes on: which keys, and their hash.
void append_options(StateOptions& list, const InputOptions& input, const RecordOptions& records,
                    const KeyHasher& hasher);

void write(StateWriter& state, const TimeSteps& clock);
void read(StateReader& state, TimeSteps& clock);

void write(StateWriter& state, const CountedKeys& keys);
CountedKeys read_counted_keys(StateReader& state, std::uint64_t capacity);

}  // namespace tally::cli
