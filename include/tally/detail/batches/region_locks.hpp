#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "tally/detail/unset_array.hpp"
#include "tally/filters/key_batch.hpp"

namespace tally::detail {

/// Locks for the regions of a storage whose keys have all positions in one line, so that several threads can use the functions
/// and kernels for one thread, each in a region of its own. A batch is sorted by region, so that it takes each lock once.
class RegionLocks {
 public:
  /// For places, such as first positions of lines, from 0 to `num_places` - 1.
  explicit RegionLocks(std::uint64_t num_places) noexcept
      : shift_(static_cast<std::uint32_t>(std::bit_width((num_places - 1) / num_regions))) {}

  /// Calls use() while no other thread is in the region of the place; returns what it returns.
  template <class Use>
  auto in_region_of(std::uint64_t place, Use use) {
    const std::lock_guard alone(regions_[region_of(place)].mutex);
    return use();
  }

  /// Calls use(digests, the indices of their keys) for the keys of each region, while no other thread is in it; keys of a
  /// region in their order, at most `window` at once. `place_of(digest)` is a place.
  template <KeyBatch Keys, class PlaceOf, class Use>
  void in_regions(const KeyHasher& hasher, const Keys& key_range, PlaceOf place_of, Use use) {
    assert_uniform(key_range);
    const std::span keys(key_range);
    Window all;
    for (std::size_t first = 0; first < keys.size(); first += window) {
      const std::size_t count = std::min(window, keys.size() - first);
      all.ends = {};
      for (std::size_t i = 0; i < count; ++i) {
        all.hashes[i] = hasher(keys[first + i]);
        all.regions[i] = static_cast<std::uint8_t>(region_of(place_of(all.hashes[i])));
        ++all.ends[all.regions[i] + 1];
      }
      sort(all, first, count);
      visit(all, use);
    }
  }

  /// The same with results: use(digests, their results).
  template <KeyBatch Keys, class PlaceOf, class Result, class Use>
  void answer_in_regions(const KeyHasher& hasher, const Keys& keys, PlaceOf place_of,
                         std::span<Result> results, Use use) {
    in_regions(hasher, keys, place_of,
               [&](std::span<const Hash128> digests, std::span<const std::uint64_t> indices) {
                 UnsetArray<Result, window> own;
                 use(digests, own.first(digests.size()));
                 for (std::size_t i = 0; i < digests.size(); ++i) results[indices[i]] = own[i];
               });
  }

 private:
  static constexpr std::size_t num_regions = 32;
  static constexpr std::size_t window = 1024;

  struct alignas(64) Region {
    std::mutex mutex;
  };

  /// The keys of a window by region: those of region r are from ends[r] to ends[r + 1].
  struct Window {
    UnsetArray<Hash128, window> hashes;
    UnsetArray<std::uint8_t, window> regions;
    std::array<std::uint32_t, num_regions + 1> ends;
    UnsetArray<Hash128, window> sorted;
    UnsetArray<std::uint64_t, window> indices;
  };

  static void sort(Window& all, std::uint64_t first, std::size_t count) noexcept {
    for (std::size_t region = 0; region < num_regions; ++region) all.ends[region + 1] += all.ends[region];
    std::array<std::uint32_t, num_regions + 1> next = all.ends;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t to = next[all.regions[i]]++;
      all.sorted[to] = all.hashes[i];
      all.indices[to] = first + i;
    }
  }

  // First the regions that nobody is in, so that threads rarely wait for each other.
  template <class Use>
  void visit(const Window& all, Use use) {
    const auto use_region = [&](std::size_t region) {
      const std::size_t begin = all.ends[region];
      const std::size_t count = all.ends[region + 1] - begin;
      use(all.sorted.subspan(begin, count), all.indices.subspan(begin, count));
    };
    std::array<std::uint8_t, num_regions> busy{};
    std::size_t num_busy = 0;
    for (std::size_t region = 0; region < num_regions; ++region) {
      if (all.ends[region] == all.ends[region + 1]) continue;
      const std::unique_lock alone(regions_[region].mutex, std::try_to_lock);
      if (alone) {
        use_region(region);
      } else {
        busy[num_busy++] = static_cast<std::uint8_t>(region);
      }
    }
    for (std::size_t i = 0; i < num_busy; ++i) {
      const std::lock_guard alone(regions_[busy[i]].mutex);
      use_region(busy[i]);
    }
  }

  std::size_t region_of(std::uint64_t place) const noexcept { return place >> shift_; }

  std::uint32_t shift_;
  std::array<Region, num_regions> regions_;
};

}  // namespace tally::detail
