#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tally/detail/format_error.hpp"
#include "tally/export.hpp"
#include "tally/storage/bit_array.hpp"
#include "tally/summaries/squid/key.hpp"
#include "tally/summaries/squid/shape.hpp"

namespace tally {

/// A cache digest of Squid (docs/squid.md): a Bloom filter with four positions per key, taken from an MD5.
///
/// Guarantee: `may_contain` is true for every key inserted. What Squid itself leaves out of its digest is not
/// in it (docs/squid.md). Keys cannot be removed; `CountingSquidDigest` supports that.
/// Threads: const functions may run concurrently; a write needs exclusive access.
class TALLY_EXPORT SquidDigest {
 public:
  /// Bytes before the bits.
  static constexpr std::uint64_t header_bytes = 128;
  /// The version that is written, and the oldest reader that can read it.
  static constexpr std::uint16_t version = 5;
  static constexpr std::uint16_t required_version = 3;

  /// The totals that a digest contains. Squid's count is the number of insertions.
  struct Totals {
    std::uint32_t count = 0;      ///< keys in it
    std::uint32_t del_count = 0;  ///< keys removed whose bits may still be set
    friend bool operator==(const Totals&, const Totals&) = default;
  };

  /// Empty. Throws std::invalid_argument for a shape out of range, and std::bad_alloc if there is not enough
  /// memory.
  explicit SquidDigest(const SquidShape& shape);

  /// From these bits, shape.num_bits() of them, and totals below 2^31; throws std::invalid_argument
  /// otherwise.
  SquidDigest(const SquidShape& shape, const Totals& totals, BitArray bits);

  SquidDigest(const SquidDigest&) = default;
  SquidDigest(SquidDigest&&) noexcept = default;
  SquidDigest& operator=(const SquidDigest& other) { return *this = SquidDigest(other); }
  SquidDigest& operator=(SquidDigest&&) noexcept = default;
  ~SquidDigest() = default;

  /// Reads a digest that Squid sent. Everything is checked before anything is allocated; throws FormatError.
  static SquidDigest from_bytes(std::span<const std::byte> bytes);
  /// header_bytes + shape().num_bytes() bytes.
  std::vector<std::byte> to_bytes() const;

  /// Returns false if all of the key's bits were already set: the key was in the digest, or is a false
  /// positive.
  bool insert(const SquidKey& key) noexcept;
  [[nodiscard]] bool may_contain(const SquidKey& key) const noexcept;

  const SquidShape& shape() const noexcept { return shape_; }
  const Totals& totals() const noexcept { return totals_; }
  const BitArray& bits() const noexcept { return bits_; }

  /// The share of bits that are set.
  double fill_ratio() const noexcept;
  /// The probability that a key with a random MD5 passes with the current bits: the share w of the 2^32 words
  /// that fall on a set bit, to the power of 4. Positions below 2^32 mod num_bits correspond to one more word
  /// than the others, which is taken into account. Exact, except against an attacker who chooses URLs: MD5
  /// has no secret.
  double estimated_false_positive_rate() const noexcept;

  friend TALLY_EXPORT bool operator==(const SquidDigest& a, const SquidDigest& b);

 private:
  SquidShape shape_;
  Totals totals_;
  BitArray bits_;
};

}  // namespace tally
