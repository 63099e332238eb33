#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "tally/detail/batches/counter_reads.hpp"
#include "tally/detail/batches/counter_writes.hpp"
#include "tally/detail/checked_math.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/filters/statistics.hpp"
#include "tally/hashing/congruential_scheme.hpp"
#include "tally/shapes/counting_bloom.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/storage/nibble_counters.hpp"

namespace tally {

/// A multiset of keys with insert, remove and count. Each key has k counters, and each insertion adds one to
/// all of them.
///
/// Guarantee: `count` is never below the number of times the key is in the multiset, and `may_contain` is
/// true for every key in it, as long as only keys in it are removed. Removing a key that is provably absent
/// is refused. If a false positive lets an illegal removal through, nothing can detect it, and it lowers the
/// counts of other keys. A counter that reaches its maximum stays there: its position never clears, and
/// nothing is lost.
/// Threads: const functions may run concurrently; a write needs exclusive access.
/// A moved-from filter may only be assigned to or destroyed.
/// Source: Fan, Cao, Almeida, Broder 2000 (Summary Cache), except for saturation.
template <HashScheme Scheme = DefaultScheme>
class CountingBloomFilter {
 public:
  /// Empty. Throws std::invalid_argument for a shape that is out of range or that the scheme cannot use, and
  /// std::bad_alloc if there is not enough memory.
  CountingBloomFilter(const CountingBloomShape& shape, const KeyHasher& hasher)
      : CountingBloomFilter(shape, hasher, {},
                            CounterArray(checked(shape).num_counters, shape.counter_bits)) {}

  /// The number of calls so far, whatever their keys.
  struct Totals {
    std::uint64_t num_insertions = 0;
    std::uint64_t num_removes = 0;
    std::uint64_t num_refused_removes = 0;

    friend bool operator==(const Totals&, const Totals&) = default;
  };

  /// Takes over what a file held.
  CountingBloomFilter(const CountingBloomShape& shape, const KeyHasher& hasher, const Totals& totals,
                      CounterArray counters)
      : shape_(checked(shape)),
        hasher_(hasher),
        scheme_(position_space(shape)),
        counters_(std::move(counters)),
        totals_(totals) {}

  CountingBloomFilter(const CountingBloomFilter&) = default;
  CountingBloomFilter(CountingBloomFilter&&) noexcept = default;
  CountingBloomFilter& operator=(const CountingBloomFilter& other) {
    return *this = CountingBloomFilter(other);
  }
  CountingBloomFilter& operator=(CountingBloomFilter&&) noexcept = default;
  ~CountingBloomFilter() = default;

  template <Key K>
  InsertResult insert(K&& key) noexcept {
    ++totals_.num_insertions;
    const Hash128 hash = hasher_(key);
    return with_counters(counters_, [&](auto counters) {
      return detail::insert_at(counters, detail::KeyPlaces(scheme_, counters, hash));
    });
  }

  /// Inserts every key; returns for how many insertions a counter was or became saturated.
  template <KeyBatch Keys>
  std::uint64_t insert_batch(const Keys& keys) noexcept {
    std::uint64_t num_saturated = 0;
    for_each_key(keys, [&](auto counters, std::size_t, const auto& places) {
      num_saturated += detail::insert_at(counters, places) == InsertResult::saturated;
    });
    totals_.num_insertions += std::span(keys).size();
    return num_saturated;
  }

  /// Inserts every key of a range; returns for how many insertions a counter was or became saturated.
  template <KeyRange Keys>
  std::uint64_t insert_range(Keys&& keys) {
    std::uint64_t num_saturated = 0;
    detail::in_batches(hasher_, keys, [&](const auto& batch) { num_saturated += insert_batch(batch); });
    return num_saturated;
  }

  /// Removes all keys. The memory stays allocated.
  void clear() noexcept {
    counters_.clear();
    totals_ = {};
  }

  /// Removes one occurrence of the key, unless it is provably absent.
  template <Key K>
  [[nodiscard]] RemoveResult remove(K&& key) noexcept {
    const Hash128 hash = hasher_(key);
    const RemoveResult result = with_counters(counters_, [&](auto counters) {
      return detail::remove_at(counters, detail::KeyPlaces(scheme_, counters, hash));
    });
    ++(result == RemoveResult::refused ? totals_.num_refused_removes : totals_.num_removes);
    return result;
  }

  /// results[i] = remove(keys[i]), in order; `results` is as long as `keys`.
  template <KeyBatch Keys>
  void remove_batch(const Keys& keys, std::span<RemoveResult> results) {
    detail::require_one_per_key("remove_batch", "results", std::span(keys).size(), results.size());
    for_each_key(keys, [&](auto counters, std::size_t i, const auto& places) {
      results[i] = detail::remove_at(counters, places);
      ++(results[i] == RemoveResult::refused ? totals_.num_refused_removes : totals_.num_removes);
    });
  }

  template <Key K>
  [[nodiscard]] bool may_contain(K&& key) const noexcept {
    return passes(key, 1);
  }

  /// results[i] = may_contain(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void may_contain_batch(const Keys& keys, std::span<bool> results) const {
    detail::require_one_per_key("may_contain_batch", "results", std::span(keys).size(), results.size());
    passes_batch(keys, 1, results);
  }

  /// Whether the key is in the multiset at least `theta` times: true whenever it is. Throws
  /// std::invalid_argument unless 1 <= theta <= shape().max_threshold.
  template <Key K>
  [[nodiscard]] bool at_least(K&& key, std::uint64_t theta) const {
    detail::require_in_range(structure, "theta", theta, 1, shape_.max_threshold);
    return passes(key, theta);
  }

  /// results[i] = at_least(keys[i], theta); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void at_least_batch(const Keys& keys, std::uint64_t theta, std::span<bool> results) const {
    detail::require_one_per_key("at_least_batch", "results", std::span(keys).size(), results.size());
    detail::require_in_range(structure, "theta", theta, 1, shape_.max_threshold);
    passes_batch(keys, theta, results);
  }

  /// The smallest of the key's counters.
  template <Key K>
  [[nodiscard]] Count count(K&& key) const noexcept {
    return detail::least_counter(scheme_, counters_, hasher_(key));
  }

  /// results[i] = count(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void count_batch(const Keys& keys, std::span<Count> results) const {
    detail::require_one_per_key("count_batch", "results", std::span(keys).size(), results.size());
    detail::count_keys(hasher_, scheme_, shape_.num_hashes, counters_, keys, results);
  }

  /// Makes this the filter of both multisets: counters are added, and saturated ones stay saturated. If no
  /// counter saturates, the result equals inserting both. Throws std::invalid_argument that names the first
  /// field that differs, and then changes nothing.
  void merge(const CountingBloomFilter& other) {
    require_same_hasher(structure, hasher_, other.hasher_);
    detail::require_same(structure, "num_counters", shape_.num_counters, other.shape_.num_counters);
    detail::require_same(structure, "num_hashes", shape_.num_hashes, other.shape_.num_hashes);
    detail::require_same(structure, "counter_bits", shape_.counter_bits, other.shape_.counter_bits);
    detail::require_same(structure, "max_threshold", shape_.max_threshold, other.shape_.max_threshold);
    counters_.merge(other.counters_);
    const auto add = [](std::uint64_t& mine, std::uint64_t theirs) {
      mine = detail::saturating_add(mine, theirs);
    };
    add(totals_.num_insertions, other.totals_.num_insertions);
    add(totals_.num_removes, other.totals_.num_removes);
    add(totals_.num_refused_removes, other.totals_.num_refused_removes);
  }

  FilterStatistics statistics() const {
    FilterStatistics statistics = storage_statistics(counters_, Scheme::layout, position_space(shape_), 1);
    statistics.num_insertions = totals_.num_insertions;
    statistics.num_removes = totals_.num_removes;
    statistics.num_refused_removes = totals_.num_refused_removes;
    return statistics;
  }

  const CountingBloomShape& shape() const noexcept { return shape_; }
  const KeyHasher& hasher() const noexcept { return hasher_; }
  const Totals& totals() const noexcept { return totals_; }
  const CounterArray& storage() const noexcept { return counters_; }

  /// Whether both have the same shape and hasher and hold the same: what files of both would hold.
  friend bool operator==(const CountingBloomFilter& a, const CountingBloomFilter& b) noexcept {
    return a.shape_ == b.shape_ && a.hasher_ == b.hasher_ && a.totals_ == b.totals_ &&
           a.counters_ == b.counters_;
  }

 private:
  static constexpr std::string_view structure = "CountingBloomFilter";

  static const CountingBloomShape& checked(const CountingBloomShape& shape) {
    check_shape(shape);
    check_position_space<Scheme>(structure, "num_counters", position_space(shape));
    return shape;
  }

  template <KeyBatch Keys, class Touch>
  void for_each_key(const Keys& keys, Touch touch) noexcept {
    with_counters(counters_, [&](auto counters) {
      detail::touch_keys<detail::Access::write, detail::Visits::one>(
          hasher_, scheme_, counters, shape_.num_hashes, keys,
          [&touch, counters](std::size_t i, const auto& places) { touch(counters, i, places); });
    });
  }

  template <Key K>
  bool passes(K&& key, std::uint64_t theta) const noexcept {
    return detail::counters_pass(scheme_, counters_, hasher_(key), theta);
  }

  template <KeyBatch Keys>
  void passes_batch(const Keys& keys, std::uint64_t theta, std::span<bool> results) const noexcept {
    detail::counters_pass(hasher_, scheme_, shape_.num_hashes, counters_, keys, theta, results);
  }

  CountingBloomShape shape_;
  KeyHasher hasher_;
  Scheme scheme_;
  CounterArray counters_;
  Totals totals_;
};

}  // namespace tally
