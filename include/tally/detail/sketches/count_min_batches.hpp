#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "tally/detail/checked_math.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/hashing/row_scheme.hpp"
#include "tally/shapes/count_min.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/storage/counter_cells.hpp"

namespace tally::detail {

/// The depth of most sketches: loops are compiled for this number of rows, and for any other.
inline constexpr std::size_t usual_num_rows = 4;

template <std::size_t extent, class Cells, RowScheme Rows, KeyBatch Keys, class Use>
void for_each_key_of_rows(const KeyHasher& hasher, const Rows& rows, std::uint64_t width,
                          std::size_t num_rows, const Cells& cells, const Keys& key_range, Use use) {
  assert_uniform(key_range);
  const std::span keys(key_range);
  std::array<std::uint64_t, max_num_hashes> offsets;
  const std::size_t window = std::clamp<std::size_t>(offsets.size() / num_rows, 1, most_keys_ahead);
  for (std::size_t first = 0; first < keys.size(); first += window) {
    const std::size_t count = std::min(window, keys.size() - first);
    std::uint64_t* next = offsets.data();
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t row_begin = 0;
      rows.for_each_row(hasher(keys[first + i]), [&](std::uint32_t, std::uint64_t column) {
        cells.prefetch(row_begin + column);
        *next++ = row_begin + column;
        row_begin += width;
      });
    }
    const std::uint64_t* own = offsets.data();
    for (std::size_t i = 0; i < count; ++i, own += num_rows) {
      use(first + i, std::span<const std::uint64_t, extent>(own, num_rows));
    }
  }
}

/// Calls use(index, span of the indices of the key's counters, one per row) for every key in order, with
/// their lines prefetched a window of keys before. `cells` tells whether for reading or for writing.
template <class Cells, RowScheme Rows, KeyBatch Keys, class Use>
void for_each_key_with_rows(const KeyHasher& hasher, const Rows& rows, const CountMinShape& shape,
                            const Cells& cells, const Keys& keys, Use use) {
  const std::size_t num_rows = shape.num_rows();
  if (num_rows == usual_num_rows) {
    return for_each_key_of_rows<usual_num_rows>(hasher, rows, shape.width, usual_num_rows, cells, keys, use);
  }
  for_each_key_of_rows<std::dynamic_extent>(hasher, rows, shape.width, num_rows, cells, keys, use);
}

/// The part of a weight that fits in a counter; if it does not all fit, the counter saturates in any case.
template <class Cell, class Word>
Cell narrowed(const CounterCells<Cell, Word>&, std::uint64_t weight) noexcept {
  return static_cast<Cell>(std::min<std::uint64_t>(weight, CounterCells<Cell, Word>::max));
}

/// Adds to a key's counters; returns the largest of them afterwards.
template <class Cell, class Own>
Cell add_plain(const CounterCells<Cell, std::uint64_t>& cells, Own own, Cell weight) noexcept {
  Cell greatest = 0;
  for (const std::uint64_t i : own) greatest = std::max(greatest, cells.add(i, weight));
  return greatest;
}

/// The same, but only for the counters below the key's new minimum.
template <class Cell, class Own>
Cell add_conservatively(const CounterCells<Cell, std::uint64_t>& cells, Own own, Cell weight) noexcept {
  Cell least = cells.max;
  Cell greatest = 0;
  for (const std::uint64_t i : own) {
    const Cell value = cells.get(i);
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  const auto sum = static_cast<Cell>(least + weight);
  const Cell raised = sum < weight ? cells.max : sum;
  // Without a branch, which would be mispredicted half of the time.
  for (const std::uint64_t i : own) cells.set(i, std::max(cells.get(i), raised));
  return std::max(greatest, raised);
}

/// Adds weight_of(i) to the counters of keys[i], in order, and to the total. Returns for how many keys a
/// counter was or became saturated.
template <RowScheme Rows, KeyBatch Keys, class Weight>
std::uint64_t add_keys(const KeyHasher& hasher, const Rows& rows, const CountMinShape& shape,
                       CounterArray& counters, std::uint64_t& total_count, const Keys& keys,
                       Weight weight_of) {
  return with_cells(counters.words(), shape.counter_bits, [&](auto cells) {
    const auto add_with = [&](auto add) {
      std::uint64_t num_saturated = 0;
      std::uint64_t total = total_count;
      for_each_key_with_rows(hasher, rows, shape, cells, keys, [&](std::size_t i, auto own) {
        const std::uint64_t weight = weight_of(i);
        total = saturating_add(total, weight);
        num_saturated += add(cells, own, narrowed(cells, weight)) == cells.max;
      });
      total_count = total;
      return num_saturated;
    };
    if (shape.update == CounterUpdate::plain) {
      return add_with([](const auto&... arguments) { return add_plain(arguments...); });
    }
    return add_with([](const auto&... arguments) { return add_conservatively(arguments...); });
  });
}

/// Calls use(i, the smallest counter of keys[i]) for every key in order.
template <RowScheme Rows, KeyBatch Keys, class Use>
void read_keys(const KeyHasher& hasher, const Rows& rows, const CountMinShape& shape,
               const CounterArray& counters, const Keys& keys, Use use) {
  with_cells(counters.words(), shape.counter_bits, [&](auto cells) {
    for_each_key_with_rows(hasher, rows, shape, cells, keys, [&](std::size_t i, auto own) {
      auto least = cells.max;
      for (const std::uint64_t offset : own) least = std::min(least, cells.get(offset));
      use(i, Count{least, least == cells.max});
    });
  });
}

}  // namespace tally::detail
