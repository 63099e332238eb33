#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "tally/detail/batches/shared_counting_keys.hpp"
#include "tally/detail/batches/shared_line_counting_keys.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally {

/// A CountingBloomFilter while several threads use it.
///
/// Lookups need no lock. Threads that insert into or remove from the blocked filter lock regions of its lines, as in
/// SharedBloomFilter. In the others they need no lock, but an atomic step per counter.
///
/// Guarantee, as long as only keys are removed whose insertion has ended: `count` is never below the number of insertions
/// of the key that have ended, less its removals that have begun; such a removal is never refused; and `release` returns the
/// filter that one thread gives for the same calls, in any order, unless a counter saturates. A counter that reaches its
/// maximum stays there, so after that no count is too low either.
/// A removal of a key that is provably absent is refused and changes nothing. Without locks there is one exception: if other
/// threads remove at the same moment what made it look present, counters of other keys are too low until it has ended.
/// Threads: all functions may run concurrently, except `clear`, `release` and `statistics`.
template <HashScheme Scheme = DefaultScheme>
class SharedCountingBloomFilter {
 public:
  using Shape = CountingBloomShapeFor<Scheme>;
  using Filter = CountingBloomFilter<Scheme>;

  /// Empty. Throws std::invalid_argument for a shape that is out of range or that the scheme cannot use, and
  /// std::bad_alloc if there is not enough memory.
  SharedCountingBloomFilter(const Shape& shape, const KeyHasher& hasher)
      : shape_(checked(shape)),
        hasher_(hasher),
        keys_(position_space(shape), shape.counter_bits),
        counters_(shape.num_counters, shape.counter_bits) {}

  template <Key K>
  InsertResult insert(K&& key) noexcept {
    return keys_.insert(counters_, hasher_(key));
  }

  /// Inserts every key; returns for how many insertions a counter was or became saturated.
  template <KeyBatch Keys>
  std::uint64_t insert_batch(const Keys& keys) noexcept {
    return keys_.insert_batch(hasher_, counters_, keys);
  }

  /// Removes one occurrence of the key, unless it is provably absent.
  template <Key K>
  [[nodiscard]] RemoveResult remove(K&& key) noexcept {
    return keys_.remove(counters_, hasher_(key));
  }

  /// results[i] = remove(keys[i]), in order; `results` is as long as `keys`.
  template <KeyBatch Keys>
  void remove_batch(const Keys& keys, std::span<RemoveResult> results) {
    detail::require_one_per_key("remove_batch", "results", std::span(keys).size(), results.size());
    keys_.remove_batch(hasher_, counters_, keys, results);
  }

  template <Key K>
  [[nodiscard]] bool may_contain(K&& key) const noexcept {
    return keys_.may_contain(counters_, hasher_(key));
  }

  /// results[i] = may_contain(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void may_contain_batch(const Keys& keys, std::span<bool> results) const {
    detail::require_one_per_key("may_contain_batch", "results", std::span(keys).size(), results.size());
    keys_.may_contain_batch(hasher_, counters_, keys, results);
  }

  /// The smallest of the key's counters.
  template <Key K>
  [[nodiscard]] Count count(K&& key) const noexcept {
    return keys_.count(counters_, hasher_(key));
  }

  /// results[i] = count(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void count_batch(const Keys& keys, std::span<Count> results) const {
    detail::require_one_per_key("count_batch", "results", std::span(keys).size(), results.size());
    keys_.count_batch(hasher_, counters_, keys, results);
  }

  /// Removes all keys. The memory stays allocated.
  void clear() noexcept {
    counters_.clear();
    keys_.clear_totals();
  }

  FilterStatistics statistics() const {
    FilterStatistics statistics = storage_statistics(counters_, Scheme::layout, position_space(shape_), 1);
    const typename Filter::Totals now = totals();
    statistics.num_insertions = now.num_insertions;
    statistics.num_removes = now.num_removes;
    statistics.num_refused_removes = now.num_refused_removes;
    return statistics;
  }

  /// Moves the filter out of this object.
  Filter release() && { return {shape_, hasher_, totals(), std::move(counters_)}; }

  const Shape& shape() const noexcept { return shape_; }
  const KeyHasher& hasher() const noexcept { return hasher_; }
  typename Filter::Totals totals() const noexcept {
    const auto [num_insertions, num_removes, num_refused_removes] = keys_.totals();
    return {num_insertions, num_removes, num_refused_removes};
  }

 private:
  static const Shape& checked(const Shape& shape) {
    check_shape(shape);
    check_position_space<Scheme>("SharedCountingBloomFilter", "num_counters", position_space(shape));
    return shape;
  }

  Shape shape_;
  KeyHasher hasher_;
  // Words are read atomically, for which they must not be const.
  mutable detail::SharedCountingKeys<Scheme> keys_;
  mutable CounterArray counters_;
};

}  // namespace tally
