#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "tally/detail/parameter_error.hpp"
#include "tally/sketches/count_min.hpp"
#include "tally/sketches/weight.hpp"

namespace tally {

/// Counts over a sliding window, in two generations: keys are added to the newer one, and `advance` forgets
/// the older one. So an estimate covers everything added since the last advance but one. After the first
/// advance, that is at least one whole interval between advances and less than two.
///
/// Guarantee: as CountMinSketch, where the truth is what was added to the two generations, and total_count
/// its sum.
/// Threads: const functions may run concurrently; a write needs exclusive access.
template <RowScheme Rows = DefaultRows>
class CountMinWindow {
 public:
  /// Empty; takes twice the memory of the shape. Throws what CountMinSketch throws.
  CountMinWindow(const CountMinShape& shape, const KeyHasher& hasher)
      : newer_(shape, hasher), older_(shape, hasher) {}

  /// Takes over both generations. Throws std::invalid_argument that names the first field (hash, seed, shape)
  /// that differs.
  CountMinWindow(CountMinSketch<Rows> newer, CountMinSketch<Rows> older)
      : newer_(std::move(newer)), older_(std::move(older)) {
    newer_.require_mergeable(older_);
  }

  CountMinWindow(const CountMinWindow&) = default;
  CountMinWindow(CountMinWindow&&) noexcept = default;
  CountMinWindow& operator=(const CountMinWindow& other) { return *this = CountMinWindow(other); }
  CountMinWindow& operator=(CountMinWindow&&) noexcept = default;
  ~CountMinWindow() = default;

  template <Key K>
  InsertResult add(K&& key, Weight weight = 1u) noexcept {
    return newer_.add(key, weight);
  }
  template <KeyBatch Keys>
  std::uint64_t add_batch(const Keys& keys) noexcept {
    return newer_.add_batch(keys);
  }
  template <KeyBatch Keys>
  std::uint64_t add_batch(const Keys& keys, std::span<const std::uint64_t> weights) {
    detail::require_one_per_key("add_batch", "weights", std::span(keys).size(), weights.size());
    return newer_.add_batch(keys, weights);
  }

  /// Resets both generations to empty.
  void clear() noexcept {
    newer_.clear();
    older_.clear();
  }

  /// Forgets the older generation; the newer one becomes the older. Allocates nothing.
  void advance() noexcept {
    std::swap(newer_, older_);
    newer_.clear();
  }

  /// Adds the generations of the other window to those of this one. The guarantee holds for both streams
  /// together if both windows advanced at the same times. Throws what CountMinSketch::merge throws, and then
  /// changes nothing.
  void merge(const CountMinWindow& other) {
    newer_.merge(other.newer_);
    older_.merge(other.older_);  // cannot throw: both generations have the same shape
  }

  template <Key K>
  [[nodiscard]] CountEstimate estimate(K&& key) const noexcept {
    const Hash128 digest = newer_.hasher()(key);
    return sum_of(newer_.estimate(digest), older_.estimate(digest));
  }

  /// results[i] = estimate(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void estimate_batch(const Keys& keys, std::span<CountEstimate> results) const {
    detail::require_one_per_key("estimate_batch", "results", std::span(keys).size(), results.size());
    const std::span all(keys);
    std::array<CountEstimate, keys_per_window> old;
    for (std::size_t first = 0; first < all.size(); first += keys_per_window) {
      const std::size_t count = std::min(keys_per_window, all.size() - first);
      newer_.estimate_batch(all.subspan(first, count), results.subspan(first, count));
      older_.estimate_batch(all.subspan(first, count), std::span(old).first(count));
      for (std::size_t i = 0; i < count; ++i) results[first + i] = sum_of(results[first + i], old[i]);
    }
  }

  /// Sum of all weights in the window.
  std::uint64_t total_count() const noexcept {
    return detail::saturating_add(newer_.total_count(), older_.total_count());
  }
  CountMinBound bound() const noexcept { return newer_.bound(); }

  const CountMinSketch<Rows>& newer() const noexcept { return newer_; }
  const CountMinSketch<Rows>& older() const noexcept { return older_; }

  friend bool operator==(const CountMinWindow&, const CountMinWindow&) = default;

 private:
  // The sum of two minimum counters is at most the minimum sum: the bound is that of the two sketches merged.
  CountEstimate sum_of(const CountEstimate& a, const CountEstimate& b) const noexcept {
    const Count count{detail::saturating_add(a.value, b.value), a.saturated || b.saturated};
    CountEstimate sum = detail::estimate_of(count, bound(), total_count(), 0);
    sum.upper = detail::saturating_add(a.upper, b.upper);
    return sum;
  }

  CountMinSketch<Rows> newer_;
  CountMinSketch<Rows> older_;
};

}  // namespace tally
