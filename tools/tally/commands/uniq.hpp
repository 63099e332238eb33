#pragma once

#include <cstdint>
#include <optional>

#include "cli/options.hpp"
#include "input/key_reader.hpp"
#include "shape/shape.hpp"
#include "text/duration.hpp"

// `tally uniq`: uniq.cpp reads the options and prints, uniq_memory.cpp decides which keys are new.

namespace tally::cli {

struct UniqOptions {
  InputOptions input;
  HasherOptions hasher;
  bool approximate = false;
  bool may_repeat = false;
  std::optional<std::uint64_t> num_keys;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> false_positive_rate;
  bool json = false;
  bool quiet = false;
  bool line_buffered = false;
  std::optional<Nanoseconds> every;
  bool explain = false;

  /// With --may-repeat.
  std::uint64_t recent_bytes() const { return memory_bytes.value_or(std::uint64_t{64} << 20); }
};

/// The filter of --approximate. Throws std::invalid_argument without a size.
Planned plan_uniq(const UniqOptions& options);

}  // namespace tally::cli
