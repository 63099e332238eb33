#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "tally/detail/checked_math.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/detail/sketches/count_min_batches.hpp"
#include "tally/detail/sketches/count_min_estimates.hpp"
#include "tally/detail/sketches/inner_product.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/hashing/row_schemes.hpp"
#include "tally/shapes/count_min.hpp"
#include "tally/sketches/count_min_bound.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally {

/// How often, or with what total weight, was this key added? A counter a row for every key.
///
/// Law: the estimate is never below the truth. It is above truth + epsilon total_count with the probability
/// of `bound()` at most (theory/count_min.hpp), for keys chosen without a look at the hash functions. With
/// conservative update (only counters below the key's new least value go up) it is never above that of plain
/// update. A counter that reaches its maximum sticks there; estimates that rest on such ones only say so.
/// Nothing can be removed.
///
/// Row schemes: CongruentialRows, the default, the fastest and for any width; IndependentRows and PairwiseRows,
/// the classic sketch; TwoHashRows, the one of Theorem 9.1.
/// Thread rule: reads (const functions) may run together, a write runs alone.
/// A moved-from sketch may only be assigned to or destroyed.
/// Source: Cormode and Muthukrishnan 2003; Kirsch and Mitzenmacher 2008, section 9; conservative update:
/// Estan and Varghese 2003; halving and sticking are ours.
template <RowScheme Rows = DefaultRows>
class CountMinSketch {
 public:
  /// Empty. Throws std::invalid_argument for a shape out of range or that the row scheme cannot use,
  /// std::bad_alloc where there is not enough memory.
  CountMinSketch(const CountMinShape& shape, const KeyHasher& hasher)
      : CountMinSketch(shape, hasher, 0, 0, CounterArray(checked(shape).num_counters(), shape.counter_bits)) {
  }

  /// Takes over what a file held: the totals, and counters of which there are as many, and as wide, as the shape says.
  CountMinSketch(const CountMinShape& shape, const KeyHasher& hasher, std::uint64_t total_count,
                 std::uint64_t rounding, CounterArray counters)
      : shape_(checked(shape)),
        hasher_(hasher),
        rows_({shape.width, shape.depth, shape.num_copies, hasher.seed_or_key_id()}),
        counters_(std::move(counters)),
        bound_(bound_of(shape, Rows::law)),
        total_count_(total_count),
        rounding_(rounding) {}

  CountMinSketch(const CountMinSketch&) = default;
  CountMinSketch(CountMinSketch&&) noexcept = default;
  CountMinSketch& operator=(const CountMinSketch& other) { return *this = CountMinSketch(other); }
  CountMinSketch& operator=(CountMinSketch&&) noexcept = default;
  ~CountMinSketch() = default;

  /// Adds `weight` to the key's count; says whether that found or left one of its counters saturated.
  template <class Key>
  InsertResult add(const Key& key, std::uint64_t weight = 1) noexcept {
    const std::uint64_t weights[] = {weight};
    const Hash128 digests[] = {hasher_(key)};
    return add_batch(digests, weights) == 1 ? InsertResult::saturated : InsertResult::counted;
  }

  /// add(keys[i]) for every i, in order; returns how many found or left a counter saturated.
  template <KeyBatch Keys>
  std::uint64_t add_batch(const Keys& keys) noexcept {
    return add_all(keys, [](std::size_t) { return std::uint64_t{1}; });
  }

  /// The same with add(keys[i], weights[i]); `weights` is as long as `keys`.
  template <KeyBatch Keys>
  std::uint64_t add_batch(const Keys& keys, std::span<const std::uint64_t> weights) noexcept {
    return add_all(keys, [&](std::size_t i) { return weights[i]; });
  }

  /// The least of the key's counters.
  template <class Key>
  Count count(const Key& key) const noexcept {
    const Hash128 digests[] = {hasher_(key)};
    Count counts[1];
    count_batch(digests, counts);
    return counts[0];
  }

  /// results[i] = count(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void count_batch(const Keys& keys, std::span<Count> results) const noexcept {
    read_all(keys, [&](std::size_t i, Count count) { results[i] = count; });
  }

  /// The count with its bounds.
  template <class Key>
  CountEstimate estimate(const Key& key) const noexcept {
    return with_bounds(count(key));
  }

  /// results[i] = estimate(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void estimate_batch(const Keys& keys, std::span<CountEstimate> results) const noexcept {
    read_all(keys, [&](std::size_t i, Count count) { results[i] = with_bounds(count); });
  }

  /// The sum over all keys of the product of their counts here and there (the size of a join); with itself
  /// the second moment. The bounds are those of a count, with the product of both sums for the sum; after
  /// a halving the truth is that of counts halved, not rounded. Throws std::invalid_argument that names the
  /// first field that differs (counter_bits may), or if a sketch has conservative update, whose counters are
  /// below the sum of their keys' counts.
  CountEstimate inner_product(const CountMinSketch& other) const {
    require_same_rows(other);
    for (const CounterUpdate update : {shape_.update, other.shape_.update}) {
      if (update == CounterUpdate::conservative) {
        detail::throw_parameter_error(structure, "update", name_of(update), "plain for an inner product");
      }
    }
    return detail::inner_product({counters_, total_count_, rounding_},
                                 {other.counters_, other.total_count_, other.rounding_}, shape_, bound_);
  }

  /// Adds the other sketch's counters, saturating. Every estimate then is at least the key's count in both;
  /// with plain update, and where nothing saturates, as if all had been added here. Throws
  /// std::invalid_argument that names the first field that differs; nothing has changed then.
  void merge(const CountMinSketch& other) {
    require_mergeable(other);
    counters_.merge(other.counters_);
    total_count_ = detail::saturating_add(total_count_, other.total_count_);
    rounding_ = detail::saturating_add(rounding_, other.rounding_);
  }

  /// Throws what `merge` throws for these two, and does no more.
  void require_mergeable(const CountMinSketch& other) const {
    require_same_rows(other);
    detail::require_same(structure, "counter_bits", shape_.counter_bits, other.shape_.counter_bits);
    detail::require_same(structure, "update", name_of(shape_.update), name_of(other.shape_.update));
  }

  /// Halves every count, rounded up: call it at intervals, and what is old counts for less. A key's truth is
  /// halved and rounded up with it, so no estimate falls below. Saturated counters stay.
  void halve() noexcept {
    counters_.halve();
    if (total_count_ != unknown) total_count_ = total_count_ / 2 + total_count_ % 2;
    // An excess of e over a count becomes (e + 1) / 2 at most, since the count is rounded up too.
    rounding_ = rounding_ / 2 + 1;
  }

  /// As new.
  void clear() noexcept {
    counters_.clear();
    total_count_ = 0;
    rounding_ = 0;
  }

  /// Sum of all weights, halved when the counts were; 2^64 - 1 once it got there.
  std::uint64_t total_count() const noexcept { return total_count_; }
  CountMinBound bound() const noexcept { return bound_; }
  std::uint64_t num_saturated() const noexcept {
    return counters_.num_at_least(counters_.max(), 0, counters_.size());
  }
  /// What halvings may have added to any counter beyond its share, at most; 0 before the first.
  std::uint64_t rounding() const noexcept { return rounding_; }

  FilterStatistics statistics() const {
    return detail::count_min_statistics(shape_, counters_, total_count_);
  }

  const CountMinShape& shape() const noexcept { return shape_; }
  const KeyHasher& hasher() const noexcept { return hasher_; }
  const CounterArray& storage() const noexcept { return counters_; }

 private:
  static constexpr std::string_view structure = "CountMinSketch";
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  static const CountMinShape& checked(const CountMinShape& shape) {
    check_shape<Rows>(shape);
    return shape;
  }

  CountEstimate with_bounds(Count count) const noexcept {
    return detail::estimate_of(count, bound_, total_count_, rounding_);
  }

  void require_same_rows(const CountMinSketch& other) const {
    require_same_hasher(structure, hasher_, other.hasher_);
    detail::require_same(structure, "width", shape_.width, other.shape_.width);
    detail::require_same(structure, "depth", shape_.depth, other.shape_.depth);
    detail::require_same(structure, "num_copies", shape_.num_copies, other.shape_.num_copies);
  }

  template <KeyBatch Keys, class Weight>
  std::uint64_t add_all(const Keys& keys, Weight weight_of) noexcept {
    return detail::add_keys(hasher_, rows_, shape_, counters_, total_count_, keys, weight_of);
  }

  template <KeyBatch Keys, class Use>
  void read_all(const Keys& keys, Use use) const noexcept {
    detail::read_keys(hasher_, rows_, shape_, counters_, keys, use);
  }

  CountMinShape shape_;
  KeyHasher hasher_;
  Rows rows_;
  CounterArray counters_;
  CountMinBound bound_;
  std::uint64_t total_count_;
  std::uint64_t rounding_;
};

}  // namespace tally
