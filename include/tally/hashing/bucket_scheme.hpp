#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "tally/hashing/hash128.hpp"
#include "tally/hashing/hash_scheme.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally {

inline constexpr std::uint32_t max_num_subtables = 8;
inline constexpr std::uint64_t max_num_buckets = std::uint64_t{1} << 40;
inline constexpr std::uint32_t max_remainder_bits = 32;

/// The fingerprints of a d-left filter: [num_buckets] x [2^remainder_bits], as a number bucket <<
/// remainder_bits | remainder. The low `least_remainder_bits` of a remainder are never all 0. So an empty
/// cell differs from every used one, even when all higher bits have become bits of the bucket.
struct FingerprintSpace {
  std::uint64_t num_buckets = 0;  ///< B, of one subtable; 1 to 2^40
  std::uint32_t remainder_bits = 0;
  std::uint32_t least_remainder_bits = 0;  ///< 1 to remainder_bits

  /// The number of possible remainders: R of the formulas.
  std::uint64_t num_remainders() const noexcept {
    const std::uint64_t one = 1;
    return (one << remainder_bits) - (one << (remainder_bits - least_remainder_bits));
  }
  double num_fingerprints() const noexcept {
    return static_cast<double>(num_buckets) * static_cast<double>(num_remainders());
  }

  /// The fingerprint H(x) of a key, uniform up to 2^-22: the bucket from the digest's low half, the remainder
  /// from its high half.
  std::uint64_t fingerprint_of(Hash128 hash) const noexcept;

  friend bool operator==(const FingerprintSpace&, const FingerprintSpace&) = default;
};

/// The parts of a key's fingerprint, by numbers that depend on the space only.
class FingerprintParts {
 public:
  explicit FingerprintParts(const FingerprintSpace& space) noexcept
      : num_buckets_(space.num_buckets),
        low_range_((std::uint64_t{1} << space.least_remainder_bits) - 1),
        low_bits_(space.least_remainder_bits),
        high_bits_(space.remainder_bits - space.least_remainder_bits) {}

  std::uint64_t bucket(Hash128 hash) const noexcept { return reduce_to_range(hash.low, num_buckets_); }
  std::uint64_t remainder(Hash128 hash) const noexcept {
    const std::uint64_t low = 1 + reduce_to_range(hash.high << high_bits_, low_range_);
    return low | (hash.high >> 1 >> (63 - high_bits_)) << low_bits_;
  }

 private:
  std::uint64_t num_buckets_;
  std::uint64_t low_range_;
  std::uint32_t low_bits_;
  std::uint32_t high_bits_;
};

inline std::uint64_t FingerprintSpace::fingerprint_of(Hash128 hash) const noexcept {
  const FingerprintParts parts(*this);
  return parts.bucket(hash) << remainder_bits | parts.remainder(hash);
}

/// A BucketScheme maps every fingerprint to a bucket and remainder in each of d subtables: d bijections P_0 to P_(d-1) of the
/// fingerprint space, determined by the space and a seed.
///
/// `image(i, f)` is P_i(f), again bucket << remainder_bits | remainder, with the low bits of the remainder
/// not all 0. `fingerprint(i, image)` is the inverse. `all_images(f, d, images)` writes the first d. A scheme whose
/// images all have the same remainder may have a function `bucket(i, bucket, remainder)` that returns their buckets.
/// Bijections matter: with independent hashes, a removal could find two cells that may belong to the key
/// (Bonomi et al. 2006, Section 3.2). In a table that was doubled s times, the bucket is the high bits of
/// P_i(f), all except remainder_bits - s of them. `round_buckets` returns the nearest number of buckets, not above or not
/// below the given one, for which the scheme has bijections; 1 to 2^40 buckets always have one. Files store `file_id`,
/// which is never reused and is 16 or more: the numbers below belong to hash schemes.
template <class S>
concept BucketScheme = std::constructible_from<S, FingerprintSpace, std::uint64_t> &&
    requires(const S scheme, FingerprintSpace space, std::uint32_t i, std::uint64_t f,
             std::uint64_t* images) {
  { S::name } -> std::convertible_to<std::string_view>;
  { S::file_id } -> std::convertible_to<std::uint16_t>;
  { S::round_buckets(std::uint64_t{}, Rounding::up) }
  noexcept->std::same_as<std::uint64_t>;
  { scheme.image(i, f) }
  noexcept->std::same_as<std::uint64_t>;
  { scheme.fingerprint(i, f) }
  noexcept->std::same_as<std::uint64_t>;
  { scheme.all_images(f, i, images) }
  noexcept;
};

}  // namespace tally
