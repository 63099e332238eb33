#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "tally/detail/dleft/spots.hpp"
#include "tally/export.hpp"
#include "tally/hashing/multiplier_buckets.hpp"
#include "tally/hashing/rotation_buckets.hpp"
#include "tally/shapes/dleft.hpp"

namespace tally::detail {

/// What the kernels read of a table.
struct DLeftCells {
  std::uint32_t remainder_bits;  // the current number
  std::uint32_t counter_shift;   // the remainder_bits of the shape
  std::uint32_t max_counter;     // of a cell's counter, which is the count minus one
};

/// What a kernel did with a key.
enum class DLeftDone : std::uint8_t {
  left_to_table,  ///< nothing: its counter is at the maximum, or all of its buckets are full
  absent,         ///< nothing: it has no cell
  counter_changed,
  cell_changed  ///< from or to an empty one
};

/// Operations on one key, of which only the digest is given.
struct DLeftKeyKernels {
  using Finder = DLeftSpotFinder<RotationBuckets>;

  bool (*contains)(const Finder&, const std::uint64_t* words, Hash128 digest);

  /// The count in the key's cell, 0 if it has none.
  std::uint32_t (*count)(const Finder&, const std::uint64_t* words, Hash128 digest);

  DLeftDone (*insert)(const Finder&, std::uint32_t max_counter, std::uint64_t* words, Hash128 digest);
  DLeftDone (*remove)(const Finder&, std::uint32_t max_counter, std::uint64_t* words, Hash128 digest);
};

/// Loops over keys, and operations on one key, for tables of 2 to 4 subtables whose buckets are 8, 16 or 32
/// cells of 16 bits, with the best instructions of the machine. `spots` has one spot per subtable for each
/// key. They handle the common cases and leave the others to DLeftTable. Tests compare them with DLeftTable.
struct DLeftKernels {
  /// Also prefetches the buckets.
  template <BucketScheme Scheme>
  using FindSpots = void (*)(const DLeftSpotFinder<Scheme>&, const std::uint64_t* words, const Hash128* keys,
                             std::size_t num_keys, DLeftSpot* spots);

  FindSpots<RotationBuckets> find_rotation_spots;
  FindSpots<MultiplierBuckets> find_multiplier_spots;

  /// found[i]: whether key i has a cell.
  void (*contains)(const DLeftCells&, const DLeftSpot* spots, std::size_t num_keys, bool* found);

  /// counts[i]: the count in the cell of key i, 0 if it has none.
  void (*count)(const DLeftCells&, const DLeftSpot* spots, std::size_t num_keys, std::uint32_t* counts);

  /// Inserts keys until one has its counter at the maximum or all of its buckets full; returns how many were
  /// inserted. Adds the number of new cells to `num_new`.
  std::size_t (*insert)(const DLeftCells&, const DLeftSpot* spots, std::size_t num_keys,
                        std::uint64_t& num_new);

  /// Removes keys until one has its counter at the maximum; returns how many were processed. removed[i]:
  /// whether key i had a cell. Adds the number of cells emptied to `num_emptied`.
  std::size_t (*remove)(const DLeftCells&, const DLeftSpot* spots, std::size_t num_keys, bool* removed,
                        std::uint64_t& num_emptied);

  DLeftKeyKernels of_rotation_key;
};

/// Null if there are none for the shape.
TALLY_EXPORT const DLeftKernels* dleft_kernels(const DLeftShape& shape) noexcept;

/// Null if there are none for the shape or for the scheme.
template <BucketScheme Scheme>
const DLeftKernels* dleft_kernels(const DLeftShape& shape) noexcept {
  constexpr bool has_kernels =
      std::is_same_v<Scheme, RotationBuckets> || std::is_same_v<Scheme, MultiplierBuckets>;
  return has_kernels ? dleft_kernels(shape) : nullptr;
}

template <BucketScheme Scheme>
void find_spots(const DLeftKernels& kernels, const DLeftSpotFinder<Scheme>& finder,
                const std::uint64_t* words, std::span<const Hash128> keys, DLeftSpot* spots) {
  if constexpr (std::is_same_v<Scheme, RotationBuckets>) {
    kernels.find_rotation_spots(finder, words, keys.data(), keys.size(), spots);
  } else if constexpr (std::is_same_v<Scheme, MultiplierBuckets>) {
    kernels.find_multiplier_spots(finder, words, keys.data(), keys.size(), spots);
  }
}

}  // namespace tally::detail
