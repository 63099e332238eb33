#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/export.hpp"
#include "tally/hashing/hash128.hpp"

namespace tally {

struct FileHeader;

namespace detail {

/// XXH3-64 with seed 0 of several pieces, one after the other.
class Checksum {
 public:
  Checksum() noexcept { XXH3_64bits_reset(&state_); }
  void add(std::span<const std::byte> piece) noexcept {
    XXH3_64bits_update(&state_, piece.data(), piece.size());
  }
  std::uint64_t value() const noexcept { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_;
};

/// The units of a body (cells, lines or words) that have been checked, in order. A bad one stops the check.
struct CheckedUnits {
  std::uint64_t num_good = 0;
  std::uint64_t num_fingerprints = 0;  ///< in the good ones
};

/// How far a side table has been checked: up to the last free slot of those that arrived.
struct CheckedSideTable {
  static constexpr std::uint64_t no_slot = ~std::uint64_t{0};

  std::uint64_t num_slots = 0;  ///< that were looked at
  std::uint64_t run_begin = 0;  ///< of the slots in use before them that no check has reached
  std::uint64_t first_free = no_slot;
  std::uint64_t num_entries = 0;
  std::uint64_t total = 0;  ///< of their counts
  bool has_stopped = false;
};

/// A filter's body: its side table need not follow the rest in memory.
struct BodyBytes {
  std::span<const std::byte> main;
  std::span<const std::byte> side;
};

/// Checks a body while its bytes arrive, so that little is left to check with the last of them. What is wrong is thrown
/// at the end, in the same order for every size of the pieces.
class TALLY_EXPORT BodyCheck {
 public:
  /// The next bytes of the body, `piece`, which are in their place in it and end with number `end`, counted from 1. Only
  /// they and what was there before them are read.
  void add(const FileHeader& header, std::span<const std::byte> piece, const BodyBytes& body,
           std::uint64_t end) noexcept;
  /// Once all of it has arrived. Throws FormatError unless the checksum matches, the unused bits are 0 and a filter can have
  /// written the cells, and std::bad_alloc.
  void finish(const FileHeader& header, const BodyBytes& body) const;

 private:
  Checksum checksum_;
  CheckedUnits units_;
  CheckedSideTable side_table_;
};

}  // namespace detail
}  // namespace tally
