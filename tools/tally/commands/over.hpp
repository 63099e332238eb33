#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/options.hpp"
#include "files/stream_state.hpp"
#include "input/records.hpp"
#include "tally/shapes/counter_update.hpp"
#include "tally/streams/sum.hpp"
#include "tally/streams/threshold.hpp"
#include "text/duration.hpp"

// `tally over`: over.cpp reads the options, over_threshold.cpp counts, over_sums.cpp adds up, and over_report.cpp writes
// keys and remarks.

namespace tally::cli {

struct OverOptions {
  std::uint64_t threshold = 0;
  InputOptions input;
  RecordOptions records;
  HasherOptions hasher;
  std::optional<Nanoseconds> window;
  std::uint32_t num_slots = 4;
  std::string state_path;
  bool waits_for_state = false;
  std::optional<std::uint64_t> num_keys;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> false_positive_rate;
  std::optional<CounterUpdate> update;
  bool with_count = false;
  bool counts_at_end = false;
  bool exact = false;
  bool explain = false;
  bool json = false;
  bool quiet = false;
  bool line_buffered = false;
  std::optional<Nanoseconds> every;

  /// With --counts-at-end, the counts get the rest of --memory, a quarter.
  std::optional<std::uint64_t> memory_of_stream() const {
    if (!memory_bytes || !counts_at_end) return memory_bytes;
    return std::max<std::uint64_t>(least_memory_of_digests, *memory_bytes - *memory_bytes / 4);
  }
  CounterUpdate update_or_plain() const { return update.value_or(CounterUpdate::plain); }
};

/// Options that must match for a run to resume from a saved state.
StateOptions state_options(const OverOptions& options, const KeyHasher& hasher);

/// Restores the stream from the state, if there is one.
template <class Stream>
void restore(const OverOptions& options, const StreamState& state, Stream& stream) {
  if (state.restore([&](StateReader& from) { stream.restore(from, options.hasher.key()); }))
    remark(options.quiet, "resuming from " + options.state_path);
}

/// The stream of a run. They throw std::invalid_argument that names --memory if that is too little.
ThresholdStream::Options threshold_options(const OverOptions& options, const KeyHasher& hasher);
SumStream::Options sum_options(const OverOptions& options, const KeyHasher& hasher);

ExitCode run_over_threshold(const OverOptions& options, StreamState& state);
/// For --sum and --window.
ExitCode run_over_sums(const OverOptions& options, StreamState& state);

}  // namespace tally::cli
