#pragma once

#include <array>
#include <bit>

#include "tally/hashing/bucket_scheme.hpp"
#include "tally/hashing/mix64.hpp"

namespace tally {

/// P_i(f) = a_i f mod 2^q with a_i odd: the permutations of the paper, for 2^q = B 2^remainder_bits, B a
/// power of two. The high bits are the bucket. The low bits of a_i f depend only on the low bits of f; as
/// bucket indices they would choose the same groups of buckets again and again. The multipliers are derived
/// from the seed.
/// Source: Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese 2006, Section 3.3.
class MultiplierBuckets {
 public:
  static constexpr std::string_view name = "multiplier";
  static constexpr std::uint16_t file_id = 17;

  static std::uint64_t round_buckets(std::uint64_t num_buckets, Rounding rounding) noexcept {
    return rounding == Rounding::up ? std::bit_ceil(num_buckets) : std::bit_floor(num_buckets);
  }

  MultiplierBuckets(const FingerprintSpace& space, std::uint64_t seed) noexcept
      : mask_((space.num_buckets << space.remainder_bits) - 1) {
    for (std::uint32_t i = 0; i < max_num_subtables; ++i) {
      multipliers_[i] = mix64(mix64(seed) + i) | 1;
      inverses_[i] = inverse(multipliers_[i]);
    }
  }

  std::uint64_t image(std::uint32_t i, std::uint64_t fingerprint) const noexcept {
    return fingerprint * multipliers_[i] & mask_;
  }
  void all_images(std::uint64_t fingerprint, std::uint32_t num_subtables,
                  std::uint64_t* images) const noexcept {
    for (std::uint32_t i = 0; i < num_subtables; ++i) images[i] = image(i, fingerprint);
  }
  std::uint64_t fingerprint(std::uint32_t i, std::uint64_t image) const noexcept {
    return image * inverses_[i] & mask_;
  }

 private:
  /// Modulo 2^64, by Newton's iteration: each step doubles the number of correct bits, starting with 3.
  static constexpr std::uint64_t inverse(std::uint64_t odd) noexcept {
    std::uint64_t x = odd;
    for (int step = 0; step < 5; ++step) x *= 2 - odd * x;
    return x;
  }

  std::array<std::uint64_t, max_num_subtables> multipliers_;
  std::array<std::uint64_t, max_num_subtables> inverses_;
  std::uint64_t mask_;
};

}  // namespace tally
