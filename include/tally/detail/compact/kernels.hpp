#pragma once

#include <cstddef>
#include <cstdint>

#include "tally/detail/compact/finder.hpp"
#include "tally/export.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/shapes/compact_dleft.hpp"

namespace tally::detail {

/// A line holds up to this many cells of one fingerprint; the side table counts the rest.
inline constexpr std::uint32_t max_compact_copies = 3;

enum class CompactInserted : std::uint8_t {
  first,   ///< the fingerprint is new
  again,   ///< its line holds one cell more of it
  no_room  ///< both lines are full; or it is there, and its line has no cell for it. Nothing has changed.
};

enum class CompactRemoved : std::uint8_t {
  last,    ///< the fingerprint is gone
  one,     ///< its line holds one cell less of it
  absent,  ///< nothing has changed
  at_max   ///< it has max_compact_copies cells, so the side table may count more. Nothing has changed.
};

/// Operations on the lines of a CompactDLeftFilter, with the best instructions of the machine; the lines are
/// the same with all of them. For one key by its digest or its spot, and loops over keys. None of them knows the side
/// table.
struct CompactKernels {
  /// Writes the spots and prefetches their lines.
  void (*find_spots)(const CompactFinder&, const Hash128* keys, std::size_t num_keys, CompactSpot* spots);

  bool (*contains)(const CompactFinder&, Hash128 key);
  CompactInserted (*insert)(const CompactFinder&, Hash128 key);
  /// With `stop_at_max`, a fingerprint with max_compact_copies cells is not removed.
  CompactRemoved (*remove)(const CompactFinder&, Hash128 key, bool stop_at_max);

  /// found[i]: whether key i has a cell.
  void (*contains_all)(const CompactSpot* spots, std::size_t num_keys, bool* found);
  /// counts[i]: how many cells key i has.
  void (*count_all)(const CompactSpot* spots, std::size_t num_keys, std::uint32_t* counts);
  /// Inserts keys until one finds no room; returns how many were inserted. Adds the number of new fingerprints to
  /// `num_new`.
  std::size_t (*insert_all)(const CompactSpot* spots, std::size_t num_keys, std::uint64_t& num_new);
  /// Removes keys; with `stop_at_max`, until one has max_compact_copies cells. Returns how many were processed.
  /// results[i]: removed, or refused if key i had no cell. Adds the number of keys removed and of fingerprints that are
  /// gone.
  std::size_t (*remove_all)(const CompactSpot* spots, std::size_t num_keys, RemoveResult* results,
                            bool stop_at_max, std::uint64_t& num_removed, std::uint64_t& num_gone);
};

/// The shape must pass check_shape.
TALLY_EXPORT const CompactKernels& compact_kernels(const CompactDLeftShape& shape) noexcept;

}  // namespace tally::detail
