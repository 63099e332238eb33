#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/batches/bloom_keys.hpp"
#include "tally/detail/striped_count.hpp"
#include "tally/storage/shared_bits.hpp"

namespace tally::detail {

/// What threads do with the bits of their keys at the same time, and how many insertions there were: without locks, one atomic
/// step per bit.
template <HashScheme Scheme>
class SharedBloomKeys {
  static_assert(!is_in_one_line(Scheme::layout), "shared_line_bloom_keys.hpp has those");

 public:
  explicit SharedBloomKeys(PositionSpace space) noexcept : scheme_(space), num_hashes_(space.num_hashes) {}

  /// Returns whether all bits were set.
  bool test_and_insert(BitArray& bits, Hash128 hash) noexcept {
    num_insertions_.add(1);
    return test_and_set(SharedBits(bits), KeyPlaces(scheme_, SharedBits(bits), hash));
  }

  /// Inserts every key, and calls use(index, whether all its bits were set).
  template <KeyBatch Keys, class Use>
  void insert_each(const KeyHasher& hasher, BitArray& bits, const Keys& keys, Use use) noexcept {
    num_insertions_.add(std::span(keys).size());
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

  std::uint64_t num_insertions() const noexcept { return num_insertions_.total(); }
  void clear_totals() noexcept { num_insertions_.clear(); }

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
  StripedCount num_insertions_;
};

}  // namespace tally::detail
