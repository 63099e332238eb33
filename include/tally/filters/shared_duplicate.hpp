#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/parameter_error.hpp"
#include "tally/detail/prefetch.hpp"
#include "tally/export.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/statistics.hpp"
#include "tally/hashing/range_reduction.hpp"
#include "tally/shapes/duplicate.hpp"
#include "tally/storage/bit_array.hpp"

namespace tally {

/// A Bloom filter that several threads fill at the same time, and that tells which keys were there before.
///
/// All bits of a key are in one word of 64 bits. So one atomic instruction tests and sets them, and a key costs one cache
/// line; in return, crowded words need more memory: 12.1 bits per key at 1%, where a BloomFilter needs 9.6.
///
/// Guarantee: consider all insertions of one key, in whatever threads. At most one of them learns that the key is new, so
/// whoever counts from two on sees every key that was inserted twice. No false negatives.
/// Threads: all functions may run concurrently, except `clear` and `statistics`.
/// Formula for the false positive rate: theory/blocked_bloom.hpp, with blocks of 64 bits.
class TALLY_EXPORT SharedDuplicateFilter {
 public:
  /// Empty. Throws std::invalid_argument for a shape that is out of range, and std::bad_alloc if there is not enough
  /// memory.
  SharedDuplicateFilter(const DuplicateShape& shape, const KeyHasher& hasher);
  SharedDuplicateFilter(const SharedDuplicateFilter&) = delete;
  SharedDuplicateFilter& operator=(const SharedDuplicateFilter&) = delete;

  /// Inserts the key; returns what may_contain returned before. False means that the key is certainly new.
  template <Key K>
  [[nodiscard]] bool test_and_insert(K&& key) noexcept {
    const Hash128 hash = hasher_(key);
    return test_and_set(word_of(hash), hash);
  }

  /// results[i] = test_and_insert(keys[i]), in order; `results` is as long as `keys`.
  template <KeyBatch Keys>
  void test_and_insert_batch(const Keys& keys, std::span<bool> results) {
    detail::require_one_per_key("test_and_insert_batch", "results", std::span(keys).size(), results.size());
    visit_batch(keys, [&](std::size_t i, std::uint64_t& word, Hash128 hash) {
      results[i] = test_and_set(word, hash);
    });
  }

  template <Key K>
  [[nodiscard]] bool may_contain(K&& key) const noexcept {
    const Hash128 hash = hasher_(key);
    return test(word_of(hash), hash);
  }

  /// results[i] = may_contain(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void may_contain_batch(const Keys& keys, std::span<bool> results) const {
    detail::require_one_per_key("may_contain_batch", "results", std::span(keys).size(), results.size());
    visit_batch(keys,
                [&](std::size_t i, std::uint64_t& word, Hash128 hash) { results[i] = test(word, hash); });
  }

  /// Removes all keys. The memory stays allocated.
  void clear() noexcept;

  /// num_insertions stays 0: a count of all threads would cost as much as an insertion.
  FilterStatistics statistics() const;

  const DuplicateShape& shape() const noexcept { return shape_; }
  const KeyHasher& hasher() const noexcept { return hasher_; }

 private:
  using Word = std::atomic_ref<std::uint64_t>;

  /// The digest's low half chooses the word, slices of 6 bits of its high half the bits in it, which may repeat.
  std::uint64_t& word_of(Hash128 hash) const noexcept {
    return words_[reduce_to_range(hash.low, shape_.num_bits / DuplicateShape::bits_per_word)];
  }
  std::uint64_t bits_of(Hash128 hash) const noexcept {
    std::uint64_t bits = 0;
    for (std::uint32_t i = 0; i < shape_.num_hashes; ++i) {
      bits |= std::uint64_t{1} << hash.high % DuplicateShape::bits_per_word;
      hash.high /= DuplicateShape::bits_per_word;
    }
    return bits;
  }

  bool test(std::uint64_t& word, Hash128 hash) const noexcept {
    return (~Word(word).load(std::memory_order_relaxed) & bits_of(hash)) == 0;
  }
  // Looks first: a change of the word would take its line from the other threads.
  bool test_and_set(std::uint64_t& word, Hash128 hash) noexcept {
    const std::uint64_t bits = bits_of(hash);
    if ((~Word(word).load(std::memory_order_relaxed) & bits) == 0) return true;
    return (~Word(word).fetch_or(bits, std::memory_order_relaxed) & bits) == 0;
  }

  // Calls visit(i, word, digest) for every key in order. The words of the next keys are prefetched.
  template <KeyBatch Keys, class Visit>
  void visit_batch(const Keys& keys, Visit visit) const noexcept {
    constexpr std::size_t distance = 32;
    std::array<Hash128, distance> ahead;
    const auto prepare = [&](std::size_t slot, Hash128 hash) {
      ahead[slot] = hash;
      detail::prefetch_for_write(&word_of(hash));
    };
    const auto use = [&](std::size_t i, std::size_t slot) { visit(i, word_of(ahead[slot]), ahead[slot]); };
    detail::run_ahead(hasher_, keys, distance, prepare, use);
  }

  DuplicateShape shape_;
  KeyHasher hasher_;
  BitArray bits_;
  std::span<std::uint64_t> words_;  // of bits_
};

}  // namespace tally
