#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "tally/hashing/congruential_scheme.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/shapes/bloom.hpp"
#include "tally/shapes/counting_bloom.hpp"
#include "tally/shapes/dleft.hpp"

namespace tally {

/// What the units of a summary mean: bits of a Bloom filter, or cells of a d-left filter.
///
/// Two nodes of one layout can be asked with one set of positions, and only between two versions of one layout is
/// there a delta. Make it with layout_of: of a DLeftShape, what says nothing of the cells (spill_capacity,
/// moves, grows) is left out.
struct SummaryLayout {
  std::variant<BloomShape, DLeftShape> shape;
  std::uint16_t scheme_id = DefaultScheme::file_id;  ///< of AllSchemes, or of BucketSchemes for cells
  HashId hash_id = HashId::xxh3_128;
  std::uint64_t seed_or_key_id = 0;

  bool has_cells() const noexcept { return std::holds_alternative<DLeftShape>(shape); }

  /// Bits or cells.
  std::uint64_t num_units() const noexcept;
  /// Bits of a unit: 1, or those of a cell.
  std::uint32_t unit_bits() const noexcept;
  /// Positions of a key; buckets that may hold its cell.
  std::uint32_t num_hashes() const noexcept;
  /// 64-bit words that hold the units.
  std::uint64_t num_words() const noexcept;
  std::uint64_t num_bytes() const noexcept { return 8 * num_words(); }

  /// Throws std::invalid_argument for an id that no scheme has.
  std::string_view scheme_name() const;

  friend bool operator==(const SummaryLayout&, const SummaryLayout&) = default;
};

SummaryLayout layout_of(const BloomShape& shape, std::uint16_t scheme_id, const KeyHasher& hasher);
/// Of the bits that say which counters are above 0.
SummaryLayout layout_of(const CountingBloomShape& shape, std::uint16_t scheme_id, const KeyHasher& hasher);
SummaryLayout layout_of(const DLeftShape& shape, std::uint16_t scheme_id, const KeyHasher& hasher);

/// Throws std::invalid_argument, naming the field, for a layout that no filter can have.
void check_layout(const SummaryLayout& layout);

}  // namespace tally
