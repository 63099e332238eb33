#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/batches/blocked_counting_keys.hpp"
#include "tally/detail/batches/counter_reads.hpp"
#include "tally/detail/batches/counter_writes.hpp"
#include "tally/detail/batches/counting_keys.hpp"
#include "tally/detail/batches/region_locks.hpp"
#include "tally/storage/shared_counters.hpp"

namespace tally::detail {

/// What threads do with the counters of their keys at the same time: without locks, one atomic step per counter.
template <HashScheme Scheme>
class SharedCountingKeys {
 public:
  SharedCountingKeys(PositionSpace space, std::uint32_t /*counter_bits*/) noexcept
      : scheme_(space), num_hashes_(space.num_hashes) {}

  InsertResult insert(CounterArray& array, Hash128 hash) noexcept {
    return insert_at(SharedCounters(array), places_of(array, hash));
  }

  RemoveResult remove(CounterArray& array, Hash128 hash) noexcept {
    return remove_at(SharedCounters(array), places_of(array, hash));
  }

  bool may_contain(CounterArray& array, Hash128 hash) noexcept {
    return least_at(SharedCounters(array), places_of(array, hash)) != 0;
  }

  Count count(CounterArray& array, Hash128 hash) noexcept {
    return count_at(SharedCounters(array), places_of(array, hash));
  }

  template <KeyBatch Keys>
  std::uint64_t insert_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys) noexcept {
    std::uint64_t num_saturated = 0;
    for_each_key<Access::write>(hasher, array, keys,
                                [&](SharedCounters counters, std::size_t, const auto& places) {
                                  num_saturated += insert_at(counters, places) == InsertResult::saturated;
                                });
    return num_saturated;
  }

  /// Returns how many removals were `refused`.
  template <KeyBatch Keys>
  std::uint64_t remove_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys,
                             std::span<RemoveResult> results) noexcept {
    std::uint64_t num_refused = 0;
    for_each_key<Access::write>(hasher, array, keys,
                                [&](SharedCounters counters, std::size_t i, const auto& places) {
                                  results[i] = remove_at(counters, places);
                                  num_refused += results[i] == RemoveResult::refused;
                                });
    return num_refused;
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
};

/// For keys with all counters in one line: the loops and kernels for one thread, each thread in a region of its own.
template <HashScheme Scheme>
requires(is_in_one_line(Scheme::layout)) class SharedCountingKeys<Scheme> {
 public:
  SharedCountingKeys(PositionSpace space, std::uint32_t counter_bits) noexcept
      : keys_(space, counter_bits), locks_(space.num_positions) {}

  InsertResult insert(CounterArray& array, Hash128 hash) {
    return alone(hash, [&] { return keys_.insert(array, hash); });
  }
  RemoveResult remove(CounterArray& array, Hash128 hash) {
    return alone(hash, [&] { return keys_.remove(array, hash); });
  }
  bool may_contain(const CounterArray& array, Hash128 hash) {
    return alone(hash, [&] { return keys_.passes(array, hash, 1); });
  }
  Count count(const CounterArray& array, Hash128 hash) {
    return alone(hash, [&] { return keys_.count(array, hash); });
  }

  template <KeyBatch Keys>
  std::uint64_t insert_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys) {
    std::uint64_t num_saturated = 0;
    locks_.in_regions(hasher, keys, first_of_line(), [&](auto digests, auto) {
      num_saturated += keys_.insert_batch(hasher, array, digests);
    });
    return num_saturated;
  }

  template <KeyBatch Keys>
  std::uint64_t remove_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys,
                             std::span<RemoveResult> results) {
    std::uint64_t num_refused = 0;
    locks_.answer_in_regions(hasher, keys, first_of_line(), results,
                             [&](auto digests, std::span<RemoveResult> own) {
                               num_refused += keys_.remove_batch(hasher, array, digests, own);
                             });
    return num_refused;
  }

  template <KeyBatch Keys>
  void may_contain_batch(const KeyHasher& hasher, const CounterArray& array, const Keys& keys,
                         std::span<bool> results) {
    locks_.answer_in_regions(hasher, keys, first_of_line(), results, [&](auto digests, std::span<bool> own) {
      keys_.passes_batch(hasher, array, digests, 1, own);
    });
  }

  template <KeyBatch Keys>
  void count_batch(const KeyHasher& hasher, const CounterArray& array, const Keys& keys,
                   std::span<Count> results) {
    locks_.answer_in_regions(hasher, keys, first_of_line(), results, [&](auto digests, std::span<Count> own) {
      keys_.count_batch(hasher, array, digests, own);
    });
  }

 private:
  auto first_of_line() const noexcept {
    return [this](Hash128 hash) { return keys_.scheme().first_of_line(hash); };
  }
  template <class Use>
  auto alone(Hash128 hash, Use use) {
    return locks_.in_region_of(first_of_line()(hash), use);
  }

  CountingKeys<Scheme> keys_;
  RegionLocks locks_;
};

}  // namespace tally::detail
