#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "tally/detail/parameter_error.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/filters/threshold.hpp"
#include "tally/hashing/congruential_scheme.hpp"
#include "tally/shapes/threshold.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally {

/// A ThresholdFilter while several threads insert into it. Plain update only.
///
/// Law: once all threads are done, `release` gives the very filter that plain insertion of the same keys
/// by one thread gives, in whatever order. Of the insertions of one key, in whatever threads, one at
/// least that is not among the first theta - 1 to end is told that the key has been inserted theta times: a
/// key at theta is never missed. A key below theta is told so with the probabilities of ThresholdFilter.
///
/// That law rests on the order of the steps: an insertion first raises all k counters and then reads all of
/// them, sequentially consistent; so the one whose last raise is last sees the raises of all the others.
/// Thread rule: insertions may run together; `release` runs alone.
template <HashScheme Scheme = DefaultScheme>
class SharedThresholdFilter {
 public:
  /// Empty. Throws std::invalid_argument for a shape out of range, that the scheme cannot use or whose
  /// update is not plain, std::bad_alloc where there is not enough memory.
  SharedThresholdFilter(const ThresholdShape& shape, const KeyHasher& hasher)
      : shape_(checked(shape)),
        hasher_(hasher),
        scheme_(position_space(shape)),
        counters_(shape.num_counters, counter_bits_for(shape)) {}

  /// Inserts every key once.
  template <KeyBatch Keys>
  void insert_batch(const Keys& keys) noexcept {
    for_each_key(keys, [&](std::size_t, std::span<const std::uint64_t> places) { (void)raise(places); });
  }

  /// The same; results[i].value is the key's count after its insertion: never below the number of insertions
  /// of the key that had ended when this one began, itself included. `results` is as long as `keys`.
  template <KeyBatch Keys>
  void insert_and_count_batch(const Keys& keys, std::span<Count> results) noexcept {
    for_each_key(keys, [&](std::size_t i, std::span<const std::uint64_t> places) {
      std::uint64_t least = raise(places);
      // What other threads raised since: only a count below the threshold can be wrong for want of it.
      if (least < shape_.threshold) {
        least = counters_.max();
        for (const std::uint64_t place : places) least = std::min(least, counters_.get_shared_at(place));
      }
      results[i] = {least, least == counters_.max()};
    });
  }

  /// The filter, of which nothing is left here.
  ThresholdFilter<Scheme> release() && {
    return {shape_, hasher_, num_insertions_.load(), std::move(counters_)};
  }

  const ThresholdShape& shape() const noexcept { return shape_; }
  const KeyHasher& hasher() const noexcept { return hasher_; }

 private:
  static constexpr std::string_view structure = "SharedThresholdFilter";

  static const ThresholdShape& checked(const ThresholdShape& shape) {
    check_shape(shape);
    check_position_space<Scheme>(structure, "num_counters", position_space(shape));
    if (shape.update != CounterUpdate::plain)
      detail::throw_parameter_error(structure, "update", name_of(shape.update), "plain");
    return shape;
  }

  template <KeyBatch Keys, class Touch>
  void for_each_key(const Keys& keys, Touch touch) noexcept {
    detail::touch_keys<detail::Access::write>(hasher_, scheme_, counters_, shape_.num_hashes, keys, touch);
    num_insertions_.fetch_add(std::span(keys).size(), std::memory_order_relaxed);
  }

  // Returns the least of the values that the counters had right after they were raised.
  std::uint64_t raise(std::span<const std::uint64_t> places) noexcept {
    std::uint64_t least = counters_.max();
    for (const std::uint64_t place : places) least = std::min(least, counters_.increment_shared_at(place));
    return least;
  }

  ThresholdShape shape_;
  KeyHasher hasher_;
  Scheme scheme_;
  CounterArray counters_;
  std::atomic<std::uint64_t> num_insertions_ = 0;
};

}  // namespace tally
