#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/detail/parameter_error.hpp"
#include "tally/detail/sketches/merged_keys.hpp"
#include "tally/sketches/count_min.hpp"
#include "tally/sketches/counted_keys.hpp"
#include "tally/sketches/weight.hpp"

namespace tally {

/// The most frequent keys of a stream: `capacity` candidates, each with its bytes and counted exactly while
/// it is a candidate, and a Count-Min sketch of all other keys.
///
/// The past count of a new key is at most the sketch's estimate, and at most floor(). With that count the key
/// either replaces the candidate with the smallest count, whose count goes to the sketch, or is counted in
/// the sketch.
///
/// Guarantee: for each candidate, count - error <= truth <= count; the truth of every other key is at most
/// floor(); floor() <= total_count / capacity. So every key above that share is a candidate. All of this is
/// certain for any stream (as long as total_count is below 2^64): the sketch never estimates too low, and
/// where it estimates too high, floor() is at least as good a bound as that of SpaceSaving. Thanks to the
/// sketch, errors and floor() are usually far lower.
///
/// Saturated counters of the sketch reduce that precision and nothing else.
/// Threads: const functions may run concurrently; a write needs exclusive access.
/// Source: Roy, Khan and Alonso 2016 (counting frequent keys before the sketch); the bounds and the merge are
/// ours.
template <RowScheme Rows = DefaultRows>
class TopKeys {
 public:
  /// Empty. Throws std::invalid_argument unless capacity is 1 to 2^30, and what CountMinSketch throws.
  TopKeys(std::uint64_t capacity, const CountMinShape& shape, const KeyHasher& hasher)
      : sketch_(shape, hasher), keys_(capacity, "TopKeys") {}

  /// Takes over the parts of another one, whose sketch was never halved.
  TopKeys(CountMinSketch<Rows> sketch, CountedKeys candidates, std::uint64_t total_count, std::uint64_t floor)
      : sketch_(std::move(sketch)), keys_(std::move(candidates)), total_count_(total_count), floor_(floor) {}

  TopKeys(const TopKeys&) = default;
  TopKeys(TopKeys&&) noexcept = default;
  TopKeys& operator=(const TopKeys& other) { return *this = TopKeys(other); }
  TopKeys& operator=(TopKeys&&) noexcept = default;
  ~TopKeys() = default;

  /// Throws std::bad_alloc if there is no memory for the key's bytes, and then changes nothing.
  template <RawKey K>
  void add(K&& key, Weight weight = 1u) {
    const Hash128 digest = hasher()(key);
    (void)add_digest(detail::view_of(key), digest, keys_.find(digest), weight);
  }

  /// add(keys[i], weights[i]) for every i, in order; `digests` are those of the keys. Without weights: 1
  /// each. Throws std::bad_alloc if there is no memory for the bytes of some key. Then the keys before it
  /// have been added, it and the keys after it have not, and total_count() has grown by the weights of the
  /// former.
  void add_batch(std::span<const std::string_view> keys, std::span<const Hash128> digests,
                 std::span<const std::uint64_t> weights = {}) {
    detail::require_one_per_key("add_batch", "digests", keys.size(), digests.size());
    if (!weights.empty()) detail::require_one_per_key("add_batch", "weights", keys.size(), weights.size());
    for (std::size_t first = 0; first < keys.size(); first += keys_per_window) {
      const std::size_t count = std::min(keys_per_window, keys.size() - first);
      std::array<std::uint64_t, keys_per_window> salted;
      std::array<std::uint32_t, keys_per_window> entries;
      // Computed in advance: a search whose branches are mispredicted would wait for the multiplications too.
      for (std::size_t i = 0; i < count; ++i) salted[i] = keys_.salted(digests[first + i]);
      keys_.find_likely(std::span(salted).first(count), std::span(entries).first(count));
      fetch(digests.subspan(first, count), entries);
      std::uint64_t added = 0;  // bits of the keys that became candidates since the search
      for (std::size_t i = 0; i < count; ++i) {
        const Hash128 digest = digests[first + i];
        const std::uint64_t own_bit = std::uint64_t{1} << (salted[i] & 63);
        const bool was_there = entries[i] != CountedKeys::none;
        const bool is_outdated = was_there ? keys_[entries[i]].digest != digest : (added & own_bit) != 0;
        const std::uint32_t entry = is_outdated ? keys_.find(digest, salted[i]) : entries[i];
        const bool is_added =
            add_digest(keys[first + i], digest, entry, weights.empty() ? 1 : weights[first + i]);
        if (is_added) added |= own_bit;
      }
    }
  }

  /// The bounds on the count of a key, candidate or not. What it returns refers to the bytes of `key` or of the candidate.
  template <RawKey K>
  [[nodiscard]] KeyCount estimate(K&& key) const& {
    return estimate(detail::view_of(key), hasher()(key));
  }
  [[nodiscard]] KeyCount estimate(std::string_view key, Hash128 digest) const& {
    if (const std::uint32_t i = keys_.find(digest); i != CountedKeys::none) return keys_.key_count(i);
    const std::uint64_t most = most_before(digest);
    return {key, digest, most, most};
  }

  /// The `num_keys` candidates with the greatest counts, or all, in the order of CountedKeys::greatest.
  /// What it returns refers to their bytes here.
  [[nodiscard]] std::vector<KeyCount> top(std::uint64_t num_keys) const& { return keys_.greatest(num_keys); }
  std::vector<KeyCount> top(std::uint64_t num_keys) && = delete;

  /// The candidate with the smallest count, the one that the next new candidate replaces; there must be one. What it
  /// returns refers to its bytes here.
  [[nodiscard]] KeyCount least() & noexcept { return keys_.key_count(keys_.least()); }

  /// The highest count that a key outside the candidates can have.
  std::uint64_t floor() const noexcept { return floor_; }

  /// Keeps the keys of both with the greatest counts, and counts the others in the sketch. The guarantee then
  /// holds for the two streams together. Throws std::invalid_argument that names the field (hash, seed,
  /// capacity, shape of the sketch) that differs, and std::bad_alloc, and then changes nothing.
  void merge(const TopKeys& other) {
    require_same_hasher("TopKeys", hasher(), other.hasher());
    detail::require_same("TopKeys", "capacity", capacity(), other.capacity());
    CountMinSketch<Rows> sketch = sketch_;
    sketch.merge(other.sketch_);
    const auto side = [](const TopKeys& own) {
      return detail::KeysToMerge{own.keys_, own.floor_,
                                 [&own](Hash128 digest) { return own.most_before(digest); }};
    };
    detail::MergedKeys merged = detail::MergedKeys::of(side(*this), side(other), "TopKeys");
    for (const detail::LeftOutKey& key : merged.left_out) sketch.add(key.digest, key.weight);
    sketch_ = std::move(sketch);
    keys_ = std::move(merged.keys);
    total_count_ = detail::saturating_add(total_count_, other.total_count_);
    floor_ = merged.floor;
  }

  /// Resets the sketch to empty. Allocates nothing.
  void clear() noexcept {
    sketch_.clear();
    keys_.clear();
    total_count_ = 0;
    floor_ = 0;
  }

  std::uint64_t total_count() const noexcept { return total_count_; }
  std::uint64_t capacity() const noexcept { return keys_.capacity(); }
  const KeyHasher& hasher() const noexcept { return sketch_.hasher(); }
  const CountedKeys& candidates() const noexcept { return keys_; }
  const CountMinSketch<Rows>& sketch() const noexcept { return sketch_; }
  std::uint64_t num_bytes() const noexcept { return keys_.num_bytes() + tally::num_bytes(sketch_.shape()); }

  /// Whether files of both would hold the same.
  friend bool operator==(const TopKeys&, const TopKeys&) = default;

 private:
  /// Prefetches the counters of the digests that are not candidates; their values do not matter yet.
  void fetch(std::span<const Hash128> digests,
             const std::array<std::uint32_t, keys_per_window>& entries) const noexcept {
    if (!keys_.is_full()) return;
    std::array<Hash128, keys_per_window> others;
    std::array<Count, keys_per_window> ignored;
    std::size_t num_others = 0;
    for (std::size_t i = 0; i < digests.size(); ++i) {
      others[num_others] = digests[i];
      num_others += entries[i] == CountedKeys::none;
    }
    sketch_.count_batch(std::span<const Hash128>(others.data(), num_others),
                        std::span(ignored).first(num_others));
  }

  /// The highest count that this key, which is not a candidate, can have.
  std::uint64_t most_before(Hash128 digest) const noexcept {
    const Count count = sketch_.count(digest);
    return count.saturated ? floor_ : std::min(count.value, floor_);
  }

  /// `entry` is that of the key, or `none`. Returns whether the key became a candidate.
  bool add_digest(std::string_view key, Hash128 digest, std::uint32_t entry, std::uint64_t weight) {
    if (weight == 0) return false;
    const bool is_added = count_digest(key, digest, entry, weight);
    total_count_ = detail::saturating_add(total_count_, weight);
    return is_added;
  }

  bool count_digest(std::string_view key, Hash128 digest, std::uint32_t entry, std::uint64_t weight) {
    if (entry != CountedKeys::none) {
      keys_.raise(entry, weight);
      return false;
    }
    if (!keys_.is_full()) {
      keys_.add(key, {digest, weight, 0});
      return true;
    }

    const std::uint64_t before = most_before(digest);
    const std::uint64_t count = detail::saturating_add(before, weight);
    const CountedKeys::Entry least = keys_[keys_.least()];
    if (count <= least.count) {
      sketch_.add(digest, weight);
      floor_ = std::max(floor_, count);
      return false;
    }
    keys_.replace_least(key, {digest, count, before});
    sketch_.add(least.digest, least.count - least.error);
    floor_ = std::max(floor_, least.count);
    return true;
  }

  CountMinSketch<Rows> sketch_;  // for every key, what was added while it was not a candidate
  CountedKeys keys_;
  std::uint64_t total_count_ = 0;
  std::uint64_t floor_ = 0;
};

}  // namespace tally
