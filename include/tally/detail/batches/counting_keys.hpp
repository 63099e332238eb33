#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/batches/counter_reads.hpp"
#include "tally/detail/batches/counter_writes.hpp"
#include "tally/detail/batches/own_positions.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/hashing/hash_scheme.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/storage/nibble_counters.hpp"

namespace tally::detail {

/// What a CountingBloomFilter does with the counters of its keys, for every scheme and width.
template <HashScheme Scheme>
class GeneralCountingKeys {
 public:
  explicit GeneralCountingKeys(PositionSpace space) noexcept
      : scheme_(space), num_hashes_(space.num_hashes) {}

  const Scheme& scheme() const noexcept { return scheme_; }
  std::uint32_t num_hashes() const noexcept { return num_hashes_; }

  InsertResult insert(CounterArray& array, Hash128 hash) const noexcept {
    return with_counters(
        array, [&](auto counters) { return insert_at(counters, KeyPlaces(scheme_, counters, hash)); });
  }

  RemoveResult remove(CounterArray& array, Hash128 hash) const noexcept {
    return with_counters(
        array, [&](auto counters) { return remove_at(counters, KeyPlaces(scheme_, counters, hash)); });
  }

  /// Whether all counters of the key are at least `theta`.
  [[gnu::always_inline]] bool passes(const CounterArray& array, Hash128 hash,
                                     std::uint64_t theta) const noexcept {
    return counters_pass(scheme_, array, hash, theta);
  }

  Count count(const CounterArray& array, Hash128 hash) const noexcept {
    return least_counter(scheme_, array, hash);
  }

  /// Returns how many insertions were `saturated`.
  template <KeyBatch Keys>
  std::uint64_t insert_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys) const noexcept {
    std::uint64_t num_saturated = 0;
    for_each_key(hasher, array, keys, [&](auto counters, std::size_t, const auto& places) {
      num_saturated += insert_at(counters, places) == InsertResult::saturated;
    });
    return num_saturated;
  }

  /// Raises the counters in `part` only, of a scheme whose positions lie in several lines.
  template <KeyBatch Keys>
  void insert_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys, FilterPart part) const {
    const OwnPositions own(array.words().size(), 64 / array.counter_bits(), part);
    with_counters(array, [&](auto counters) {
      for_own_positions(
          hasher, scheme_, num_hashes_, own, keys,
          [&](std::uint64_t position) { counters.prefetch_for_write(counters.locate(position)); },
          [&](std::uint64_t position) { (void)counters.raise_one_at(counters.locate(position)); });
    });
  }

  /// Returns how many removals were `refused`.
  template <KeyBatch Keys>
  std::uint64_t remove_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys,
                             std::span<RemoveResult> results) const noexcept {
    std::uint64_t num_refused = 0;
    for_each_key(hasher, array, keys, [&](auto counters, std::size_t i, const auto& places) {
      results[i] = remove_at(counters, places);
      num_refused += results[i] == RemoveResult::refused;
    });
    return num_refused;
  }

  template <KeyBatch Keys>
  void passes_batch(const KeyHasher& hasher, const CounterArray& array, const Keys& keys, std::uint64_t theta,
                    std::span<bool> results) const noexcept {
    counters_pass(hasher, scheme_, num_hashes_, array, keys, theta, results);
  }

  template <KeyBatch Keys>
  void count_batch(const KeyHasher& hasher, const CounterArray& array, const Keys& keys,
                   std::span<Count> results) const noexcept {
    count_keys(hasher, scheme_, num_hashes_, array, keys, results);
  }

 private:
  template <KeyBatch Keys, class Touch>
  void for_each_key(const KeyHasher& hasher, CounterArray& array, const Keys& keys,
                    Touch touch) const noexcept {
    with_counters(array, [&](auto counters) {
      touch_keys<Access::write, Visits::one>(
          hasher, scheme_, counters, num_hashes_, keys,
          [&touch, counters](std::size_t i, const auto& places) { touch(counters, i, places); });
    });
  }

  Scheme scheme_;
  std::uint32_t num_hashes_;
};

/// GeneralCountingKeys, or with kernels where there are some for the scheme and the width.
template <HashScheme Scheme>
class CountingKeys : public GeneralCountingKeys<Scheme> {
 public:
  CountingKeys(PositionSpace space, std::uint32_t /*counter_bits*/) noexcept
      : GeneralCountingKeys<Scheme>(space) {}
  static constexpr bool has_kernels() noexcept { return false; }
};

}  // namespace tally::detail
