#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/export.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/sketches/counted_keys.hpp"
#include "tally/sketches/weight.hpp"

namespace tally {

/// The most frequent keys of a stream, with `capacity` counters and nothing else. A new key takes over the
/// counter of the least frequent key, and that count becomes its error.
///
/// Guarantee: for each key that is kept, count - error <= truth <= count, and error <= floor(); the truth of
/// every other key is at most floor(); floor() <= total_count / capacity. So every key above that share is
/// kept. All of this is certain for any stream (as long as total_count is below 2^64).
/// Threads: const functions may run concurrently; a write needs exclusive access.
/// Source: Metwally, Agrawal and El Abbadi 2005; the merge: Agarwal et al. 2012.
class TALLY_EXPORT SpaceSaving {
 public:
  /// Empty. Throws std::invalid_argument unless capacity is 1 to 2^30.
  SpaceSaving(std::uint64_t capacity, const KeyHasher& hasher)
      : hasher_(hasher), keys_(capacity, "SpaceSaving") {}

  /// Takes over the parts of another one.
  SpaceSaving(CountedKeys candidates, const KeyHasher& hasher, std::uint64_t total_count, std::uint64_t floor)
      : hasher_(hasher), keys_(std::move(candidates)), total_count_(total_count), floor_(floor) {}

  SpaceSaving(const SpaceSaving&) = default;
  SpaceSaving(SpaceSaving&&) noexcept = default;
  SpaceSaving& operator=(const SpaceSaving& other) { return *this = SpaceSaving(other); }
  SpaceSaving& operator=(SpaceSaving&&) noexcept = default;
  ~SpaceSaving() = default;

  /// Throws std::bad_alloc if there is no memory for the key's bytes, and then changes nothing.
  template <RawKey K>
  void add(K&& key, Weight weight = 1u) {
    const Hash128 digest = hasher_(key);
    add_digest(detail::view_of(key), digest, keys_.salted(digest), weight);
  }

  /// add(keys[i], weights[i]) for every i, in order; `digests` are those of the keys. Without weights: 1
  /// each. Throws std::bad_alloc as TopKeys::add_batch does: the keys before the one without memory have been
  /// added.
  void add_batch(std::span<const std::string_view> keys, std::span<const Hash128> digests,
                 std::span<const std::uint64_t> weights = {});

  /// The bounds on the count of a key, kept or not. What it returns refers to the bytes of `key` or of the kept key.
  template <RawKey K>
  [[nodiscard]] KeyCount estimate(K&& key) const& {
    return estimate(detail::view_of(key), hasher_(key));
  }
  [[nodiscard]] KeyCount estimate(std::string_view key, Hash128 digest) const&;

  /// The keys of the `num_keys` greatest counts, or all that are kept, in the order of CountedKeys::greatest.
  /// What it returns refers to their bytes here.
  [[nodiscard]] std::vector<KeyCount> top(std::uint64_t num_keys) const& { return keys_.greatest(num_keys); }
  std::vector<KeyCount> top(std::uint64_t num_keys) && = delete;

  /// The highest count that a key that is not kept can have.
  std::uint64_t floor() const noexcept { return floor_; }

  /// Keeps the keys of both with the greatest counts. The guarantee then holds for the two streams together.
  /// Throws std::invalid_argument that names the field (hash, seed, capacity) that differs, and
  /// std::bad_alloc, and then changes nothing.
  void merge(const SpaceSaving& other);

  /// Resets the sketch to empty. Allocates nothing.
  void clear() noexcept;

  std::uint64_t total_count() const noexcept { return total_count_; }
  std::uint64_t capacity() const noexcept { return keys_.capacity(); }
  const KeyHasher& hasher() const noexcept { return hasher_; }
  const CountedKeys& candidates() const noexcept { return keys_; }
  std::uint64_t num_bytes() const noexcept { return keys_.num_bytes(); }

  /// Whether files of both would hold the same.
  friend bool operator==(const SpaceSaving&, const SpaceSaving&) = default;

 private:
  void add_digest(std::string_view key, Hash128 digest, std::uint64_t salted, std::uint64_t weight);

  KeyHasher hasher_;
  CountedKeys keys_;
  std::uint64_t total_count_ = 0;
  std::uint64_t floor_ = 0;
};

}  // namespace tally
