#pragma once

#include <array>

#include "tally/hashing/bucket_scheme.hpp"
#include "tally/hashing/mix64.hpp"

namespace tally {

/// P_i(b, r) = ((b + g_i(r)) mod B, r): a bijection for every function g_i and any number of buckets, with
/// the same remainder in every subtable.
///
/// g_0 = 0; g_i(r) = floor(B ((r + offset) a_i mod 2^64) / 2^64) with odd a_i and an offset derived from the
/// seed. These are multiples of a fraction near the golden section, so that remainders are spread evenly over
/// the rotations. The production scheme.
class RotationBuckets {
 public:
  static constexpr std::string_view name = "rotation";
  static constexpr std::uint16_t file_id = 16;

  static std::uint64_t round_buckets(std::uint64_t num_buckets, Rounding) noexcept { return num_buckets; }

  RotationBuckets(const FingerprintSpace& space, std::uint64_t seed) noexcept
      : num_buckets_(space.num_buckets),
        remainder_bits_(space.remainder_bits),
        remainder_mask_((std::uint64_t{1} << space.remainder_bits) - 1),
        offset_(mix64(seed)) {}

  std::uint64_t image(std::uint32_t i, std::uint64_t fingerprint) const noexcept {
    const std::uint64_t remainder = fingerprint & remainder_mask_;
    return rotated(fingerprint >> remainder_bits_, rotation(i, remainder), remainder);
  }

  void all_images(std::uint64_t fingerprint, std::uint32_t num_subtables,
                  std::uint64_t* images) const noexcept {
    const std::uint64_t remainder = fingerprint & remainder_mask_;
    const std::uint64_t bucket = fingerprint >> remainder_bits_;
    images[0] = fingerprint;
    for (std::uint32_t i = 1; i < num_subtables; ++i) {
      images[i] = rotated(bucket, rotation(i, remainder), remainder);
    }
  }

  /// The bucket of P_i(bucket, remainder), for callers that keep the two apart.
  std::uint64_t image_bucket(std::uint32_t i, std::uint64_t bucket, std::uint64_t remainder) const noexcept {
    const std::uint64_t sum = bucket + rotation(i, remainder);
    return sum - (sum >= num_buckets_ ? num_buckets_ : 0);
  }

  std::uint64_t fingerprint(std::uint32_t i, std::uint64_t image) const noexcept {
    const std::uint64_t remainder = image & remainder_mask_;
    const std::uint64_t by = rotation(i, remainder);
    return rotated(image >> remainder_bits_, by == 0 ? 0 : num_buckets_ - by, remainder);
  }

 private:
  static constexpr std::array<std::uint64_t, max_num_subtables> multipliers = {0,
                                                                               0x9e3779b97f4a7c15u,
                                                                               0xd1342543de82ef95u,
                                                                               0xaf251af3b0f025b5u,
                                                                               0xb564ef22ec7aece5u,
                                                                               0xf7c2ebc08f67f2b5u,
                                                                               0xbf58476d1ce4e5b9u,
                                                                               0x94d049bb133111ebu};

  std::uint64_t rotation(std::uint32_t i, std::uint64_t remainder) const noexcept {
    return reduce_to_range((remainder + offset_) * multipliers[i], num_buckets_);
  }
  std::uint64_t rotated(std::uint64_t bucket, std::uint64_t by, std::uint64_t remainder) const noexcept {
    std::uint64_t sum = bucket + by;
    sum -= sum >= num_buckets_ ? num_buckets_ : 0;
    return sum << remainder_bits_ | remainder;
  }

  std::uint64_t num_buckets_;
  std::uint32_t remainder_bits_;
  std::uint64_t remainder_mask_;
  std::uint64_t offset_;
};

}  // namespace tally
