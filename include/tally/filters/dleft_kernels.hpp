#pragma once

#include <cstddef>
#include <cstdint>

#include "tally/filters/dleft_shape.hpp"

namespace tally::detail {

/// What the kernels need to know of a table.
struct DLeftView {
  std::uint64_t* words;
  std::uint64_t buckets_per_subtable;
  std::uint32_t num_subtables;
  std::uint32_t remainder_bits;  // as they are now
  std::uint32_t counter_shift;   // the remainder_bits of the shape
  std::uint32_t max_counter;     // of a cell's counter, which is the count less one
};

/// Loops over keys for tables whose buckets are powers of two of 16-bit cells, with the best instructions of
/// the machine. `places` has num_subtables numbers a key (DLeftTable). They do what is common and leave the
/// rest to DLeftTable, whose code is their oracle.
struct DLeftKernels {
  /// found[i]: whether key i has a cell.
  void (*contains)(const DLeftView&, const std::uint64_t* places, std::size_t num_keys, bool* found);

  /// counts[i]: what the cell of key i counts, 0 if it has none.
  void (*count)(const DLeftView&, const std::uint64_t* places, std::size_t num_keys, std::uint32_t* counts);

  /// Inserts keys until one finds its counter at the maximum or all of its buckets full; returns how many
  /// went in. Adds the number of new cells to `num_new`.
  std::size_t (*insert)(const DLeftView&, const std::uint64_t* places, std::size_t num_keys,
                        std::uint64_t& num_new);

  /// Removes keys until one whose counter is at the maximum; returns how many were looked at.
  /// removed[i]: whether key i had a cell. Adds the number of cells emptied to `num_emptied`.
  /// Only where the maximum is above 0.
  std::size_t (*remove)(const DLeftView&, const std::uint64_t* places, std::size_t num_keys, bool* removed,
                        std::uint64_t& num_emptied);
};

/// Null where there are none for the shape.
const DLeftKernels* dleft_kernels(const DLeftShape& shape) noexcept;

}  // namespace tally::detail
