#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "tally/detail/checked_math.hpp"
#include "tally/export.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/hashing/row_scheme.hpp"
#include "tally/hashing/row_schemes.hpp"
#include "tally/shapes/count_min.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/storage/counter_cells.hpp"

namespace tally::detail {

/// The depth of most sketches: loops are compiled for this number of rows, and for any other.
inline constexpr std::size_t usual_num_rows = 4;

/// Calls use(index) for each counter of a key, one per row.
template <RowScheme Rows, class Use>
void for_each_counter(const Rows& rows, std::uint64_t width, Hash128 digest, Use use) {
  std::uint64_t row_begin = 0;
  rows.for_each_row(digest, [&](std::uint32_t, std::uint64_t column) {
    use(row_begin + column);
    row_begin += width;
  });
}

template <std::size_t extent, class Cells, RowScheme Rows, class Use>
void for_each_key_of_rows(const Rows& rows, std::uint64_t width, std::size_t num_rows, const Cells& cells,
                          std::span<const Hash128> digests, Use use) {
  assert_uniform(digests);
  std::array<std::uint64_t, max_num_hashes> offsets;
  const std::size_t window = std::clamp<std::size_t>(offsets.size() / num_rows, 1, most_keys_ahead);
  for (std::size_t first = 0; first < digests.size(); first += window) {
    const std::size_t count = std::min(window, digests.size() - first);
    std::uint64_t* next = offsets.data();
    for (std::size_t i = 0; i < count; ++i) {
      for_each_counter(rows, width, digests[first + i], [&](std::uint64_t offset) {
        cells.prefetch(offset);
        *next++ = offset;
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
template <class Cells, RowScheme Rows, class Use>
void for_each_key_with_rows(const Rows& rows, const CountMinShape& shape, const Cells& cells,
                            std::span<const Hash128> digests, Use use) {
  const std::size_t num_rows = shape.num_rows();
  if (num_rows == usual_num_rows) {
    return for_each_key_of_rows<usual_num_rows>(rows, shape.width, usual_num_rows, cells, digests, use);
  }
  for_each_key_of_rows<std::dynamic_extent>(rows, shape.width, num_rows, cells, digests, use);
}

/// The part of a weight that fits in a counter; if it does not all fit, the counter saturates in any case.
template <class Cell, class Word>
Cell narrowed(const CounterCells<Cell, Word>&, std::uint64_t weight) noexcept {
  return static_cast<Cell>(std::min<std::uint64_t>(weight, CounterCells<Cell, Word>::max));
}

/// Adds to a key's counters; returns the largest of them afterwards.
template <class Cell, class Own>
[[gnu::always_inline]] inline Cell add_plain(const CounterCells<Cell, std::uint64_t>& cells, Own own,
                                             Cell weight) noexcept {
  Cell greatest = 0;
  for (const std::uint64_t i : own) greatest = std::max(greatest, cells.add(i, weight));
  return greatest;
}

/// The same, but only for the counters below the key's new minimum.
template <class Cell, class Own>
[[gnu::always_inline]] inline Cell add_conservatively(const CounterCells<Cell, std::uint64_t>& cells, Own own,
                                                      Cell weight) noexcept {
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

/// Adds weight_of(i) to the counters of digests[i], in order, and to the total. Returns for how many keys a
/// counter was or became saturated.
template <RowScheme Rows, class Weight>
std::uint64_t add_each(const Rows& rows, const CountMinShape& shape, CounterArray& counters,
                       std::uint64_t& total_count, std::span<const Hash128> digests, Weight weight_of) {
  return with_cells(counters.words(), shape.counter_bits, [&](auto cells) {
    const auto add_with = [&](auto add) {
      std::uint64_t num_saturated = 0;
      std::uint64_t total = total_count;
      for_each_key_with_rows(rows, shape, cells, digests, [&](std::size_t i, auto own) {
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

/// The operations of a sketch on one digest, and its loops over many.
template <RowScheme Rows>
struct CountMinLoops {
  /// Adds to the counters of the digest; returns whether one was or became saturated.
  static bool add_one(const Rows& rows, const CountMinShape& shape, CounterArray& counters, Hash128 digest,
                      std::uint64_t weight);

  /// The smallest counter of the digest.
  static Count count_one(const Rows& rows, const CountMinShape& shape, const CounterArray& counters,
                         Hash128 digest);

  /// Adds one to the counters of each digest, in order, and to the total. Returns for how many keys a counter was or
  /// became saturated.
  static std::uint64_t add_ones(const Rows& rows, const CountMinShape& shape, CounterArray& counters,
                                std::uint64_t& total_count, std::span<const Hash128> digests);

  /// The same with weights[i] for digests[i].
  static std::uint64_t add_weights(const Rows& rows, const CountMinShape& shape, CounterArray& counters,
                                   std::uint64_t& total_count, std::span<const Hash128> digests,
                                   const std::uint64_t* weights);

  /// counts[i] = the smallest counter of digests[i].
  static void count(const Rows& rows, const CountMinShape& shape, const CounterArray& counters,
                    std::span<const Hash128> digests, std::span<Count> counts);
};

template <RowScheme Rows>
bool CountMinLoops<Rows>::add_one(const Rows& rows, const CountMinShape& shape, CounterArray& counters,
                                  Hash128 digest, std::uint64_t weight) {
  return with_cells(counters.words(), shape.counter_bits, [&](auto cells) {
    const auto own_weight = narrowed(cells, weight);
    if (shape.update == CounterUpdate::plain) {
      auto greatest = own_weight;
      for_each_counter(rows, shape.width, digest,
                       [&](std::uint64_t i) { greatest = std::max(greatest, cells.add(i, own_weight)); });
      return greatest == cells.max;
    }
    std::array<std::uint64_t, max_num_hashes> offsets;
    std::size_t num_offsets = 0;
    for_each_counter(rows, shape.width, digest, [&](std::uint64_t i) { offsets[num_offsets++] = i; });
    return add_conservatively(cells, std::span(offsets).first(num_offsets), own_weight) == cells.max;
  });
}

template <RowScheme Rows>
Count CountMinLoops<Rows>::count_one(const Rows& rows, const CountMinShape& shape,
                                     const CounterArray& counters, Hash128 digest) {
  return with_cells(counters.words(), shape.counter_bits, [&](auto cells) {
    auto least = cells.max;
    for_each_counter(rows, shape.width, digest,
                     [&](std::uint64_t i) { least = std::min(least, cells.get(i)); });
    return Count{least, least == cells.max};
  });
}

template <RowScheme Rows>
std::uint64_t CountMinLoops<Rows>::add_ones(const Rows& rows, const CountMinShape& shape,
                                            CounterArray& counters, std::uint64_t& total_count,
                                            std::span<const Hash128> digests) {
  return add_each(rows, shape, counters, total_count, digests, [](std::size_t) { return std::uint64_t{1}; });
}

template <RowScheme Rows>
std::uint64_t CountMinLoops<Rows>::add_weights(const Rows& rows, const CountMinShape& shape,
                                               CounterArray& counters, std::uint64_t& total_count,
                                               std::span<const Hash128> digests,
                                               const std::uint64_t* weights) {
  return add_each(rows, shape, counters, total_count, digests,
                  [weights](std::size_t i) { return weights[i]; });
}

template <RowScheme Rows>
void CountMinLoops<Rows>::count(const Rows& rows, const CountMinShape& shape, const CounterArray& counters,
                                std::span<const Hash128> digests, std::span<Count> counts) {
  with_cells(counters.words(), shape.counter_bits, [&](auto cells) {
    for_each_key_with_rows(rows, shape, cells, digests, [cells, counts](std::size_t i, auto own) {
      auto least = cells.max;
      for (const std::uint64_t offset : own) least = std::min(least, cells.get(offset));
      counts[i] = {least, least == cells.max};
    });
  });
}

// Compiled in the library.
extern template struct TALLY_EXPORT CountMinLoops<CongruentialRows>;
extern template struct TALLY_EXPORT CountMinLoops<IndependentRows>;
extern template struct TALLY_EXPORT CountMinLoops<PairwiseRows>;
extern template struct TALLY_EXPORT CountMinLoops<TwoHashRows>;

}  // namespace tally::detail
