#pragma once

#include <chrono>
#include <cstdint>

#include "tally/export.hpp"
#include "tally/summaries/version.hpp"

namespace tally {

/// What a directory's followers do not know yet.
struct TALLY_EXPORT PendingChanges {
  std::uint64_t num_keys = 0;           ///< keys in the directory now
  std::uint64_t num_inserted = 0;       ///< since the last version
  std::uint64_t num_removed = 0;        ///< since the last version
  std::uint64_t num_changed_units = 0;  ///< bits that differ from the last version; for cells an upper bound
  std::uint64_t num_units = 0;
  std::uint32_t unit_bits = 1;

  bool any() const noexcept { return num_inserted != 0 || num_removed != 0; }

  /// The approximate length of a delta: log2(e m / c) bits for each of c changes among m units, and a cell's
  /// value.
  std::uint64_t estimated_bytes() const noexcept;
};

/// When to publish: as soon as one of three limits is reached. A limit that is not set is never reached.
/// theory/summary_cache.hpp computes the cost in stale answers and in bytes per second.
struct TALLY_EXPORT SendPolicy {
  /// Keys inserted, or removed, as a share of the keys in the directory: 0 (every change) or more.
  double share_of_new_keys = 0.01;
  /// Time since the last version, if anything changed.
  std::chrono::microseconds interval = std::chrono::microseconds::max();
  /// Estimated length of the delta.
  std::uint64_t num_bytes = ~std::uint64_t{0};

  /// Throws std::invalid_argument for a share that is negative or NaN, or an interval or a length that is not
  /// above 0.
  void check() const;

  bool is_due(const PendingChanges& pending, std::chrono::microseconds since_last_version) const noexcept;
};

}  // namespace tally
