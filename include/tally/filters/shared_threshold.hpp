#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "tally/detail/parameter_error.hpp"
#include "tally/detail/striped_count.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/filters/threshold.hpp"
#include "tally/hashing/congruential_scheme.hpp"
#include "tally/shapes/threshold.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/storage/shared_counters.hpp"

namespace tally {

/// A ThresholdFilter while several threads insert into it. Plain update only.
///
/// Guarantee: once all threads are done, `release` returns the same filter that one thread gives by plain
/// insertion of the same keys, in any order. Consider all insertions of one key, in whatever threads, except
/// the first theta - 1 to end: at least one of them reports that the key has been inserted theta times. So a
/// key at theta is never missed. A key below theta is reported with the probabilities of ThresholdFilter.
///
/// The guarantee rests on the order of the steps. An insertion first raises all k counters and then reads all
/// of them, sequentially consistent. So the insertion whose last raise comes last reads the raises of all the
/// others.
/// Threads: insertions may run concurrently; `release` needs exclusive access.
template <HashScheme Scheme = DefaultScheme>
class SharedThresholdFilter {
 public:
  /// Empty. Throws std::invalid_argument for a shape that is out of range, that the scheme cannot use or
  /// whose update is not plain, and std::bad_alloc if there is not enough memory.
  SharedThresholdFilter(const ThresholdShape& shape, const KeyHasher& hasher)
      : shape_(checked(shape)),
        hasher_(hasher),
        scheme_(position_space(shape)),
        counters_(shape.num_counters, counter_bits_for(shape)) {}

  /// Inserts every key once.
  template <KeyBatch Keys>
  void insert_batch(const Keys& keys) noexcept {
    for_each_key(keys, [&](std::size_t, std::span<const std::uint64_t> offsets) { (void)raise(offsets); });
  }

  /// The same; results[i].value is the key's count after its insertion. It is never below the number of
  /// insertions of the key that had ended when this one began, including this one. `results` is as long as
  /// `keys`.
  template <KeyBatch Keys>
  void insert_and_count_batch(const Keys& keys, std::span<Count> results) {
    detail::require_one_per_key("insert_and_count_batch", "results", std::span(keys).size(), results.size());
    for_each_key(keys, [&](std::size_t i, std::span<const std::uint64_t> offsets) {
      std::uint64_t least = raise(offsets);
      // What other threads have raised since then: without it only a count below the threshold can be wrong.
      if (least < shape_.threshold) least = detail::least_at(SharedCounters(counters_), offsets);
      results[i] = {least, least == counters_.max()};
    });
  }

  /// Removes all keys. Needs exclusive access.
  void clear() noexcept {
    counters_.clear();
    num_insertions_.clear();
  }

  /// Moves the filter out of this object.
  ThresholdFilter<Scheme> release() && {
    return {shape_, hasher_, num_insertions_.total(), std::move(counters_)};
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
    detail::touch_keys<detail::Access::write, detail::Visits::several>(hasher_, scheme_, counters_,
                                                                       shape_.num_hashes, keys, touch);
    num_insertions_.add(std::span(keys).size());
  }

  // Returns the smallest of the values that the counters had right after they were raised.
  std::uint64_t raise(std::span<const std::uint64_t> offsets) noexcept {
    const SharedCounters counters(counters_);
    std::uint64_t least = counters.max();
    for (const std::uint64_t offset : offsets) least = std::min(least, counters.raised(offset));
    return least;
  }

  ThresholdShape shape_;
  KeyHasher hasher_;
  Scheme scheme_;
  CounterArray counters_;
  detail::StripedCount num_insertions_;
};

}  // namespace tally
