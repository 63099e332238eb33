#pragma once

#include <array>
#include <cstdint>

#include "tally/detail/prefetch.hpp"
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
/// cannot change them.
template <BucketScheme Scheme>
class DLeftSpotFinder {
 public:
  DLeftSpotFinder(const DLeftShape& shape, const Scheme& scheme, const std::uint64_t* words)
      : space_(shape.fingerprint_space()),
        scheme_(scheme),
        remainder_bits_(shape.current_remainder_bits()),
        remainder_mask_((std::uint64_t{1} << remainder_bits_) - 1),
        buckets_per_subtable_(shape.current_buckets_per_subtable()),
        words_(words) {}

  /// Whether this belongs to the table with these words.
  bool is_of(const std::uint64_t* words) const noexcept { return words_ == words; }

  /// Writes a key's spots and prefetches their buckets. The numbers may be constants, which gives better
  /// code.
  template <class NumCells, class NumSubtables>
  void find(Hash128 hash, NumCells cells_per_bucket, NumSubtables num_subtables,
            DLeftSpot* spots) const noexcept {
    std::array<std::uint64_t, max_num_subtables> images;
    scheme_.all_images(space_.fingerprint_of(hash), num_subtables, images.data());
    auto* subtable = const_cast<std::uint16_t*>(reinterpret_cast<const std::uint16_t*>(words_));
    for (std::uint32_t j = 0; j < num_subtables; ++j, subtable += buckets_per_subtable_ * cells_per_bucket) {
      spots[j] = {subtable + (images[j] >> remainder_bits_) * cells_per_bucket, images[j] & remainder_mask_};
      prefetch_for_read(spots[j].cells);
    }
  }

 private:
  FingerprintSpace space_;
  Scheme scheme_;
  std::uint32_t remainder_bits_;  // the current number
  std::uint64_t remainder_mask_;
  std::uint64_t buckets_per_subtable_;
  const std::uint64_t* words_;
};

}  // namespace tally::detail
