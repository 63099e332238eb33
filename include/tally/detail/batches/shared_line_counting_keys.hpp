#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/batches/blocked_counting_keys.hpp"
#include "tally/detail/batches/counting_keys.hpp"
#include "tally/detail/batches/line_copy.hpp"
#include "tally/detail/batches/line_counters.hpp"
#include "tally/detail/batches/lines_ahead.hpp"
#include "tally/detail/batches/region_locks.hpp"
#include "tally/detail/batches/shared_counting_keys.hpp"
#include "tally/detail/unset_array.hpp"

namespace tally::detail {

/// For keys with all counters in one line: the kernels for one thread, if there are some. Lookups need no lock; a thread that
/// writes has a region of the lines to itself. Both read and write words of 64 bits, each of which processors with 64 bits
/// read and write in one step, and a line is written once per key.
template <HashScheme Scheme>
requires(is_in_one_line(Scheme::layout)) class SharedCountingKeys<Scheme> {
 public:
  SharedCountingKeys(PositionSpace space, std::uint32_t counter_bits) noexcept
      : keys_(space, counter_bits),
        in_line_(space),
        locks_(space.num_positions / space.positions_per_line),
        positions_per_line_(space.positions_per_line) {}

  InsertResult insert(CounterArray& array, Hash128 hash) {
    return locks_.in_region_of(line_of(hash), [&](PartTotals& totals) {
      ++totals[insertions];
      return insert_alone(array, hash);
    });
  }
  RemoveResult remove(CounterArray& array, Hash128 hash) {
    return locks_.in_region_of(line_of(hash), [&](PartTotals& totals) {
      const RemoveResult result = remove_alone(array, hash);
      ++totals[total_of(result)];
      return result;
    });
  }
  bool may_contain(CounterArray& array, Hash128 hash) const noexcept {
    if (keys_.has_kernels()) return keys_.passes(array, hash, 1);
    return count(array, hash).value != 0;
  }
  Count count(CounterArray& array, Hash128 hash) const noexcept {
    if (keys_.has_kernels()) return keys_.count(array, hash);
    return in_line_.count(array, words_of(array, line_of(hash)), hash);
  }

  template <KeyBatch Keys>
  std::uint64_t insert_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys) {
    std::uint64_t num_saturated = 0;
    locks_.in_windows(
        keys,
        [&](PartTotals& totals, std::size_t, const auto& window) {
          totals[insertions] += window.size();
          if (keys_.has_kernels()) {
            num_saturated += keys_.insert_batch(hasher, array, window);
            return;
          }
          for_each_key<Access::write>(hasher, array, window, [&](std::size_t, Hash128 hash) {
            num_saturated += insert_alone(array, hash) == InsertResult::saturated;
          });
        },
        [&](std::size_t, const auto& window) { num_saturated += insert_in_regions(hasher, array, window); });
    return num_saturated;
  }

  template <KeyBatch Keys>
  void remove_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys,
                    std::span<RemoveResult> results) {
    locks_.in_windows(
        keys,
        [&](PartTotals& totals, std::size_t first, const auto& window) {
          for_each_key<Access::write>(hasher, array, window, [&](std::size_t i, Hash128 hash) {
            results[first + i] = remove_alone(array, hash);
            ++totals[total_of(results[first + i])];
          });
        },
        [&](std::size_t first, const auto& window) {
          remove_in_regions(hasher, array, window, results.subspan(first, window.size()));
        });
  }

  template <KeyBatch Keys>
  void may_contain_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys,
                         std::span<bool> results) const {
    if (keys_.has_kernels()) return keys_.passes_batch(hasher, array, keys, 1, results);
    for_each_key<Access::read>(hasher, array, keys, [&](std::size_t i, Hash128 hash) {
      results[i] = count(array, hash).value != 0;
    });
  }

  template <KeyBatch Keys>
  void count_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys,
                   std::span<Count> results) const {
    if (keys_.has_kernels()) return keys_.count_batch(hasher, array, keys, results);
    for_each_key<Access::read>(hasher, array, keys,
                               [&](std::size_t i, Hash128 hash) { results[i] = count(array, hash); });
  }

  SharedCountingTotals totals() noexcept {
    const PartTotals sums = locks_.totals();
    return {sums[insertions], sums[removes], sums[refused_removes]};
  }
  void clear_totals() noexcept { locks_.clear_totals(); }

 private:
  enum Total : std::uint8_t { insertions, removes, refused_removes };
  static Total total_of(RemoveResult result) noexcept {
    return result == RemoveResult::refused ? refused_removes : removes;
  }

  std::uint64_t line_of(Hash128 hash) const noexcept {
    return keys_.scheme().first_of_line(hash) / positions_per_line_;
  }
  static std::uint64_t* words_of(CounterArray& array, std::uint64_t line) noexcept {
    return array.words().data() + LineCopy::num_words * line;
  }

  InsertResult insert_alone(CounterArray& array, Hash128 hash) const noexcept {
    if (keys_.has_kernels()) return keys_.insert(array, hash);
    return in_line_.insert(array, words_of(array, line_of(hash)), hash);
  }
  RemoveResult remove_alone(CounterArray& array, Hash128 hash) const noexcept {
    if (keys_.has_kernels()) return keys_.remove(array, hash);
    return in_line_.remove(array, words_of(array, line_of(hash)), hash);
  }

  template <KeyBatch Keys>
  std::uint64_t insert_in_regions(const KeyHasher& hasher, CounterArray& array, const Keys& keys) {
    std::uint64_t num_saturated = 0;
    UnsetArray<CounterSpot, RegionLocks::max_slots> spots;
    in_regions(
        hasher, keys, [&](std::size_t slot, std::size_t, const CounterSpot& spot) { spots[slot] = spot; },
        [&](std::size_t slot) { return array.words().data() + spots[slot].first_word; },
        [&](PartTotals& totals, std::size_t first, std::size_t count) {
          totals[insertions] += count;
          if (keys_.has_kernels()) {
            num_saturated += keys_.insert_spots(array, &spots[first], count);
            return;
          }
          for (const auto& [first_word, low, high] : spots.subspan(first, count))
            num_saturated += insert_alone(array, {low, high}) == InsertResult::saturated;
        });
    return num_saturated;
  }

  template <KeyBatch Keys>
  void remove_in_regions(const KeyHasher& hasher, CounterArray& array, const Keys& keys,
                         std::span<RemoveResult> results) {
    UnsetArray<Hash128, RegionLocks::max_slots> digests;
    UnsetArray<std::uint64_t, RegionLocks::max_slots> indices;
    in_regions(
        hasher, keys,
        [&](std::size_t slot, std::size_t i, const CounterSpot& spot) {
          digests[slot] = {spot.low, spot.high};
          indices[slot] = i;
        },
        [&](std::size_t slot) { return words_of(array, line_of(digests[slot])); },
        [&](PartTotals& totals, std::size_t first, std::size_t count) {
          for (std::size_t slot = first; slot < first + count; ++slot) {
            const RemoveResult result = remove_alone(array, digests[slot]);
            results[indices[slot]] = result;
            ++totals[total_of(result)];
          }
        });
  }

  /// Calls put(slot, index, spot), and then use(totals, first slot, number of slots).
  template <KeyBatch Keys, class Put, class WordIn, class Use>
  void in_regions(const KeyHasher& hasher, const Keys& keys, Put put, WordIn word_in, Use use) {
    locks_.in_regions(
        hasher, keys, [this](Hash128 hash) { return line_of(hash); },
        [&](std::size_t slot, std::size_t i, Hash128 digest, std::uint64_t line) {
          put(slot, i, CounterSpot{line * LineCopy::num_words, digest.low, digest.high});
        },
        word_in, use);
  }

  /// Calls use(index, digest) for every key, with its line prefetched well before.
  template <Access access, KeyBatch Keys, class Use>
  void for_each_key(const KeyHasher& hasher, CounterArray& array, const Keys& keys, Use use) const noexcept {
    with_lines_ahead<access>(
        hasher, keys, [&](Hash128 hash) { return words_of(array, line_of(hash)); }, use);
  }

  CountingKeys<Scheme> keys_;
  LineCounters<Scheme> in_line_;
  RegionLocks locks_;
  std::uint64_t positions_per_line_;
};

}  // namespace tally::detail
