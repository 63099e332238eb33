#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "tally/export.hpp"
#include "tally/hashing/congruential_scheme.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/shapes/blocked_bloom.hpp"
#include "tally/shapes/bloom.hpp"
#include "tally/shapes/counting_bloom.hpp"
#include "tally/shapes/dleft.hpp"

namespace tally {

/// What the units of a summary mean: bits of a Bloom filter, or cells of a d-left filter. A BloomShape stands for the bits of
/// any scheme, the blocked one too.
///
/// The copies of nodes with the same layout can be queried with one set of positions, and a delta exists only
/// between two versions of the same layout. Make a layout with layout_of, which leaves out the fields of a
/// DLeftShape that do not affect the cells (spill_capacity, moves, grows).
struct TALLY_EXPORT SummaryLayout {
  std::variant<BloomShape, DLeftShape> shape;
  std::uint16_t scheme_id = DefaultScheme::file_id;  ///< of AllSchemes, or of BucketSchemes for cells
  HashId hash_id = HashId::xxh3_128;
  std::uint64_t seed_or_key_id = 0;

  bool has_cells() const noexcept { return std::holds_alternative<DLeftShape>(shape); }

  /// The number of bits or cells.
  std::uint64_t num_units() const noexcept;
  /// Bits per unit: 1, or those of a cell.
  std::uint32_t unit_bits() const noexcept;
  /// Positions per key, or buckets that may hold its cell.
  std::uint32_t num_hashes() const noexcept;
  /// The number of 64-bit words that hold the units.
  std::uint64_t num_words() const noexcept;
  std::uint64_t num_bytes() const noexcept { return 8 * num_words(); }

  /// Throws std::invalid_argument for an id that no scheme has.
  std::string_view scheme_name() const;

  friend bool operator==(const SummaryLayout&, const SummaryLayout&) = default;
};

TALLY_EXPORT SummaryLayout layout_of(const BloomShape& shape, std::uint16_t scheme_id,
                                     const KeyHasher& hasher);
TALLY_EXPORT SummaryLayout layout_of(const BlockedBloomShape& shape, std::uint16_t scheme_id,
                                     const KeyHasher& hasher);
/// The layout of the bits that tell which counters are above 0.
TALLY_EXPORT SummaryLayout layout_of(const CountingBloomShape& shape, std::uint16_t scheme_id,
                                     const KeyHasher& hasher);
TALLY_EXPORT SummaryLayout layout_of(const DLeftShape& shape, std::uint16_t scheme_id,
                                     const KeyHasher& hasher);

/// Throws std::invalid_argument, naming the field, for a layout that no filter can have.
TALLY_EXPORT void check_layout(const SummaryLayout& layout);

}  // namespace tally
