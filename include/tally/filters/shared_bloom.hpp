#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "tally/detail/batches/shared_bloom_keys.hpp"
#include "tally/detail/batches/shared_line_bloom_keys.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/filters/bloom.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/storage/bit_array.hpp"

namespace tally {

/// A BloomFilter while several threads use it.
///
/// Lookups need no lock. A thread that inserts into a filter whose keys have all bits in one line locks a region of the lines:
/// a batch collects its keys by region, takes a lock for many of them, and uses the kernels of the ordinary filter. In the other
/// filters it needs no lock, but an atomic step per bit.
///
/// Guarantee: `may_contain` is true for every key whose insertion has ended, and `release` returns the filter that one thread
/// gives for the same keys, in any order. Of all insertions of a new key at least one learns that it is new. With
/// locks exactly one does; without, several learn it if they insert it at the same moment.
/// Threads: all functions may run concurrently, except `clear`, `release` and `statistics`.
template <HashScheme Scheme = DefaultScheme>
class SharedBloomFilter {
 public:
  using Shape = BloomShapeFor<Scheme>;

  /// Empty. Throws std::invalid_argument for a shape that is out of range or that the scheme cannot use, and
  /// std::bad_alloc if there is not enough memory.
  SharedBloomFilter(const Shape& shape, const KeyHasher& hasher)
      : shape_(checked(shape)), hasher_(hasher), keys_(position_space(shape)), bits_(shape.num_bits) {}

  template <Key K>
  void insert(K&& key) noexcept {
    (void)test_and_insert(key);
  }

  /// Inserts the key. False means that the key is certainly new.
  template <Key K>
  [[nodiscard]] bool test_and_insert(K&& key) noexcept {
    return keys_.test_and_insert(bits_, hasher_(key));
  }

  template <KeyBatch Keys>
  void insert_batch(const Keys& keys) noexcept {
    keys_.insert_batch(hasher_, bits_, keys);
  }

  /// results[i] = test_and_insert(keys[i]), in order; `results` is as long as `keys`.
  template <KeyBatch Keys>
  void test_and_insert_batch(const Keys& keys, std::span<bool> results) {
    detail::require_one_per_key("test_and_insert_batch", "results", std::span(keys).size(), results.size());
    keys_.insert_each(hasher_, bits_, keys, [&](std::size_t i, bool was_there) { results[i] = was_there; });
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

  /// Removes all keys. The memory stays allocated.
  void clear() noexcept {
    bits_.clear();
    keys_.clear_totals();
  }

  FilterStatistics statistics() const {
    FilterStatistics statistics = storage_statistics(bits_, Scheme::layout, position_space(shape_), 1);
    statistics.num_insertions = num_insertions();
    return statistics;
  }

  /// Moves the filter out of this object.
  BloomFilter<Scheme> release() && { return {shape_, hasher_, num_insertions(), std::move(bits_)}; }

  const Shape& shape() const noexcept { return shape_; }
  const KeyHasher& hasher() const noexcept { return hasher_; }
  std::uint64_t num_insertions() const noexcept { return keys_.num_insertions(); }

 private:
  static const Shape& checked(const Shape& shape) {
    check_position_space<Scheme>("SharedBloomFilter", "num_bits", position_space(shape));
    return shape;
  }

  Shape shape_;
  KeyHasher hasher_;
  // Words are read atomically, for which they must not be const.
  mutable detail::SharedBloomKeys<Scheme> keys_;
  mutable BitArray bits_;
};

}  // namespace tally
