#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/batches/counter_reads.hpp"
#include "tally/detail/batches/counter_writes.hpp"
#include "tally/detail/striped_count.hpp"
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
  static_assert(!is_in_one_line(Scheme::layout), "shared_line_counting_keys.hpp has those");

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

}  // namespace tally::detail
