#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tally/shapes/filter.hpp"

namespace tally::cli {

/// What is timed. Insertions are of new keys after removals of old ones, at the full number of keys; where nothing can be
/// removed, of keys that are in the filter.
enum class Operation : std::uint8_t { insert, remove, lookup_present, lookup_absent, line_read };
inline constexpr std::size_t num_operations = 5;
/// The names of the operations in JSON.
inline constexpr std::array<const char*, num_operations> operation_names{"insert", "remove", "lookup_present",
                                                                         "lookup_absent", "line_read"};

/// A call takes 2048 keys, and a filter must hold several times as many.
inline constexpr std::uint64_t least_measured_keys = 10'000;

struct MeasureOptions {
  std::uint64_t num_keys = 0;      ///< at least least_measured_keys
  double false_positive_rate = 0;  ///< predicted with num_keys keys
  int num_rounds = 5;
  std::uint64_t seed = 0;
};

/// Times in ns of processor time per key, one per round; none for an operation that the filter does not have.
using OperationTimes = std::array<std::vector<double>, num_operations>;

struct Measured {
  std::uint64_t memory_bytes = 0;  ///< of cells and side table, as allocated
  double false_positive_rate = 0;
  OperationTimes batches;  ///< of 2048 keys per call
  OperationTimes single;   ///< one key per call
};

/// Fills a filter of the shape with new random keys, checks it, and times its operations in rounds, in turn. Throws
/// std::runtime_error if a key is missing, if the false positive rate is above the predicted one beyond chance (one in a
/// million), if the filter is full, or if a signal asks to stop; std::bad_alloc if there is not enough memory.
Measured measure(const FilterShape& shape, const MeasureOptions& options);

}  // namespace tally::cli
