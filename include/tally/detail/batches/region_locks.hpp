#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/batches/part_locks.hpp"
#include "tally/detail/prefetch.hpp"

namespace tally::detail {

/// PartLocks for regions of a storage whose keys have all positions in one line.
class RegionLocks {
 public:
  /// For lines from 0 to `num_lines` - 1.
  explicit RegionLocks(std::uint64_t num_lines) noexcept
      : shift_(static_cast<std::uint32_t>(std::bit_width((num_lines - 1) / num_regions))),
        locks_(num_regions) {}

  /// As PartLocks::in_part.
  template <class Use>
  auto in_region_of(std::uint64_t line, Use use) {
    return locks_.in_part(region_of(line), use);
  }

  static constexpr std::uint32_t max_slots = PartLocks::max_slots;

  /// Calls, for windows of the keys, in_all(totals, first index, window) if nobody else is in any region, else in_each(first
  /// index, window), which locks them itself. `in_all` throws nothing.
  template <KeyBatch Keys, class InAll, class InEach>
  void in_windows(const Keys& key_range, InAll in_all, InEach in_each) {
    // Fewer are not worth 32 locks; others wait for as many as these.
    constexpr std::size_t fewest_keys = 512;
    constexpr std::size_t most_keys = 2048;
    const std::span keys(key_range);
    for (std::size_t first = 0; first < keys.size(); first += most_keys) {
      const auto window = keys.subspan(first, std::min(most_keys, keys.size() - first));
      const bool is_done = window.size() >= fewest_keys &&
                           locks_.try_all_parts([&](PartTotals& totals) { in_all(totals, first, window); });
      if (!is_done) in_each(first, window);
    }
  }

  /// As PartLocks::in_parts, with line_of(digest), put(slot, index, digest, line) and use(totals of the region, first slot,
  /// number of slots). Prefetches the lines that word_in(slot) points to.
  template <KeyBatch Keys, class LineOf, class Put, class WordIn, class Use>
  void in_regions(const KeyHasher& hasher, const Keys& keys, LineOf line_of, Put put, WordIn word_in,
                  Use use) {
    locks_.in_parts(
        hasher, keys, line_of, [this](std::uint64_t line) { return region_of(line); }, put,
        [&](std::size_t first, std::size_t count) {
          for (std::size_t slot = first; slot < first + count; ++slot) prefetch_for_write(word_in(slot));
        },
        [&](std::uint32_t, PartTotals& totals, std::size_t first, std::size_t count) {
          use(totals, first, count);
        });
  }

  PartTotals totals() noexcept { return locks_.totals(); }
  void clear_totals() noexcept { locks_.clear_totals(); }

 private:
  static constexpr std::uint32_t num_regions = 32;

  std::uint32_t region_of(std::uint64_t line) const noexcept {
    return static_cast<std::uint32_t>(line >> shift_);
  }

  std::uint32_t shift_;
  PartLocks locks_;
};

}  // namespace tally::detail
