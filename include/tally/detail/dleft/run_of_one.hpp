#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "tally/detail/dleft/kernels.hpp"

namespace tally::detail {

/// The operations of DLeftKeyKernels by means of those on runs of keys, for schemes that have no kernels for one key.
/// They take longer, because the spots go through memory.
template <BucketScheme Scheme>
class DLeftRunOfOne {
 public:
  using Finder = DLeftSpotFinder<Scheme>;

  explicit DLeftRunOfOne(const DLeftKernels& kernels) noexcept : kernels_(kernels) {}

  bool contains(const Finder& finder, const std::uint64_t* words, Hash128 digest) const noexcept {
    bool found;
    kernels_.contains(cells_of(finder, 0), spots_of(finder, words, digest).data(), 1, &found);
    return found;
  }
  std::uint32_t count(const Finder& finder, const std::uint64_t* words, Hash128 digest) const noexcept {
    std::uint32_t count;
    kernels_.count(cells_of(finder, 0), spots_of(finder, words, digest).data(), 1, &count);
    return count;
  }
  DLeftDone insert(const Finder& finder, std::uint32_t max_counter, std::uint64_t* words,
                   Hash128 digest) const noexcept {
    std::uint64_t num_new = 0;
    const bool is_done = kernels_.insert(cells_of(finder, max_counter),
                                         spots_of(finder, words, digest).data(), 1, num_new) != 0;
    if (!is_done) return DLeftDone::left_to_table;
    return num_new != 0 ? DLeftDone::cell_changed : DLeftDone::counter_changed;
  }
  DLeftDone remove(const Finder& finder, std::uint32_t max_counter, std::uint64_t* words,
                   Hash128 digest) const noexcept {
    bool removed;
    std::uint64_t num_emptied = 0;
    const bool is_done =
        kernels_.remove(cells_of(finder, max_counter), spots_of(finder, words, digest).data(), 1, &removed,
                        num_emptied) != 0;
    if (!is_done) return DLeftDone::left_to_table;
    if (!removed) return DLeftDone::absent;
    return num_emptied != 0 ? DLeftDone::cell_changed : DLeftDone::counter_changed;
  }

 private:
  using Spots = std::array<DLeftSpot, max_num_subtables>;

  static DLeftCells cells_of(const Finder& finder, std::uint32_t max_counter) noexcept {
    return {finder.remainder_bits(), finder.counter_shift(), max_counter};
  }
  Spots spots_of(const Finder& finder, const std::uint64_t* words, Hash128 digest) const noexcept {
    Spots spots;
    find_spots(kernels_, finder, words, std::span(&digest, 1), spots.data());
    return spots;
  }

  const DLeftKernels& kernels_;
};

/// What has the operations of DLeftKeyKernels for a table with these kernels; if they are null, nothing.
template <BucketScheme Scheme>
auto key_kernels(const DLeftKernels* kernels) noexcept {
  if constexpr (std::is_same_v<Scheme, RotationBuckets>) {
    return kernels == nullptr ? nullptr : &kernels->of_rotation_key;
  } else {
    using One = DLeftRunOfOne<Scheme>;
    return kernels == nullptr ? std::optional<One>() : One(*kernels);
  }
}

}  // namespace tally::detail
