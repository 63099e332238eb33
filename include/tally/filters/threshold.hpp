#pragma once

#include <algorithm>
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
#include "tally/shapes/threshold.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/storage/nibble_counters.hpp"

namespace tally {

/// Has this key been inserted at least theta times? Insert-only, with counters just wide enough to count to
/// theta.
///
/// Guarantee: `at_least` is true for every key inserted theta times or more. For a key inserted t < theta
/// times it is true with the probability of theory/threshold.hpp (plain update, keys inserted about equally
/// often; theory/compound_poisson.hpp for any histogram), and with conservative update at most that.
/// Threads: const functions may run concurrently; a write needs exclusive access.
/// A moved-from filter may only be assigned to or destroyed.
/// Source: Kim, Jeong, Lee, Lee 2019; conservative update: Estan and Varghese 2003.
template <HashScheme Scheme = DefaultScheme>
class ThresholdFilter {
 public:
  /// Empty. Throws std::invalid_argument for a shape that is out of range or that the scheme cannot use, and
  /// std::bad_alloc if there is not enough memory.
  ThresholdFilter(const ThresholdShape& shape, const KeyHasher& hasher)
      : ThresholdFilter(shape, hasher, 0,
                        CounterArray(checked(shape).num_counters, counter_bits_for(shape))) {}

  /// Takes over what a file held.
  ThresholdFilter(const ThresholdShape& shape, const KeyHasher& hasher, std::uint64_t num_insertions,
                  CounterArray counters)
      : shape_(checked(shape)),
        hasher_(hasher),
        scheme_(position_space(shape)),
        counters_(std::move(counters)),
        num_insertions_(num_insertions) {}

  ThresholdFilter(const ThresholdFilter&) = default;
  ThresholdFilter(ThresholdFilter&&) noexcept = default;
  ThresholdFilter& operator=(const ThresholdFilter& other) { return *this = ThresholdFilter(other); }
  ThresholdFilter& operator=(ThresholdFilter&&) noexcept = default;
  ~ThresholdFilter() = default;

  /// Inserts the key once; returns whether it has now been inserted at least theta times.
  template <Key K>
  ThresholdState insert(K&& key) noexcept {
    return state_of(insert_and_count(key).value);
  }

  /// Inserts the key once; returns its count afterwards, as `count` would.
  template <Key K>
  Count insert_and_count(K&& key) noexcept {
    Count result;
    const Hash128 hash = hasher_(key);
    with_counters(counters_, [&](auto counters) {
      detail::touch_key<detail::Visits::several>(
          scheme_, counters, shape_.num_hashes, hash, [&](std::span<const std::uint64_t> offsets) {
            result = count_of(detail::raise_at(counters, offsets, shape_.update));
          });
    });
    ++num_insertions_;
    return result;
  }

  /// Inserts the key as often as `times` says; takes no longer than to insert it once.
  template <Key K>
  void insert_times(K&& key, std::uint64_t times) noexcept {
    const Hash128 hash = hasher_(key);
    with_counters(counters_, [&](auto counters) {
      detail::touch_key<detail::Visits::several>(
          scheme_, counters, shape_.num_hashes, hash, [&](std::span<const std::uint64_t> offsets) {
            detail::raise_by_at(counters, offsets, shape_.update, times);
          });
    });
    num_insertions_ = detail::saturating_add(num_insertions_, times);
  }

  /// results[i] = insert(keys[i]), in order; `results` is as long as `keys`.
  template <KeyBatch Keys>
  void insert_batch(const Keys& keys, std::span<ThresholdState> results) {
    detail::require_one_per_key("insert_batch", "results", std::span(keys).size(), results.size());
    insert_each(keys, [&](std::size_t i, std::uint64_t least) { results[i] = state_of(least); });
    num_insertions_ += std::span(keys).size();
  }

  /// results[i] = insert_and_count(keys[i]), in order; `results` is as long as `keys`.
  template <KeyBatch Keys>
  void insert_and_count_batch(const Keys& keys, std::span<Count> results) {
    detail::require_one_per_key("insert_and_count_batch", "results", std::span(keys).size(), results.size());
    insert_each(keys, [&](std::size_t i, std::uint64_t least) { results[i] = count_of(least); });
    num_insertions_ += std::span(keys).size();
  }

  /// Inserts every key of a range once; returns how many of these insertions `insert` would have called at_least.
  template <KeyRange Keys>
  std::uint64_t insert_range(Keys&& keys) {
    std::uint64_t num_at_least = 0;
    detail::in_batches(hasher_, keys, [&](const auto& batch) {
      insert_each(batch, [&](std::size_t, std::uint64_t least) {
        num_at_least += state_of(least) == ThresholdState::at_least;
      });
      num_insertions_ += std::span(batch).size();
    });
    return num_at_least;
  }

  /// Removes all keys. The memory stays allocated.
  void clear() noexcept {
    counters_.clear();
    num_insertions_ = 0;
  }

  template <Key K>
  [[nodiscard]] bool at_least(K&& key) const noexcept {
    return detail::counters_pass(scheme_, counters_, hasher_(key), shape_.threshold);
  }

  /// results[i] = at_least(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void at_least_batch(const Keys& keys, std::span<bool> results) const {
    detail::require_one_per_key("at_least_batch", "results", std::span(keys).size(), results.size());
    detail::counters_pass(hasher_, scheme_, shape_.num_hashes, counters_, keys, shape_.threshold, results);
  }

  /// The smallest of the key's counters: an upper bound below theta, a lower bound if saturated.
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

  /// sums[i].value += count(keys[i]).value, for keys of which most were never inserted here; `sums` is as long as `keys`.
  template <KeyBatch Keys>
  void add_rare_counts_batch(const Keys& keys, std::span<Count> sums) const noexcept {
    detail::add_rare_counts(hasher_, scheme_, shape_.num_hashes, counters_, keys, sums);
  }

  /// Adds the other filter's counters, saturating. Every key's count is then at least its total in both; with
  /// plain update, and if nothing saturates, it is as if both streams had been inserted here. Throws
  /// std::invalid_argument that names the first field that differs, and then changes nothing.
  void merge(const ThresholdFilter& other) {
    require_same_hasher(structure, hasher_, other.hasher_);
    detail::require_same(structure, "num_counters", shape_.num_counters, other.shape_.num_counters);
    detail::require_same(structure, "num_hashes", shape_.num_hashes, other.shape_.num_hashes);
    detail::require_same(structure, "threshold", shape_.threshold, other.shape_.threshold);
    detail::require_same(structure, "update", name_of(shape_.update), name_of(other.shape_.update));
    counters_.merge(other.counters_);
    num_insertions_ = detail::saturating_add(num_insertions_, other.num_insertions_);
  }

  FilterStatistics statistics() const {
    FilterStatistics statistics =
        storage_statistics(counters_, Scheme::layout, position_space(shape_), shape_.threshold);
    statistics.num_insertions = num_insertions_;
    return statistics;
  }

  const ThresholdShape& shape() const noexcept { return shape_; }
  const KeyHasher& hasher() const noexcept { return hasher_; }
  std::uint64_t num_insertions() const noexcept { return num_insertions_; }
  const CounterArray& storage() const noexcept { return counters_; }

  /// Whether both have the same shape and hasher and hold the same: what files of both would hold.
  friend bool operator==(const ThresholdFilter& a, const ThresholdFilter& b) noexcept {
    return a.shape_ == b.shape_ && a.hasher_ == b.hasher_ && a.num_insertions_ == b.num_insertions_ &&
           a.counters_ == b.counters_;
  }

 private:
  static constexpr std::string_view structure = "ThresholdFilter";

  static const ThresholdShape& checked(const ThresholdShape& shape) {
    check_shape(shape);
    check_position_space<Scheme>(structure, "num_counters", position_space(shape));
    return shape;
  }

  ThresholdState state_of(std::uint64_t count) const noexcept {
    return count >= shape_.threshold ? ThresholdState::at_least : ThresholdState::below;
  }
  Count count_of(std::uint64_t least) const noexcept { return {least, least == counters_.max()}; }

  // Inserts every key, and calls use(index, its smallest counter afterwards).
  template <KeyBatch Keys, class Use>
  void insert_each(const Keys& keys, Use use) noexcept {
    with_counters(counters_, [&](auto counters) {
      detail::touch_keys<detail::Access::write, detail::Visits::several>(
          hasher_, scheme_, counters, shape_.num_hashes, keys,
          [&](std::size_t i, std::span<const std::uint64_t> offsets) {
            use(i, detail::raise_at(counters, offsets, shape_.update));
          });
    });
  }

  ThresholdShape shape_;
  KeyHasher hasher_;
  Scheme scheme_;
  CounterArray counters_;
  std::uint64_t num_insertions_;
};

}  // namespace tally
