#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "tally/detail/checked_math.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/detail/sketches/count_min_estimates.hpp"
#include "tally/detail/sketches/count_min_loops.hpp"
#include "tally/detail/sketches/inner_product.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/hashing/row_schemes.hpp"
#include "tally/shapes/count_min.hpp"
#include "tally/sketches/count_min_bound.hpp"
#include "tally/sketches/weight.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally {

/// How often, or with what total weight, was this key added? Each key has one counter per row.
///
/// Guarantee: the estimate is never below the truth. It is above truth + epsilon total_count with at most the
/// probability of `bound()` (theory/count_min.hpp), for keys chosen without knowledge of the hash functions.
/// With conservative update (only counters below the key's new minimum are raised) it is never above that of
/// plain update. A counter that reaches its maximum stays there; an estimate that depends only on such
/// counters is marked saturated. Nothing can be removed.
///
/// Row schemes: CongruentialRows, the default, the fastest and for any width; IndependentRows and
/// PairwiseRows, the classic sketch; TwoHashRows, the sketch of Theorem 9.1.
/// Threads: const functions may run concurrently; a write needs exclusive access.
/// A moved-from sketch may only be assigned to or destroyed.
/// Source: Cormode and Muthukrishnan 2003; Kirsch and Mitzenmacher 2008, section 9; conservative update:
/// Estan and Varghese 2003; halving and saturation are ours.
template <RowScheme Rows = DefaultRows>
class CountMinSketch {
 public:
  /// Empty. Throws std::invalid_argument for a shape that is out of range or that the row scheme cannot use,
  /// and std::bad_alloc if there is not enough memory.
  CountMinSketch(const CountMinShape& shape, const KeyHasher& hasher)
      : CountMinSketch(shape, hasher, 0, 0, CounterArray(checked(shape).num_counters(), shape.counter_bits)) {
  }

  /// Takes over the contents of a file: the totals, and counters whose number and width match the shape.
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

  /// Adds `weight` to the key's count; returns whether one of its counters was or became saturated.
  template <Key K>
  InsertResult add(K&& key, Weight weight = 1u) noexcept {
    total_count_ = detail::saturating_add(total_count_, weight);
    const bool is_saturated = Loops::add_one(rows_, shape_, counters_, hasher_(key), weight);
    return is_saturated ? InsertResult::saturated : InsertResult::counted;
  }

  /// add(keys[i]) for every i, in order; returns for how many keys a counter was or became saturated.
  template <KeyBatch Keys>
  std::uint64_t add_batch(const Keys& keys) noexcept {
    return add_in_windows(keys, [&](std::size_t, std::span<const Hash128> digests) {
      return Loops::add_ones(rows_, shape_, counters_, total_count_, digests);
    });
  }

  /// The same with add(keys[i], weights[i]); `weights` is as long as `keys`.
  template <KeyBatch Keys>
  std::uint64_t add_batch(const Keys& keys, std::span<const std::uint64_t> weights) {
    detail::require_one_per_key("add_batch", "weights", std::span(keys).size(), weights.size());
    return add_in_windows(keys, [&](std::size_t first, std::span<const Hash128> digests) {
      return Loops::add_weights(rows_, shape_, counters_, total_count_, digests, weights.data() + first);
    });
  }

  /// Adds 1 for every key of a range; returns for how many a counter was or became saturated.
  template <KeyRange Keys>
  std::uint64_t add_range(Keys&& keys) {
    std::uint64_t num_saturated = 0;
    detail::in_batches(hasher_, keys, [&](const auto& batch) { num_saturated += add_batch(batch); });
    return num_saturated;
  }

  /// The smallest of the key's counters.
  template <Key K>
  [[nodiscard]] Count count(K&& key) const noexcept {
    return Loops::count_one(rows_, shape_, counters_, hasher_(key));
  }

  /// results[i] = count(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void count_batch(const Keys& keys, std::span<Count> results) const {
    detail::require_one_per_key("count_batch", "results", std::span(keys).size(), results.size());
    detail::in_windows(hasher_, keys, [&](std::size_t first, std::span<const Hash128> digests) {
      Loops::count(rows_, shape_, counters_, digests, results.subspan(first, digests.size()));
    });
  }

  /// The count with its bounds.
  template <Key K>
  [[nodiscard]] CountEstimate estimate(K&& key) const noexcept {
    return with_bounds(count(key));
  }

  /// results[i] = estimate(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void estimate_batch(const Keys& keys, std::span<CountEstimate> results) const {
    detail::require_one_per_key("estimate_batch", "results", std::span(keys).size(), results.size());
    std::array<Count, keys_per_window> counts;
    for (std::size_t first = 0; first < results.size(); first += counts.size()) {
      const std::size_t size = std::min(counts.size(), results.size() - first);
      count_batch(std::span(keys).subspan(first, size), std::span(counts).first(size));
      for (std::size_t i = 0; i < size; ++i) results[first + i] = with_bounds(counts[i]);
    }
  }

  /// The sum over all keys of the product of their counts here and there (the size of a join); with itself,
  /// the second moment. The bounds are those of a count, with the product of both sums instead of the sum.
  /// After a halving, the truth is that of counts halved and not rounded. Throws std::invalid_argument that
  /// names the first field that differs (counter_bits may), or if a sketch has conservative update, whose
  /// counters are below the sum of their keys' counts.
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

  /// Adds the other sketch's counters, saturating. Every estimate is then at least the key's count in both;
  /// with plain update, and if nothing saturates, it is as if everything had been added here. Throws
  /// std::invalid_argument that names the first field that differs, and then changes nothing.
  void merge(const CountMinSketch& other) {
    require_mergeable(other);
    counters_.merge(other.counters_);
    total_count_ = detail::saturating_add(total_count_, other.total_count_);
    rounding_ = detail::saturating_add(rounding_, other.rounding_);
  }

  /// Throws what `merge` throws for these two, and does nothing else.
  void require_mergeable(const CountMinSketch& other) const {
    require_same_rows(other);
    detail::require_same(structure, "counter_bits", shape_.counter_bits, other.shape_.counter_bits);
    detail::require_same(structure, "update", name_of(shape_.update), name_of(other.shape_.update));
  }

  /// Halves every count, rounded up. Call it at intervals to make old counts weigh less. The true counts are
  /// halved and rounded up too, so no estimate falls below them. Saturated counters stay.
  void halve() noexcept {
    counters_.halve();
    if (total_count_ != unknown) total_count_ = total_count_ / 2 + total_count_ % 2;
    // An excess of e over a count becomes at most (e + 1) / 2, because the count is rounded up too.
    rounding_ = rounding_ / 2 + 1;
  }

  /// Resets the sketch to empty.
  void clear() noexcept {
    counters_.clear();
    total_count_ = 0;
    rounding_ = 0;
  }

  /// Sum of all weights, halved whenever the counts were; stays at 2^64 - 1 once it reaches it.
  std::uint64_t total_count() const noexcept { return total_count_; }
  CountMinBound bound() const noexcept { return bound_; }
  std::uint64_t num_saturated() const noexcept {
    return counters_.num_at_least(counters_.max(), 0, counters_.size());
  }
  /// The most that halvings may have added to any counter beyond its share; 0 before the first.
  std::uint64_t rounding() const noexcept { return rounding_; }

  FilterStatistics statistics() const {
    return detail::count_min_statistics(shape_, counters_, total_count_);
  }

  const CountMinShape& shape() const noexcept { return shape_; }
  const KeyHasher& hasher() const noexcept { return hasher_; }
  const CounterArray& storage() const noexcept { return counters_; }

  /// Whether both have the same shape and hasher and hold the same: what files of both would hold.
  friend bool operator==(const CountMinSketch& a, const CountMinSketch& b) noexcept {
    return a.shape_ == b.shape_ && a.hasher_ == b.hasher_ && a.total_count_ == b.total_count_ &&
           a.rounding_ == b.rounding_ && a.counters_ == b.counters_;
  }

 private:
  using Loops = detail::CountMinLoops<Rows>;

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

  template <KeyBatch Keys, class Add>
  std::uint64_t add_in_windows(const Keys& keys, Add add) noexcept {
    std::uint64_t num_saturated = 0;
    detail::in_windows(hasher_, keys, [&](std::size_t first, std::span<const Hash128> digests) {
      num_saturated += add(first, digests);
    });
    return num_saturated;
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
