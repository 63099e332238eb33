#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "tally/detail/parameter_error.hpp"
#include "tally/detail/sketches/count_min_loops.hpp"
#include "tally/detail/striped_count.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/sketches/count_min.hpp"
#include "tally/sketches/weight.hpp"
#include "tally/storage/shared_counters.hpp"

namespace tally {

/// A CountMinSketch while several threads use it: without locks, one atomic step per counter. Plain update only: two threads
/// that raise one key's counters conservatively at the same moment would count it once.
///
/// Guarantee: `count` is never below the sum of the key's weights whose additions have ended, and `release` returns the
/// sketch that one thread gives for the same additions, in any order.
/// Threads: all functions may run concurrently, except `clear` and `release`.
template <RowScheme Rows = DefaultRows>
class SharedCountMinSketch {
 public:
  /// Empty. Throws std::invalid_argument for a shape that is out of range, that the row scheme cannot use or whose update
  /// is not plain, and std::bad_alloc if there is not enough memory.
  SharedCountMinSketch(const CountMinShape& shape, const KeyHasher& hasher)
      : shape_(checked(shape)),
        hasher_(hasher),
        rows_({shape.width, shape.depth, shape.num_copies, hasher.seed_or_key_id()}),
        counters_(shape.num_counters(), shape.counter_bits) {}

  /// Adds `weight` to the key's count; returns whether one of its counters was or became saturated.
  template <Key K>
  InsertResult add(K&& key, Weight weight = 1u) noexcept {
    total_count_.add(weight);
    const Cells cells(counters_);
    bool is_saturated = false;
    detail::for_each_counter(rows_, shape_.width, hasher_(key),
                             [&](std::uint64_t i) { is_saturated |= cells.add(i, weight); });
    return is_saturated ? InsertResult::saturated : InsertResult::counted;
  }

  /// add(keys[i]) for every i; returns for how many keys a counter was or became saturated.
  template <KeyBatch Keys>
  std::uint64_t add_batch(const Keys& keys) noexcept {
    return add_each(keys, [](std::size_t) { return std::uint64_t{1}; });
  }

  /// The same with add(keys[i], weights[i]); `weights` is as long as `keys`.
  template <KeyBatch Keys>
  std::uint64_t add_batch(const Keys& keys, std::span<const std::uint64_t> weights) {
    detail::require_one_per_key("add_batch", "weights", std::span(keys).size(), weights.size());
    return add_each(keys, [&](std::size_t i) { return weights[i]; });
  }

  /// The smallest of the key's counters.
  template <Key K>
  [[nodiscard]] Count count(K&& key) const noexcept {
    const Cells cells(counters_);
    std::uint64_t least = cells.max();
    detail::for_each_counter(rows_, shape_.width, hasher_(key),
                             [&](std::uint64_t i) { least = std::min(least, cells.get(i)); });
    return {least, least == cells.max()};
  }

  /// results[i] = count(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void count_batch(const Keys& keys, std::span<Count> results) const {
    detail::require_one_per_key("count_batch", "results", std::span(keys).size(), results.size());
    const Cells cells(counters_);
    for_each_key(keys, cells, [&](std::size_t i, auto own) {
      std::uint64_t least = cells.max();
      for (const std::uint64_t at : own) least = std::min(least, cells.get(at));
      results[i] = {least, least == cells.max()};
    });
  }

  /// Resets the sketch to empty.
  void clear() noexcept {
    counters_.clear();
    total_count_.clear();
  }

  /// Moves the sketch out of this object.
  CountMinSketch<Rows> release() && { return {shape_, hasher_, total_count(), 0, std::move(counters_)}; }

  /// Sum of all weights; stays at 2^64 - 1 once it reaches it.
  std::uint64_t total_count() const noexcept { return total_count_.total(); }
  CountMinBound bound() const noexcept { return bound_of(shape_, Rows::law); }
  const CountMinShape& shape() const noexcept { return shape_; }
  const KeyHasher& hasher() const noexcept { return hasher_; }

 private:
  /// The counters by their indices.
  class Cells {
   public:
    explicit Cells(CounterArray& counters) noexcept
        : counters_(counters), counter_bits_(counters.counter_bits()) {}

    std::uint64_t max() const noexcept { return counters_.max(); }
    std::uint64_t get(std::uint64_t i) const noexcept { return counters_.get_at(i * counter_bits_); }
    /// Returns whether the counter is saturated now.
    bool add(std::uint64_t i, std::uint64_t weight) const noexcept {
      return counters_.raise_by_at(i * counter_bits_, weight) == max();
    }
    void prefetch(std::uint64_t i) const noexcept { counters_.prefetch_for_write(i * counter_bits_); }

   private:
    SharedCounters counters_;
    std::uint64_t counter_bits_;
  };

  static const CountMinShape& checked(const CountMinShape& shape) {
    check_shape<Rows>(shape);
    if (shape.update != CounterUpdate::plain)
      detail::throw_parameter_error("SharedCountMinSketch", "update", name_of(shape.update), "plain");
    return shape;
  }

  template <KeyBatch Keys, class WeightOf>
  std::uint64_t add_each(const Keys& keys, WeightOf weight_of) noexcept {
    const Cells cells(counters_);
    std::uint64_t num_saturated = 0;
    std::uint64_t total = 0;
    for_each_key(keys, cells, [&](std::size_t i, auto own) {
      const std::uint64_t weight = weight_of(i);
      total = detail::saturating_add(total, weight);
      bool is_saturated = false;
      for (const std::uint64_t at : own) is_saturated |= cells.add(at, weight);
      num_saturated += is_saturated;
    });
    total_count_.add(total);
    return num_saturated;
  }

  /// Calls use(index, the indices of the key's counters) for every key in order.
  template <KeyBatch Keys, class Use>
  void for_each_key(const Keys& keys, const Cells& cells, Use use) const noexcept {
    detail::in_windows(hasher_, keys, [&](std::size_t first, std::span<const Hash128> digests) {
      detail::for_each_key_with_rows(rows_, shape_, cells, digests,
                                     [&](std::size_t i, auto own) { use(first + i, own); });
    });
  }

  CountMinShape shape_;
  KeyHasher hasher_;
  Rows rows_;
  mutable CounterArray counters_;  // atomic reads take it as it is written
  detail::StripedCount total_count_;
};

}  // namespace tally
