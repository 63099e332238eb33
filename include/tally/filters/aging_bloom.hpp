#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "tally/detail/parameter_error.hpp"
#include "tally/export.hpp"
#include "tally/filters/bloom.hpp"

namespace tally {

/// The false positive rate of each of two generations that together have `rate`: 1 - sqrt(1 - rate), a little more than half.
TALLY_EXPORT double rate_per_generation(double rate) noexcept;

/// A set of recent keys that forgets old ones: two Bloom filters that take turns. Keys are inserted into the newer one. When
/// it has `keys_per_generation` insertions, or when `advance` is called, it becomes the older one, and the filter that was
/// the older one is cleared.
///
/// Guarantee: `may_contain` is true for a key until two advances after its last insertion. So it remembers at least the last
/// keys_per_generation insertions, and at most twice as many. For other keys it is true with a probability of at most
/// 1 - (1 - p)^2, where p is the false positive rate of the shape for keys_per_generation keys; plan the shape with
/// rate_per_generation. Advancing takes the time of clearing a filter, and allocates nothing.
/// Threads: const functions may run concurrently; a write needs exclusive access.
/// Source: double buffering, Chang, Feng, Li 2004; Yoon 2010.
template <HashScheme Scheme = DefaultScheme>
class AgingBloomFilter {
 public:
  using Shape = BloomShapeFor<Scheme>;

  /// Empty, with the memory of two filters. Throws std::invalid_argument unless keys_per_generation is at least 1, and what
  /// BloomFilter throws.
  AgingBloomFilter(const Shape& shape, const KeyHasher& hasher, std::uint64_t keys_per_generation)
      : newer_(shape, hasher), older_(shape, hasher), keys_per_generation_(keys_per_generation) {
    if (keys_per_generation == 0)
      detail::throw_parameter_error("AgingBloomFilter", "keys_per_generation", "0", "at least 1");
  }

  AgingBloomFilter(const AgingBloomFilter&) = default;
  AgingBloomFilter(AgingBloomFilter&&) noexcept = default;
  AgingBloomFilter& operator=(const AgingBloomFilter& other) { return *this = AgingBloomFilter(other); }
  AgingBloomFilter& operator=(AgingBloomFilter&&) noexcept = default;
  ~AgingBloomFilter() = default;

  template <Key K>
  void insert(K&& key) noexcept {
    advance_if_full();
    newer_.insert(key);
  }

  template <KeyBatch Keys>
  void insert_batch(const Keys& keys) noexcept {
    const std::span all(keys);
    for (std::size_t first = 0; first < all.size();) {
      advance_if_full();
      const std::uint64_t room = keys_per_generation_ - newer_.num_insertions();
      const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(room, all.size() - first));
      newer_.insert_batch(all.subspan(first, count));
      first += count;
    }
  }

  /// Inserts the key unless it is already in the newer filter; returns what may_contain returned before. For reporting a key
  /// once: false means that it is new, or was last seen long ago. Every call makes the key recent, but does not fill the
  /// filter with one key that is seen over and over.
  template <Key K>
  [[nodiscard]] bool test_and_refresh(K&& key) noexcept {
    const Hash128 digest = hasher()(key);
    if (newer_.may_contain(digest)) return true;
    const bool was_there = older_.may_contain(digest);
    insert(digest);
    return was_there;
  }

  template <Key K>
  [[nodiscard]] bool may_contain(K&& key) const noexcept {
    const Hash128 digest = hasher()(key);
    return newer_.may_contain(digest) || older_.may_contain(digest);
  }

  /// results[i] = may_contain(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void may_contain_batch(const Keys& keys, std::span<bool> results) const {
    detail::require_one_per_key("may_contain_batch", "results", std::span(keys).size(), results.size());
    const std::span all(keys);
    std::array<bool, keys_per_window> old;
    for (std::size_t first = 0; first < all.size(); first += old.size()) {
      const std::size_t count = std::min(old.size(), all.size() - first);
      newer_.may_contain_batch(all.subspan(first, count), results.subspan(first, count));
      older_.may_contain_batch(all.subspan(first, count), std::span(old).first(count));
      for (std::size_t i = 0; i < count; ++i) results[first + i] |= old[i];
    }
  }

  /// Forgets the older filter; the newer one becomes the older. Call it at intervals for a set of the keys of the latest
  /// period.
  void advance() noexcept {
    std::swap(newer_, older_);
    newer_.clear();
    ++num_advances_;
  }

  /// Removes all keys. The memory stays allocated.
  void clear() noexcept {
    newer_.clear();
    older_.clear();
    num_advances_ = 0;
  }

  std::uint64_t keys_per_generation() const noexcept { return keys_per_generation_; }
  std::uint64_t num_advances() const noexcept { return num_advances_; }
  const KeyHasher& hasher() const noexcept { return newer_.hasher(); }
  const BloomFilter<Scheme>& newer() const noexcept { return newer_; }
  const BloomFilter<Scheme>& older() const noexcept { return older_; }

  friend bool operator==(const AgingBloomFilter&, const AgingBloomFilter&) = default;

 private:
  void advance_if_full() noexcept {
    if (newer_.num_insertions() >= keys_per_generation_) advance();
  }

  BloomFilter<Scheme> newer_;
  BloomFilter<Scheme> older_;
  std::uint64_t keys_per_generation_;
  std::uint64_t num_advances_ = 0;
};

}  // namespace tally
