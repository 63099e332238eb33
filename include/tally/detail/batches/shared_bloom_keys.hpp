#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/batches/bloom_keys.hpp"
#include "tally/detail/batches/region_locks.hpp"
#include "tally/storage/shared_bits.hpp"

namespace tally::detail {

/// What threads do with the bits of their keys at the same time: without locks, one atomic step per bit.
template <HashScheme Scheme>
class SharedBloomKeys {
 public:
  explicit SharedBloomKeys(PositionSpace space) noexcept : scheme_(space), num_hashes_(space.num_hashes) {}

  /// Returns whether all bits were set.
  bool test_and_insert(BitArray& bits, Hash128 hash) noexcept {
    return test_and_set(SharedBits(bits), KeyPlaces(scheme_, SharedBits(bits), hash));
  }

  /// Inserts every key, and calls use(index, whether all its bits were set).
  template <KeyBatch Keys, class Use>
  void insert_each(const KeyHasher& hasher, BitArray& bits, const Keys& keys, Use use) noexcept {
    const SharedBits shared(bits);
    touch_keys<Access::write, Visits::one>(
        hasher, scheme_, shared, num_hashes_, keys,
        [&use, shared](std::size_t i, const auto& places) { use(i, test_and_set(shared, places)); });
  }

  template <KeyBatch Keys>
  void insert_batch(const KeyHasher& hasher, BitArray& bits, const Keys& keys) noexcept {
    insert_each(hasher, bits, keys, [](std::size_t, bool) {});
  }

  bool may_contain(BitArray& bits, Hash128 hash) noexcept {
    const SharedBits shared(bits);
    return test_key(scheme_, shared, hash, [shared](std::uint64_t offset) { return shared.get(offset); });
  }

  template <KeyBatch Keys>
  void may_contain_batch(const KeyHasher& hasher, BitArray& bits, const Keys& keys, std::span<bool> results) {
    const SharedBits shared(bits);
    test_keys(
        hasher, scheme_, shared, num_hashes_, keys,
        [shared](std::uint64_t offset) { return shared.get(offset); }, results);
  }

 private:
  template <class Places>
  static bool test_and_set(SharedBits bits, const Places& places) noexcept {
    bool all = true;
    all_places(places, [&](std::uint64_t offset) {
      all &= bits.test_and_set(offset);
      return true;
    });
    return all;
  }

  Scheme scheme_;
  std::uint32_t num_hashes_;
};

/// For keys with all bits in one line: the loops and kernels for one thread, each thread in a region of its own.
template <HashScheme Scheme>
requires(is_in_one_line(Scheme::layout)) class SharedBloomKeys<Scheme> {
 public:
  explicit SharedBloomKeys(PositionSpace space) noexcept : keys_(space), locks_(space.num_positions) {}

  bool test_and_insert(BitArray& bits, Hash128 hash) {
    return locks_.in_region_of(first_of_line()(hash), [&] { return keys_.test_and_insert(bits, hash); });
  }

  template <KeyBatch Keys, class Use>
  void insert_each(const KeyHasher& hasher, BitArray& bits, const Keys& keys, Use use) {
    locks_.in_regions(hasher, keys, first_of_line(), [&](auto digests, auto indices) {
      for (const Hash128 digest : digests) bits.prefetch_for_write(first_of_line()(digest));
      for (std::size_t i = 0; i < digests.size(); ++i)
        use(indices[i], keys_.test_and_insert(bits, digests[i]));
    });
  }

  template <KeyBatch Keys>
  void insert_batch(const KeyHasher& hasher, BitArray& bits, const Keys& keys) {
    locks_.in_regions(hasher, keys, first_of_line(),
                      [&](auto digests, auto) { keys_.insert_batch(hasher, bits, digests); });
  }

  bool may_contain(const BitArray& bits, Hash128 hash) {
    return locks_.in_region_of(first_of_line()(hash), [&] { return keys_.may_contain(bits, hash); });
  }

  template <KeyBatch Keys>
  void may_contain_batch(const KeyHasher& hasher, const BitArray& bits, const Keys& keys,
                         std::span<bool> results) {
    locks_.answer_in_regions(hasher, keys, first_of_line(), results, [&](auto digests, std::span<bool> own) {
      keys_.may_contain_batch(hasher, bits, digests, own);
    });
  }

 private:
  auto first_of_line() const noexcept {
    return [this](Hash128 hash) { return keys_.scheme().first_of_line(hash); };
  }

  BloomKeys<Scheme> keys_;
  RegionLocks locks_;
};

}  // namespace tally::detail
