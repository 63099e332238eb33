#pragma once

#include <cstdint>
#include <span>

#include "tally/detail/batches/line_kernels.hpp"
#include "tally/detail/batches/near_keys.hpp"
#include "tally/detail/batches/own_positions.hpp"
#include "tally/detail/batches/test_keys.hpp"
#include "tally/detail/batches/touch_keys.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/hashing/hash_scheme.hpp"
#include "tally/storage/bit_array.hpp"

namespace tally::detail {

/// What a BloomFilter does with the bits of its keys, with kernels where there are some for the scheme.
template <HashScheme Scheme>
class BloomKeys {
 public:
  explicit BloomKeys(PositionSpace space) noexcept
      : scheme_(space), kernels_(space.num_hashes), num_hashes_(space.num_hashes) {}

  const Scheme& scheme() const noexcept { return scheme_; }

  void insert(BitArray& bits, Hash128 hash) const noexcept {
    if constexpr (Kernels::exist) return kernels_.insert(scheme_, bits, hash);
    scheme_.all_positions(hash, [&](std::uint64_t position) {
      bits.set(position);
      return true;
    });
  }

  /// Returns whether all bits were set before.
  bool test_and_insert(BitArray& bits, Hash128 hash) const noexcept {
    if constexpr (Kernels::exist) return kernels_.test_and_insert(scheme_, bits, hash);
    bool all = true;
    scheme_.all_positions(hash, [&](std::uint64_t position) {
      all &= bits.get(position);
      bits.set(position);
      return true;
    });
    return all;
  }

  template <KeyBatch Keys>
  void insert_batch(const KeyHasher& hasher, BitArray& bits, const Keys& keys) const noexcept {
    if constexpr (Kernels::exist) return kernels_.insert_batch(hasher, scheme_, bits, keys);
    touch_keys<Access::write, Visits::one>(hasher, scheme_, bits, num_hashes_, keys,
                                           [&](std::size_t, const auto& places) {
                                             all_places(places, [&](std::uint64_t offset) {
                                               bits.set(offset);
                                               return true;
                                             });
                                           });
  }

  /// Sets the bits in `part` only.
  template <KeyBatch Keys>
  void insert_batch(const KeyHasher& hasher, BitArray& bits, const Keys& keys, FilterPart part) const {
    const OwnPositions own(bits.words().size(), 64, part);
    if constexpr (is_in_one_line(Scheme::layout)) {
      for_keys_of_own_lines(hasher, scheme_, own, keys,
                            [&](std::span<const Hash128> some) { insert_batch(hasher, bits, some); });
    } else {
      for_own_positions(
          hasher, scheme_, num_hashes_, own, keys,
          [&](std::uint64_t position) { bits.prefetch_for_write(position); },
          [&](std::uint64_t position) { bits.set(position); });
    }
  }

  bool may_contain(const BitArray& bits, Hash128 hash) const noexcept {
    if constexpr (Kernels::exist) return kernels_.contains(scheme_, bits, hash);
    const auto is_set = [&](std::uint64_t offset) { return bits.get(offset); };
    if constexpr (is_in_one_line(Scheme::layout)) {
      if (is_near(bits)) return test_whole_key(scheme_, bits, hash, is_set);
    }
    return test_key(scheme_, bits, hash, is_set);
  }

  /// results[i] = may_contain(keys[i]).
  template <KeyBatch Keys>
  void may_contain_batch(const KeyHasher& hasher, const BitArray& bits, const Keys& keys,
                         std::span<bool> results) const {
    if constexpr (Kernels::exist) return kernels_.contains_batch(hasher, scheme_, bits, keys, results);
    test_keys(
        hasher, scheme_, bits, num_hashes_, keys, [&](std::uint64_t offset) { return bits.get(offset); },
        results);
  }

 private:
  using Kernels = LineKernels<Scheme>;

  Scheme scheme_;
  [[no_unique_address]] Kernels kernels_;
  std::uint32_t num_hashes_;
};

}  // namespace tally::detail
