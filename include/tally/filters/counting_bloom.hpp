#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "tally/detail/batches/blocked_counting_keys.hpp"
#include "tally/detail/batches/counting_keys.hpp"
#include "tally/detail/checked_math.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/filters/filter_part.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/filters/statistics.hpp"
#include "tally/hashing/congruential_scheme.hpp"
#include "tally/shapes/blocked_counting_bloom.hpp"
#include "tally/shapes/counting_bloom.hpp"
#include "tally/storage/counter_array.hpp"

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
  /// CountingBloomShape, or for the blocked scheme BlockedCountingBloomShape.
  using Shape = CountingBloomShapeFor<Scheme>;

  /// Empty. Throws std::invalid_argument for a shape that is out of range or that the scheme cannot use, and
  /// std::bad_alloc if there is not enough memory.
  CountingBloomFilter(const Shape& shape, const KeyHasher& hasher)
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
  CountingBloomFilter(const Shape& shape, const KeyHasher& hasher, const Totals& totals,
                      CounterArray counters)
      : shape_(checked(shape)),
        hasher_(hasher),
        keys_(position_space(shape), shape.counter_bits),
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
    return keys_.insert(counters_, hasher_(key));
  }

  /// Inserts every key; returns for how many insertions a counter was or became saturated.
  template <KeyBatch Keys>
  std::uint64_t insert_batch(const Keys& keys) noexcept {
    totals_.num_insertions += std::span(keys).size();
    return keys_.insert_batch(hasher_, counters_, keys);
  }

  /// Does what insert_batch does in one part of the memory, as BloomFilter::insert_batch with a part.
  template <KeyBatch Keys>
  void insert_batch(const Keys& keys, FilterPart part) {
    keys_.insert_batch(hasher_, counters_, keys, part);
    if (part.index == 0) totals_.num_insertions += std::span(keys).size();
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
    const RemoveResult result = keys_.remove(counters_, hasher_(key));
    ++(result == RemoveResult::refused ? totals_.num_refused_removes : totals_.num_removes);
    return result;
  }

  /// results[i] = remove(keys[i]), in order; `results` is as long as `keys`.
  template <KeyBatch Keys>
  void remove_batch(const Keys& keys, std::span<RemoveResult> results) {
    detail::require_one_per_key("remove_batch", "results", std::span(keys).size(), results.size());
    const std::uint64_t num_refused = keys_.remove_batch(hasher_, counters_, keys, results);
    totals_.num_refused_removes += num_refused;
    totals_.num_removes += results.size() - num_refused;
  }

  template <Key K>
  [[nodiscard]] bool may_contain(K&& key) const noexcept {
    return keys_.passes(counters_, hasher_(key), 1);
  }

  /// results[i] = may_contain(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void may_contain_batch(const Keys& keys, std::span<bool> results) const {
    detail::require_one_per_key("may_contain_batch", "results", std::span(keys).size(), results.size());
    keys_.passes_batch(hasher_, counters_, keys, 1, results);
  }

  /// Whether the key is in the multiset at least `theta` times: true whenever it is. Throws
  /// std::invalid_argument unless 1 <= theta <= shape().max_threshold.
  template <Key K>
  [[nodiscard]] bool at_least(K&& key, std::uint64_t theta) const {
    detail::require_in_range(structure, "theta", theta, 1, shape_.max_threshold);
    return keys_.passes(counters_, hasher_(key), theta);
  }

  /// results[i] = at_least(keys[i], theta); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void at_least_batch(const Keys& keys, std::uint64_t theta, std::span<bool> results) const {
    detail::require_one_per_key("at_least_batch", "results", std::span(keys).size(), results.size());
    detail::require_in_range(structure, "theta", theta, 1, shape_.max_threshold);
    keys_.passes_batch(hasher_, counters_, keys, theta, results);
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

  const Shape& shape() const noexcept { return shape_; }
  const KeyHasher& hasher() const noexcept { return hasher_; }
  const Totals& totals() const noexcept { return totals_; }
  const CounterArray& storage() const noexcept { return counters_; }

  /// Whether both have the same shape and hasher and hold the same: what files of both would hold.
  friend bool operator==(const CountingBloomFilter& a, const CountingBloomFilter& b) noexcept {
    return a.shape_ == b.shape_ && a.hasher_ == b.hasher_ && a.totals_ == b.totals_ &&
           a.counters_ == b.counters_;
  }

 private:
  static constexpr std::string_view structure =
      Scheme::layout == PositionLayout::lines ? "BlockedCountingBloomFilter" : "CountingBloomFilter";

  static const Shape& checked(const Shape& shape) {
    check_shape(shape);
    check_position_space<Scheme>(structure, "num_counters", position_space(shape));
    return shape;
  }

  Shape shape_;
  KeyHasher hasher_;
  detail::CountingKeys<Scheme> keys_;
  CounterArray counters_;
  Totals totals_;
};

/// A CountingBloomFilter that touches one 64-byte line per key. Its errors: theory/blocked_counters.hpp.
using BlockedCountingBloomFilter = CountingBloomFilter<BlockedScheme>;

}  // namespace tally
