#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <vector>

#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/hashing/mix64.hpp"
#include "tally/hashing/multiplier_buckets.hpp"
#include "tally/hashing/rotation_buckets.hpp"

namespace tally::test {

/// The paper's first construction, which is flawed: a bucket in every subtable by a hash of its own, and one remainder.
/// Its images are no bijections, so there is no way back from them.
class IndependentBuckets {
 public:
  static constexpr std::string_view name = "independent";
  static constexpr std::uint16_t file_id = 0;
  static std::uint64_t round_buckets(std::uint64_t num_buckets, Rounding) noexcept { return num_buckets; }

  IndependentBuckets(const FingerprintSpace& space, std::uint64_t seed) noexcept
      : space_(space), seed_(seed) {}

  std::uint64_t image(std::uint32_t i, std::uint64_t fingerprint) const noexcept {
    const std::uint64_t remainder = fingerprint & ((std::uint64_t{1} << space_.remainder_bits) - 1);
    const std::uint64_t bucket =
        reduce_to_range(mix64(fingerprint + seed_ + i * 0x9e3779b97f4a7c15u), space_.num_buckets);
    return bucket << space_.remainder_bits | remainder;
  }
  void all_images(std::uint64_t fingerprint, std::uint32_t num_subtables,
                  std::uint64_t* images) const noexcept {
    for (std::uint32_t i = 0; i < num_subtables; ++i) images[i] = image(i, fingerprint);
  }
  std::uint64_t fingerprint(std::uint32_t, std::uint64_t image) const noexcept { return image; }

 private:
  FingerprintSpace space_;
  std::uint64_t seed_;
};

/// The multiset of fingerprints that a filter should hold, counted exactly.
using ExactFingerprints = std::map<std::uint64_t, std::uint64_t>;

template <class Filter>
ExactFingerprints fingerprints_of(const Filter& filter) {
  ExactFingerprints counts;
  filter.for_each_fingerprint(
      [&](std::uint64_t fingerprint, std::uint64_t count) { counts[fingerprint] += count; });
  return counts;
}

template <class Filter>
std::vector<std::uint64_t> cells_of(const Filter& filter) {
  return {filter.table().cells().words().begin(), filter.table().cells().words().end()};
}

/// In how many of its buckets the fingerprint has a cell, counting every cell.
template <class Filter>
int num_cells_of(const Filter& filter, std::uint64_t fingerprint) {
  const DLeftShape& shape = filter.shape();
  const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << shape.current_remainder_bits()) - 1);
  int count = 0;
  for (std::uint32_t i = 0; i < shape.num_subtables; ++i) {
    const std::uint64_t image = filter.table().scheme().image(i, fingerprint);
    const auto remainder = static_cast<std::uint32_t>(image) & mask;
    count += std::popcount(
        filter.table().cells().cells_equal(filter.table().bucket_of(i, image), mask, remainder));
  }
  return count;
}

/// Small tables of every cell width, where keys share fingerprints all the time.
inline std::vector<DLeftShape> small_dleft_shapes() {
  std::vector<DLeftShape> shapes;
  const auto add = [&](std::uint64_t buckets, std::uint32_t d, std::uint32_t c, std::uint32_t r,
                       std::uint32_t counter, std::uint32_t least, std::uint64_t spills = 1000,
                       DLeftMoves moves = DLeftMoves::search) {
    shapes.push_back({.buckets_per_subtable = buckets,
                      .num_subtables = d,
                      .cells_per_bucket = c,
                      .remainder_bits = r,
                      .counter_bits = counter,
                      .least_remainder_bits = least,
                      .spill_capacity = spills,
                      .moves = moves});
  };
  add(16, 4, 8, 6, 2, 6);
  add(16, 4, 8, 14, 2, 10);
  add(8, 2, 32, 14, 2, 12);
  add(8, 3, 16, 13, 3, 9);
  add(16, 2, 8, 12, 4, 12);
  add(4, 8, 5, 8, 0, 8);
  add(64, 1, 7, 12, 0, 8);
  add(16, 2, 64, 5, 3, 5);
  add(32, 3, 4, 9, 3, 6);
  add(1, 2, 9, 10, 2, 4);
  add(16, 4, 8, 16, 0, 10);
  add(32, 4, 6, 22, 2, 14);
  add(16, 4, 8, 32, 0, 20);
  add(16, 4, 8, 29, 3, 25);
  add(16, 4, 8, 6, 2, 6, 0);
  add(16, 4, 8, 14, 2, 10, 3, DLeftMoves::first_subtable);
  add(16, 4, 8, 14, 2, 10, 3, DLeftMoves::none);
  return shapes;
}

}  // namespace tally::test
