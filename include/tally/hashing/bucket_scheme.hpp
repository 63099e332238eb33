#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "tally/hashing/hash128.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally {

inline constexpr std::uint32_t max_num_subtables = 8;
inline constexpr std::uint64_t max_num_buckets = std::uint64_t{1} << 40;
inline constexpr std::uint32_t max_remainder_bits = 32;

/// The fingerprints of a d-left filter: [num_buckets] x [2^remainder_bits], a number
/// bucket << remainder_bits | remainder. The low `least_remainder_bits` of a remainder are
/// never all 0, so that an empty cell can be told from a full one, also when all
/// higher bits have become bits of the bucket.
struct FingerprintSpace {
  std::uint64_t num_buckets = 0;  ///< B, of one subtable; 1 to 2^40
  std::uint32_t remainder_bits = 0;
  std::uint32_t least_remainder_bits = 0;  ///< 1 to remainder_bits

  /// Remainders that are really possible: R of the formulas.
  std::uint64_t num_remainders() const noexcept {
    const std::uint64_t one = 1;
    return (one << remainder_bits) - (one << (remainder_bits - least_remainder_bits));
  }
  double num_fingerprints() const noexcept {
    return static_cast<double>(num_buckets) * static_cast<double>(num_remainders());
  }

  /// The true fingerprint H(x) of a key, uniform up to 2^-22: the bucket from the digest's low half,
  /// the remainder from its high half.
  std::uint64_t fingerprint_of(Hash128 hash) const noexcept {
    const std::uint64_t bucket = reduce_to_range(hash.low, num_buckets);
    const std::uint32_t high_bits = remainder_bits - least_remainder_bits;
    const std::uint64_t high = hash.high >> 1 >> (63 - high_bits);
    const std::uint64_t low =
        1 + reduce_to_range(hash.high << high_bits, (std::uint64_t{1} << least_remainder_bits) - 1);
    return bucket << remainder_bits | high << least_remainder_bits | low;
  }

  friend bool operator==(const FingerprintSpace&, const FingerprintSpace&) = default;
};

/// A BucketScheme gives every fingerprint a place in each of d subtables: d bijections P_0 .. P_(d-1)
/// of the fingerprint space, known by the space and a seed.
///
/// `place(i, f)` is P_i(f), again bucket << remainder_bits | remainder, with the low bits of the
/// remainder not all 0; `fingerprint(i, place)` is the way back. `place_all(f, d, places)` writes
/// the first d. Bijections matter: were places drawn by independent hashes, a remove could find
/// two cells that may be the key's (Bonomi et al. 2006, Section 3.2). A bucket of a table that was
/// doubled s times is a place's high bits, all but remainder_bits - s of them.
/// `can_use(space)` says whether the scheme has bijections of that space. `file_id` stands in files,
/// is never reused and is 16 or more: the numbers below are those of hash schemes.
template <class S>
concept BucketScheme = std::constructible_from<S, FingerprintSpace, std::uint64_t> &&
    requires(const S scheme, FingerprintSpace space, std::uint32_t i, std::uint64_t f,
             std::uint64_t* places) {
  { S::name } -> std::convertible_to<std::string_view>;
  { S::file_id } -> std::convertible_to<std::uint16_t>;
  { S::can_use(space) }
  noexcept->std::same_as<bool>;
  { scheme.place(i, f) }
  noexcept->std::same_as<std::uint64_t>;
  { scheme.fingerprint(i, f) }
  noexcept->std::same_as<std::uint64_t>;
  { scheme.place_all(f, i, places) }
  noexcept;
};

}  // namespace tally
