#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "tally/export.hpp"
#include "tally/hashing/bucket_scheme.hpp"

namespace tally {

/// What an insertion tries when every bucket of its fingerprint is full.
enum class DLeftMoves : std::uint8_t {
  none = 0,  ///< nothing: the insertion returns `full`
  first_subtable =
      1,      ///< moves one fingerprint of the bucket in the first subtable (the paper's Section 5.2)
  search = 2  ///< chains of moves, found by a bounded breadth-first search over all choices
};

TALLY_EXPORT std::string_view name_of(DLeftMoves moves) noexcept;

/// DLeftMoves::search visits at most 1024 buckets. In a table of at most this number, all subtables together, it finds
/// room if any chain of moves makes room.
inline constexpr std::uint32_t most_buckets_searched_all = 960;

inline constexpr std::uint32_t max_dleft_counter_bits = 4;
inline constexpr std::uint64_t max_spill_capacity = std::uint64_t{1} << 32;

/// Slots of the side table for this number of fingerprints: a power of two, of which at least a third are free; 0 for
/// 0.
constexpr std::uint64_t num_spill_slots(std::uint64_t spill_capacity) noexcept {
  return spill_capacity == 0 ? 0 : std::bit_ceil(spill_capacity + spill_capacity / 2 + 1);
}

/// The size of a DLeftCountingBloomFilter.
///
/// A cell is a remainder and a counter, together 8, 12, 16, 24 or 32 bits; it counts to 2^counter_bits. A
/// doubling turns one bit of every remainder into a bit of the bucket's index, so the filter can be doubled
/// remainder_bits - least_remainder_bits times.
struct DLeftShape {
  std::uint64_t buckets_per_subtable = 0;   ///< B, before any doubling: 1 to 2^40; what the scheme can use
  std::uint32_t num_subtables = 4;          ///< d: 1 to 8
  std::uint32_t cells_per_bucket = 8;       ///< c: 1 to 64
  std::uint32_t remainder_bits = 14;        ///< r, before any doubling: 1 to 32
  std::uint32_t counter_bits = 2;           ///< 0 to 4
  std::uint32_t least_remainder_bits = 14;  ///< r at the largest size: 1 to remainder_bits
  std::uint32_t num_doublings = 0;          ///< so far: 0 to remainder_bits - least_remainder_bits
  std::uint64_t spill_capacity =
      64;  ///< fingerprints that may have a higher count than a cell can hold: 0 to 2^32
  DLeftMoves moves = DLeftMoves::search;
  /// Whether an insertion that finds no room doubles the filter, if possible and if an eighth of the cells is
  /// in use.
  bool grows = false;

  std::uint32_t cell_bits() const noexcept { return remainder_bits + counter_bits; }
  bool can_double() const noexcept { return remainder_bits - num_doublings > least_remainder_bits; }
  std::uint32_t current_remainder_bits() const noexcept { return remainder_bits - num_doublings; }
  std::uint64_t current_buckets_per_subtable() const noexcept {
    return buckets_per_subtable << num_doublings;
  }
  std::uint64_t num_cells() const noexcept {
    return current_buckets_per_subtable() * num_subtables * cells_per_bucket;
  }
  FingerprintSpace fingerprint_space() const noexcept {
    return {buckets_per_subtable, remainder_bits, least_remainder_bits};
  }

  friend bool operator==(const DLeftShape&, const DLeftShape&) = default;
};

/// Bytes of cells and side table, in memory.
TALLY_EXPORT std::uint64_t num_bytes(const DLeftShape& shape) noexcept;

/// Throws std::invalid_argument that names the field out of range, or products that do not fit.
TALLY_EXPORT void check_shape(const DLeftShape& shape);

namespace detail {
TALLY_EXPORT void check_num_buckets(const DLeftShape& shape, std::string_view scheme,
                                    std::uint64_t usable_below, std::uint64_t usable_above);

/// Throws std::invalid_argument naming the first field that differs and gives keys different fingerprints or
/// cells.
TALLY_EXPORT void require_same_fingerprints(const DLeftShape& mine, const DLeftShape& theirs);
}  // namespace detail

/// The same. Also throws for a number of buckets that the scheme cannot use.
template <BucketScheme Scheme>
void check_shape(const DLeftShape& shape) {
  check_shape(shape);
  detail::check_num_buckets(shape, Scheme::name,
                            Scheme::round_buckets(shape.buckets_per_subtable, Rounding::down),
                            Scheme::round_buckets(shape.buckets_per_subtable, Rounding::up));
}

}  // namespace tally
