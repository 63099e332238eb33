#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tally/detail/format_error.hpp"
#include "tally/storage/bit_array.hpp"
#include "tally/summaries/squid/key.hpp"
#include "tally/summaries/squid/shape.hpp"

namespace tally {

/// A cache digest of Squid (docs/squid.md): a Bloom filter with four positions a key, cut from an MD5.
///
/// Law: `may_contain` is true for every key inserted. What Squid itself leaves out of its digest is not in
/// it (docs/squid.md). Bits cannot be taken back: `CountingSquidDigest` can.
/// Thread rule: reads (const functions) may run together, a write runs alone.
class SquidDigest {
 public:
  /// Bytes before the bits.
  static constexpr std::uint64_t header_bytes = 128;
  /// The version that is written, and the oldest reader that such bytes are good for.
  static constexpr std::uint16_t version = 5;
  static constexpr std::uint16_t required_version = 3;

  /// What a digest says of its past. Squid's count is of insertions.
  struct Totals {
    std::uint32_t count = 0;      ///< keys in it
    std::uint32_t del_count = 0;  ///< keys removed whose bits may still be set
    friend bool operator==(const Totals&, const Totals&) = default;
  };

  /// Empty. Throws std::invalid_argument for a shape out of range, std::bad_alloc where there is not
  /// enough memory.
  explicit SquidDigest(const SquidShape& shape);

  /// With these bits, shape.num_bits() of them, and totals below 2^31; throws std::invalid_argument for
  /// others.
  SquidDigest(const SquidShape& shape, const Totals& totals, BitArray bits);

  SquidDigest(const SquidDigest&) = default;
  SquidDigest(SquidDigest&&) noexcept = default;
  SquidDigest& operator=(const SquidDigest& other) { return *this = SquidDigest(other); }
  SquidDigest& operator=(SquidDigest&&) noexcept = default;
  ~SquidDigest() = default;

  /// Reads what Squid sends. Everything is checked before anything is allocated; throws FormatError.
  static SquidDigest from_bytes(std::span<const std::byte> bytes);
  /// header_bytes + shape().num_bytes() of them.
  std::vector<std::byte> to_bytes() const;

  /// False if all of its bits were set: the key was in the digest, or passes as if it were.
  bool insert(const SquidKey& key) noexcept;
  bool may_contain(const SquidKey& key) const noexcept;

  const SquidShape& shape() const noexcept { return shape_; }
  const Totals& totals() const noexcept { return totals_; }
  const BitArray& bits() const noexcept { return bits_; }

  /// The share of bits that are set.
  double fill_ratio() const noexcept;
  /// The probability that a key with a random MD5 passes these very bits: the share w of the 2^32 words that
  /// fall on a set bit, to the power of 4. Positions below 2^32 mod num_bits have one word more than the
  /// others, and count so. Exact but for an opponent who chooses URLs: MD5 keeps no secret.
  double estimated_false_positive_rate() const noexcept;

  friend bool operator==(const SquidDigest& a, const SquidDigest& b);

 private:
  SquidShape shape_;
  Totals totals_;
  BitArray bits_;
};

}  // namespace tally
