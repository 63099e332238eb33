#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "tally/export.hpp"
#include "tally/hashing/congruential_scheme.hpp"
#include "tally/shapes/blocked_bloom.hpp"
#include "tally/shapes/blocked_counting_bloom.hpp"
#include "tally/shapes/bloom.hpp"
#include "tally/shapes/compact_dleft.hpp"
#include "tally/shapes/count_min.hpp"
#include "tally/shapes/counting_bloom.hpp"
#include "tally/shapes/dleft.hpp"
#include "tally/shapes/filter_kind.hpp"
#include "tally/shapes/threshold.hpp"

namespace tally {

/// The shape of a structure of any kind: everything that defines it except the hasher.
///
/// A BlockedBloomShape needs one of LineSchemes, a BlockedCountingBloomShape the blocked scheme, a DLeftShape one of
/// BucketSchemes, a CompactDLeftShape the rotation scheme and a CountMinShape one of RowSchemes; no other shape can use
/// these.
struct TALLY_EXPORT FilterShape {
  std::variant<BloomShape, BlockedBloomShape, CountingBloomShape, ThresholdShape, DLeftShape, CountMinShape,
               CompactDLeftShape, BlockedCountingBloomShape>
      shape;
  std::uint16_t scheme_id = DefaultScheme::file_id;

  FilterKind kind() const noexcept;

  /// Throws std::invalid_argument for an id that no scheme has.
  std::string_view scheme_name() const;

  /// Bits of a Bloom filter, counters of the others; for a d-left filter the current number of cells, as for a compact
  /// one.
  std::uint64_t num_positions() const noexcept;

  /// Positions per key; subtables of a d-left filter, rows of a sketch.
  std::uint32_t num_hashes() const noexcept;

  /// Bits per count: 1 in a Bloom filter; in a d-left filter possibly 0, for cells that count to 1, and in a compact
  /// one always. The result for a threshold out of range is meaningless.
  std::uint32_t counter_bits() const noexcept;

  /// The theta that the structure was made for: the threshold of a threshold filter, or the largest theta that
  /// queries of a counting Bloom filter, blocked or not, use. Nothing for other kinds.
  std::optional<std::uint64_t> made_for_theta() const noexcept;

  /// The largest theta that at_least can answer: the one that the structure was made for; for sketches the maximum of a
  /// counter; for d-left filters, which have no largest count, 2^64 - 1; 0 for kinds that do not count.
  std::uint64_t largest_theta() const noexcept;

  /// Bytes of memory, and of a file's body. Throws std::invalid_argument if counter_bits is not a valid
  /// width.
  std::uint64_t num_bytes() const;

  /// The part of num_bytes() that is a d-left filter's side table; 0 for other kinds.
  std::uint64_t side_bytes() const noexcept;

  /// What num_bytes() will be once the structure has doubled: exactly, for a d-left filter whose remainders have a bit to
  /// spare; nothing for the others, which cannot grow. While it grows, a filter also holds its old cells, so it takes up to
  /// num_bytes() more than this.
  std::optional<std::uint64_t> bytes_after_growth() const;

  friend bool operator==(const FilterShape&, const FilterShape&) = default;
};

/// The shape of a Bloom filter with any of AllSchemes: a BlockedBloomShape for LineSchemes, else a BloomShape.
TALLY_EXPORT FilterShape bloom_filter_shape(std::uint64_t num_bits, std::uint32_t num_hashes,
                                            std::uint16_t scheme_id) noexcept;

/// The type of a structure's shape: DLeftShape for a d-left filter with any scheme.
template <class Filter>
using ShapeOf = std::remove_cvref_t<decltype(std::declval<const Filter&>().shape())>;

/// Throws std::invalid_argument, naming the structure and its field, for a shape that no filter can have.
TALLY_EXPORT void check_shape(const FilterShape& shape);

/// The same shape with the nearest number of positions (d-left filter: buckets; sketch: counters per row) that the
/// scheme can use, rounded down or up. The number of hashes is always rounded up. Throws std::invalid_argument for a
/// shape out of range, or if there is no such number.
TALLY_EXPORT FilterShape round_to_scheme(FilterShape shape, Rounding rounding);

}  // namespace tally
