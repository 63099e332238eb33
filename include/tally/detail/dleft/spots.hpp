#pragma once

#include <array>
#include <cstdint>

#include "tally/hashing/bucket_scheme.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/shapes/dleft.hpp"

namespace tally::detail {

/// Where a key may be in one subtable of 16-bit cells: the first cell of its bucket, and its remainder there.
struct DLeftSpot {
  std::uint16_t* cells;
  std::uint64_t remainder;
};

/// Finds the spots of keys. It has its own copies of all the numbers it needs, so that writes to its output
/// cannot change them. It stays valid until the buckets of its table are split.
template <BucketScheme Scheme>
class DLeftSpotFinder {
 public:
  DLeftSpotFinder(const DLeftShape& shape, const Scheme& scheme)
      : parts_(shape.fingerprint_space()),
        scheme_(scheme),
        counter_shift_(shape.remainder_bits),
        remainder_bits_(shape.current_remainder_bits()),
        num_doublings_(shape.num_doublings),
        remainder_mask_((std::uint64_t{1} << remainder_bits_) - 1),
        buckets_per_subtable_(shape.current_buckets_per_subtable()) {}

  /// Writes a key's spots in a table with these words. The numbers may be constants, which gives better code.
  template <class NumCells, class NumSubtables>
  void find(Hash128 hash, const std::uint64_t* words, NumCells cells_per_bucket, NumSubtables num_subtables,
            DLeftSpot* spots) const noexcept {
    auto* subtable = const_cast<std::uint16_t*>(reinterpret_cast<const std::uint16_t*>(words));
    const std::uint64_t stride = buckets_per_subtable_ * cells_per_bucket;
    if constexpr (requires { scheme_.bucket(0u, stride, stride); }) {
      const std::uint64_t first_bucket = parts_.bucket(hash);
      const std::uint64_t whole_remainder = parts_.remainder(hash);
      const std::uint64_t moved_bits = whole_remainder >> remainder_bits_;
      const std::uint64_t remainder = whole_remainder & remainder_mask_;
      for (std::uint32_t j = 0; j < num_subtables; ++j, subtable += stride) {
        const std::uint64_t bucket = scheme_.bucket(j, first_bucket, whole_remainder);
        spots[j] = {subtable + (bucket << num_doublings_ | moved_bits) * cells_per_bucket, remainder};
      }
    } else {
      std::array<std::uint64_t, max_num_subtables> images;
      scheme_.all_images(parts_.bucket(hash) << counter_shift_ | parts_.remainder(hash), num_subtables,
                         images.data());
      for (std::uint32_t j = 0; j < num_subtables; ++j, subtable += stride) {
        spots[j] = {subtable + (images[j] >> remainder_bits_) * cells_per_bucket,
                    images[j] & remainder_mask_};
      }
    }
  }

  const Scheme& scheme() const noexcept { return scheme_; }
  std::uint64_t buckets_per_subtable() const noexcept { return buckets_per_subtable_; }
  std::uint32_t remainder_bits() const noexcept { return remainder_bits_; }  ///< the current number
  std::uint64_t remainder_mask() const noexcept { return remainder_mask_; }
  std::uint32_t counter_shift() const noexcept { return counter_shift_; }

 private:
  FingerprintParts parts_;
  Scheme scheme_;
  std::uint32_t counter_shift_;  // the remainder_bits of the shape
  std::uint32_t remainder_bits_;
  std::uint32_t num_doublings_;
  std::uint64_t remainder_mask_;
  std::uint64_t buckets_per_subtable_;
};

}  // namespace tally::detail
