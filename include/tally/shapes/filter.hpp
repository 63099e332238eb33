#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "tally/hashing/scheme_list.hpp"
#include "tally/shapes/bloom.hpp"
#include "tally/shapes/count_min.hpp"
#include "tally/shapes/counting_bloom.hpp"
#include "tally/shapes/dleft.hpp"
#include "tally/shapes/filter_kind.hpp"
#include "tally/shapes/threshold.hpp"

namespace tally {

/// The shape of a structure of any kind: what makes it, but for the hasher.
///
/// The blocked scheme goes with a BloomShape only, and makes the kind blocked_bloom. A DLeftShape needs one
/// of BucketSchemes, a CountMinShape one of RowSchemes, which go with no other.
struct FilterShape {
  std::variant<BloomShape, CountingBloomShape, ThresholdShape, DLeftShape, CountMinShape> shape;
  std::uint16_t scheme_id = DefaultScheme::file_id;

  FilterKind kind() const noexcept;

  /// Throws std::invalid_argument for an id that no scheme has.
  std::string_view scheme_name() const;

  /// Bits of a Bloom filter, counters of the others; cells of a d-left filter, as many as it has now.
  std::uint64_t num_positions() const noexcept;

  /// Positions a key has; subtables of a d-left filter, rows of a sketch.
  std::uint32_t num_hashes() const noexcept;

  /// Bits a count has: 1 in a Bloom filter; in a d-left filter perhaps 0, for cells that count to 1. A
  /// threshold out of range gives no sensible number.
  std::uint32_t counter_bits() const noexcept;

  /// The largest theta it can be asked for: 0 for Bloom filters, 2^64 - 1 for d-left filters, what a counter can
  /// hold for sketches.
  std::uint64_t threshold() const noexcept;

  /// Bytes of memory, and of a file's body. Throws std::invalid_argument where counter_bits is not a width.
  std::uint64_t num_bytes() const;

  friend bool operator==(const FilterShape&, const FilterShape&) = default;
};

/// Throws std::invalid_argument, naming the structure and its field, for a shape that no filter can have.
void check_shape(const FilterShape& shape);

/// The same with the nearest number of positions (of a d-left filter: buckets; of a sketch: counters a row), not
/// above or not below, that the scheme can use.
/// Throws std::invalid_argument for a shape out of range, and where there is no such number.
FilterShape round_to_scheme(FilterShape shape, Rounding rounding);

}  // namespace tally
