#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "input/key_reader.hpp"
#include "store/options.hpp"
#include "tally/shapes/counter_update.hpp"

namespace tally::cli {

/// `tally over` and `tally uniq` (a threshold of 1) with --store.
struct OverStoreOptions {
  std::uint64_t threshold = 1;
  InputOptions input;
  HasherOptions hasher;
  StoreOptions store;
  std::optional<Nanoseconds> window = {};
  std::optional<std::uint32_t> num_slots = {};
  std::optional<std::uint64_t> num_keys = {};
  std::optional<std::uint64_t> memory_bytes = {};
  std::optional<double> false_positive_rate = {};
  std::optional<CounterUpdate> update = {};
  bool json = false;
  bool quiet = false;
  bool line_buffered = false;
};

/// Prints the keys whose count reaches the threshold here: of all writers of the store, one prints each key.
ExitCode run_over_store(const OverStoreOptions& options);

}  // namespace tally::cli
