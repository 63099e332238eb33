#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/batches/blocked_counting_keys.hpp"
#include "tally/detail/batches/counter_reads.hpp"
#include "tally/detail/batches/counter_writes.hpp"
#include "tally/detail/batches/counting_keys.hpp"
#include "tally/detail/batches/line_copy.hpp"
#include "tally/detail/batches/line_counters.hpp"
#include "tally/detail/batches/region_locks.hpp"
#include "tally/detail/striped_count.hpp"
#include "tally/detail/unset_array.hpp"
#include "tally/storage/shared_counters.hpp"

namespace tally::detail {

struct SharedCountingTotals {
  std::uint64_t num_insertions;
  std::uint64_t num_removes;
  std::uint64_t num_refused_removes;
};

/// What threads do with the counters of their keys at the same time, and how often: without locks, one atomic step per counter.
template <HashScheme Scheme>
class SharedCountingKeys {
 public:
  SharedCountingKeys(PositionSpace space, std::uint32_t /*counter_bits*/) noexcept
      : scheme_(space), num_hashes_(space.num_hashes) {}

  InsertResult insert(CounterArray& array, Hash128 hash) noexcept {
    num_insertions_.add(1);
    return insert_at(SharedCounters(array), places_of(array, hash));
  }

  RemoveResult remove(CounterArray& array, Hash128 hash) noexcept {
    const RemoveResult result = remove_at(SharedCounters(array), places_of(array, hash));
    (result == RemoveResult::refused ? num_refused_removes_ : num_removes_).add(1);
    return result;
  }

  bool may_contain(CounterArray& array, Hash128 hash) noexcept {
    return least_at(SharedCounters(array), places_of(array, hash)) != 0;
  }

  Count count(CounterArray& array, Hash128 hash) noexcept {
    return count_at(SharedCounters(array), places_of(array, hash));
  }

  template <KeyBatch Keys>
  std::uint64_t insert_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys) noexcept {
    num_insertions_.add(std::span(keys).size());
    std::uint64_t num_saturated = 0;
    for_each_key<Access::write>(hasher, array, keys,
                                [&](SharedCounters counters, std::size_t, const auto& places) {
                                  num_saturated += insert_at(counters, places) == InsertResult::saturated;
                                });
    return num_saturated;
  }

  template <KeyBatch Keys>
  void remove_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys,
                    std::span<RemoveResult> results) noexcept {
    std::uint64_t num_refused = 0;
    for_each_key<Access::write>(hasher, array, keys,
                                [&](SharedCounters counters, std::size_t i, const auto& places) {
                                  results[i] = remove_at(counters, places);
                                  num_refused += results[i] == RemoveResult::refused;
                                });
    num_refused_removes_.add(num_refused);
    num_removes_.add(results.size() - num_refused);
  }

  template <KeyBatch Keys>
  void may_contain_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys,
                         std::span<bool> results) {
    const SharedCounters counters(array);
    test_keys(
        hasher, scheme_, counters, num_hashes_, keys,
        [counters](std::uint64_t offset) { return counters.get_at(offset) != 0; }, results);
  }

  template <KeyBatch Keys>
  void count_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys,
                   std::span<Count> results) noexcept {
    for_each_key<Access::read>(hasher, array, keys,
                               [&](SharedCounters counters, std::size_t i, const auto& places) {
                                 results[i] = count_at(counters, places);
                               });
  }

  SharedCountingTotals totals() const noexcept {
    return {num_insertions_.total(), num_removes_.total(), num_refused_removes_.total()};
  }
  void clear_totals() noexcept {
    for (StripedCount* count : {&num_insertions_, &num_removes_, &num_refused_removes_}) count->clear();
  }

 private:
  KeyPlaces<Scheme, SharedCounters> places_of(CounterArray& array, Hash128 hash) const noexcept {
    return {scheme_, SharedCounters(array), hash};
  }

  template <class Places>
  static Count count_at(SharedCounters counters, const Places& places) noexcept {
    const std::uint64_t least = least_at(counters, places);
    return {least, least == counters.max()};
  }

  // Looks first, so that the removal of an absent key does not lower what other threads read meanwhile.
  template <class Places>
  static RemoveResult remove_at(SharedCounters counters, const Places& places) noexcept {
    if (least_at(counters, places) == 0) return RemoveResult::refused;
    return detail::remove_at(counters, places);
  }

  template <Access access, KeyBatch Keys, class Touch>
  void for_each_key(const KeyHasher& hasher, CounterArray& array, const Keys& keys, Touch touch) noexcept {
    const SharedCounters counters(array);
    touch_keys<access, Visits::one>(
        hasher, scheme_, counters, num_hashes_, keys,
        [&touch, counters](std::size_t i, const auto& places) { touch(counters, i, places); });
  }

  Scheme scheme_;
  std::uint32_t num_hashes_;
  StripedCount num_insertions_;
  StripedCount num_removes_;
  StripedCount num_refused_removes_;
};

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
      ++totals[result == RemoveResult::refused ? refused_removes : removes];
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
    UnsetArray<CounterSpot, RegionLocks::max_slots> spots;
    in_regions(
        hasher, array, keys,
        [&](std::size_t slot, std::size_t, const CounterSpot& spot) { spots[slot] = spot; },
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
  void remove_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys,
                    std::span<RemoveResult> results) {
    UnsetArray<Hash128, RegionLocks::max_slots> digests;
    UnsetArray<std::uint64_t, RegionLocks::max_slots> indices;
    in_regions(
        hasher, array, keys,
        [&](std::size_t slot, std::size_t i, const CounterSpot& spot) {
          digests[slot] = {spot.low, spot.high};
          indices[slot] = i;
        },
        [&](PartTotals& totals, std::size_t first, std::size_t count) {
          for (std::size_t slot = first; slot < first + count; ++slot) {
            const RemoveResult result = remove_alone(array, digests[slot]);
            results[indices[slot]] = result;
            ++totals[result == RemoveResult::refused ? refused_removes : removes];
          }
        });
  }

  template <KeyBatch Keys>
  void may_contain_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys,
                         std::span<bool> results) const {
    if (keys_.has_kernels()) return keys_.passes_batch(hasher, array, keys, 1, results);
    count_each(hasher, array, keys, [&](std::size_t i, Count count) { results[i] = count.value != 0; });
  }

  template <KeyBatch Keys>
  void count_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys,
                   std::span<Count> results) const {
    if (keys_.has_kernels()) return keys_.count_batch(hasher, array, keys, results);
    count_each(hasher, array, keys, [&](std::size_t i, Count count) { results[i] = count; });
  }

  SharedCountingTotals totals() noexcept {
    const PartTotals sums = locks_.totals();
    return {sums[insertions], sums[removes], sums[refused_removes]};
  }
  void clear_totals() noexcept { locks_.clear_totals(); }

 private:
  enum Total : std::uint8_t { insertions, removes, refused_removes };

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

  /// Calls put(slot, index, spot), and then use(totals, first slot, number of slots).
  template <KeyBatch Keys, class Put, class Use>
  void in_regions(const KeyHasher& hasher, CounterArray& array, const Keys& keys, Put put, Use use) {
    const auto prefetched_line_of = [&](Hash128 hash) {
      const std::uint64_t line = line_of(hash);
      prefetch_for_write(words_of(array, line));
      return line;
    };
    locks_.in_regions(
        hasher, keys, prefetched_line_of,
        [&](std::size_t slot, std::size_t i, Hash128 digest, std::uint64_t line) {
          put(slot, i, CounterSpot{line * LineCopy::num_words, digest.low, digest.high});
        },
        use);
  }

  /// Without kernels: calls use(index, count) for every key.
  template <KeyBatch Keys, class Use>
  void count_each(const KeyHasher& hasher, CounterArray& array, const Keys& keys, Use use) const {
    std::array<Hash128, most_keys_ahead> ahead;
    const auto prepare = [&](std::size_t slot, Hash128 hash) {
      ahead[slot] = hash;
      prefetch_for_read(words_of(array, line_of(hash)));
    };
    run_ahead(hasher, keys, most_keys_ahead, prepare,
              [&](std::size_t i, std::size_t slot) { use(i, count(array, ahead[slot])); });
  }

  CountingKeys<Scheme> keys_;
  LineCounters<Scheme> in_line_;
  RegionLocks locks_;
  std::uint64_t positions_per_line_;
};

}  // namespace tally::detail
