#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "input/records.hpp"
#include "tally/streams/top.hpp"
#include "text/duration.hpp"

namespace tally::cli {

/// The options of `tally top`.
struct TopOptions {
  std::string num_keys_or_file;
  std::optional<double> share;
  InputOptions input;
  RecordOptions records;
  HasherOptions hasher;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> error;
  std::string method = "sketch";
  std::optional<Nanoseconds> window;
  std::uint32_t num_slots = 4;
  std::optional<Nanoseconds> interval;
  std::optional<Nanoseconds> every;
  std::string state_path;
  bool waits_for_state = false;
  std::string save_path;
  bool force = false;                    ///< --save replaces a file
  std::vector<std::string> saved_files;  ///< --from: read these instead of an input
  bool with_error = false;
  bool exact = false;
  bool explain = false;
  bool json = false;
  bool quiet = false;

  std::uint64_t num_keys = 10;

  Nanoseconds refresh_interval() const { return interval.value_or(nanoseconds_per_second); }
};

/// The sizes of candidates and sketch. Throws std::invalid_argument if they do not fit --memory.
TopStream::Options plan_top(const TopOptions& options);

}  // namespace tally::cli
