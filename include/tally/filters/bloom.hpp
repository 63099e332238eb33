#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "tally/detail/batches/bloom_keys.hpp"
#include "tally/detail/checked_math.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/filters/filter_part.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/statistics.hpp"
#include "tally/hashing/blocked_scheme.hpp"
#include "tally/hashing/congruential_scheme.hpp"
#include "tally/hashing/register_blocked_scheme.hpp"
#include "tally/shapes/blocked_bloom.hpp"
#include "tally/shapes/bloom.hpp"
#include "tally/storage/bit_array.hpp"

namespace tally {

/// A set of keys in a few bits each: `may_contain` is true for every inserted key, and for any other key with
/// the planned false positive rate.
///
/// Guarantee: no false negatives. Keys cannot be removed (see CountingBloomFilter).
/// Threads: const functions may run concurrently; a write needs exclusive access.
/// A moved-from filter may only be assigned to or destroyed.
/// Source: Bloom 1970; Fan et al. 2000. Formula for the false positive rate: theory/bloom.hpp, for the blocked
/// scheme theory/blocked_bloom.hpp, for the register-blocked scheme theory/register_bloom.hpp.
template <HashScheme Scheme = DefaultScheme>
class BloomFilter {
 public:
  /// BloomShape, or for the blocked and register-blocked schemes BlockedBloomShape.
  using Shape = BloomShapeFor<Scheme>;

  /// Empty. Throws std::invalid_argument for a shape that is out of range or that the scheme cannot use, and
  /// std::bad_alloc if there is not enough memory.
  BloomFilter(const Shape& shape, const KeyHasher& hasher)
      : BloomFilter(shape, hasher, 0, BitArray(checked(shape).num_bits)) {}

  /// Takes over what a file held.
  BloomFilter(const Shape& shape, const KeyHasher& hasher, std::uint64_t num_insertions, BitArray bits)
      : shape_(checked(shape)),
        hasher_(hasher),
        keys_(position_space(shape)),
        bits_(std::move(bits)),
        num_insertions_(num_insertions) {}

  BloomFilter(const BloomFilter&) = default;
  BloomFilter(BloomFilter&&) noexcept = default;
  BloomFilter& operator=(const BloomFilter& other) { return *this = BloomFilter(other); }
  BloomFilter& operator=(BloomFilter&&) noexcept = default;
  ~BloomFilter() = default;

  template <Key K>
  void insert(K&& key) noexcept {
    ++num_insertions_;
    keys_.insert(bits_, hasher_(key));
  }

  /// Inserts the key; returns what may_contain returned before. False means that the key is certainly new.
  template <Key K>
  [[nodiscard]] bool test_and_insert(K&& key) noexcept {
    ++num_insertions_;
    return keys_.test_and_insert(bits_, hasher_(key));
  }

  template <KeyBatch Keys>
  void insert_batch(const Keys& keys) noexcept {
    num_insertions_ += std::span(keys).size();
    keys_.insert_batch(hasher_, bits_, keys);
  }

  /// Does what insert_batch does in one part of the memory. Threads may call it at the same time for different parts, and
  /// nothing else. The filter is that of the keys once all parts have had them. Each call computes all positions, so two to
  /// four parts are best. Throws std::invalid_argument unless part.index < part.num_parts.
  template <KeyBatch Keys>
  void insert_batch(const Keys& keys, FilterPart part) {
    keys_.insert_batch(hasher_, bits_, keys, part);
    if (part.index == 0) num_insertions_ += std::span(keys).size();
  }

  template <Key K>
  [[nodiscard]] bool may_contain(K&& key) const noexcept {
    return keys_.may_contain(bits_, hasher_(key));
  }

  /// results[i] = may_contain(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void may_contain_batch(const Keys& keys, std::span<bool> results) const {
    detail::require_one_per_key("may_contain_batch", "results", std::span(keys).size(), results.size());
    keys_.may_contain_batch(hasher_, bits_, keys, results);
  }

  /// Prefetches the key's lines, for callers that look up each key a little later.
  void prefetch(Hash128 hash) const noexcept {
    keys_.scheme().all_positions(hash, [&](std::uint64_t position) {
      bits_.prefetch_for_write(position);
      return true;
    });
  }

  /// Inserts every key of a range.
  template <KeyRange Keys>
  void insert_range(Keys&& keys) {
    detail::in_batches(hasher_, keys, [&](const auto& batch) { insert_batch(batch); });
  }

  /// Removes all keys. The memory stays allocated.
  void clear() noexcept {
    bits_.clear();
    num_insertions_ = 0;
  }

  /// OR: makes this the filter of the keys in either set, exactly as if they had all been inserted here. Throws
  /// std::invalid_argument that names the first field that differs, and then changes nothing.
  void merge(const BloomFilter& other) {
    require_mergeable(other);
    bits_.merge(other.bits_);
    num_insertions_ = detail::saturating_add(num_insertions_, other.num_insertions_);
  }

  /// AND: keeps the bits that are set in both. `may_contain` is then true for exactly the keys for which it was true in both
  /// filters, so for every key that is in both sets. A new filter of these keys alone would have fewer bits set, and a lower
  /// false positive rate. num_insertions() becomes the smaller one. Throws as `merge`.
  void intersect(const BloomFilter& other) {
    require_mergeable(other);
    bits_.intersect(other.bits_);
    num_insertions_ = std::min(num_insertions_, other.num_insertions_);
  }

  FilterStatistics statistics() const {
    FilterStatistics statistics = storage_statistics(bits_, Scheme::layout, position_space(shape_), 1);
    statistics.num_insertions = num_insertions_;
    return statistics;
  }

  const Shape& shape() const noexcept { return shape_; }
  const KeyHasher& hasher() const noexcept { return hasher_; }
  std::uint64_t num_insertions() const noexcept { return num_insertions_; }
  const BitArray& storage() const noexcept { return bits_; }

  /// Whether both have the same shape and hasher and hold the same: what files of both would hold.
  friend bool operator==(const BloomFilter& a, const BloomFilter& b) noexcept {
    return a.shape_ == b.shape_ && a.hasher_ == b.hasher_ && a.num_insertions_ == b.num_insertions_ &&
           a.bits_ == b.bits_;
  }

 private:
  static constexpr std::string_view structure =
      is_in_one_line(Scheme::layout) ? "BlockedBloomFilter" : "BloomFilter";

  static const Shape& checked(const Shape& shape) {
    check_position_space<Scheme>(structure, "num_bits", position_space(shape));
    return shape;
  }

  void require_mergeable(const BloomFilter& other) const {
    require_same_hasher(structure, hasher_, other.hasher_);
    detail::require_same(structure, "num_bits", shape_.num_bits, other.shape_.num_bits);
    detail::require_same(structure, "num_hashes", shape_.num_hashes, other.shape_.num_hashes);
  }

  Shape shape_;
  KeyHasher hasher_;
  detail::BloomKeys<Scheme> keys_;
  BitArray bits_;
  std::uint64_t num_insertions_;
};

/// A BloomFilter that touches one 64-byte line per key; num_bits is a multiple of 512.
using BlockedBloomFilter = BloomFilter<BlockedScheme>;

/// The fastest of the three: it also touches one line per key, and has all bits of a line in vector registers at once.
using RegisterBlockedBloomFilter = BloomFilter<RegisterBlockedScheme>;

}  // namespace tally
