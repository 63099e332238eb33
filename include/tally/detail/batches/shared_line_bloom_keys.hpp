#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/batches/bloom_keys.hpp"
#include "tally/detail/batches/line_kernels.hpp"
#include "tally/detail/batches/lines_ahead.hpp"
#include "tally/detail/batches/region_locks.hpp"
#include "tally/detail/batches/shared_bloom_keys.hpp"
#include "tally/detail/unset_array.hpp"
#include "tally/storage/shared_bits.hpp"

namespace tally::detail {

/// For keys with all bits in one line: the kernels for one thread, if there are some. Lookups need no lock; a thread that
/// inserts has a region of the lines to itself. Both read and write words of 64 bits, each of which processors with 64 bits
/// read and write in one step.
template <HashScheme Scheme>
requires(is_in_one_line(Scheme::layout)) class SharedBloomKeys<Scheme> {
 public:
  explicit SharedBloomKeys(PositionSpace space) noexcept
      : keys_(space),
        kernels_(space.num_hashes),
        locks_(space.num_positions / BitArray::positions_per_line),
        num_hashes_(space.num_hashes) {}

  bool test_and_insert(BitArray& bits, Hash128 hash) {
    return locks_.in_region_of(line_of(hash), [&](PartTotals& totals) {
      ++totals[0];
      return insert_alone(bits, hash);
    });
  }

  template <KeyBatch Keys, class Use>
  void insert_each(const KeyHasher& hasher, BitArray& bits, const Keys& keys, Use use) {
    locks_.in_windows(
        keys,
        [&](PartTotals& totals, std::size_t first, const auto& window) {
          totals[0] += window.size();
          insert_window(hasher, bits, window,
                        [&](std::size_t i, bool was_there) { use(first + i, was_there); });
        },
        [&](std::size_t first, const auto& window) {
          insert_in_regions(hasher, bits, window,
                            [&](std::size_t i, bool was_there) { use(first + i, was_there); });
        });
  }

  template <KeyBatch Keys>
  void insert_batch(const KeyHasher& hasher, BitArray& bits, const Keys& keys) {
    locks_.in_windows(
        keys,
        [&](PartTotals& totals, std::size_t, const auto& window) {
          totals[0] += window.size();
          if constexpr (has_kernels) return keys_.insert_batch(hasher, bits, window);
          insert_window(hasher, bits, window, [](std::size_t, bool) {});
        },
        [&](std::size_t, const auto& window) {
          if constexpr (has_kernels) return insert_by_kernels(hasher, bits, window);
          insert_in_regions(hasher, bits, window, [](std::size_t, bool) {});
        });
  }

  bool may_contain(BitArray& bits, Hash128 hash) const noexcept {
    if constexpr (has_kernels) return keys_.may_contain(bits, hash);
    const SharedBits shared(bits);
    return test_whole_key(keys_.scheme(), shared, hash, is_set_in(shared));
  }

  template <KeyBatch Keys>
  void may_contain_batch(const KeyHasher& hasher, BitArray& bits, const Keys& keys,
                         std::span<bool> results) const {
    if constexpr (has_kernels) return keys_.may_contain_batch(hasher, bits, keys, results);
    const SharedBits shared(bits);
    test_keys(hasher, keys_.scheme(), shared, num_hashes_, keys, is_set_in(shared), results);
  }

  std::uint64_t num_insertions() noexcept { return locks_.totals()[0]; }
  void clear_totals() noexcept { locks_.clear_totals(); }

 private:
  static constexpr bool has_kernels = LineKernels<Scheme>::exist;

  static auto is_set_in(SharedBits bits) noexcept {
    return [bits](std::uint64_t offset) { return bits.get(offset); };
  }
  std::uint64_t line_of(Hash128 hash) const noexcept {
    return keys_.scheme().first_of_line(hash) / BitArray::positions_per_line;
  }

  bool insert_alone(BitArray& bits, Hash128 hash) const noexcept {
    if constexpr (has_kernels) return keys_.test_and_insert(bits, hash);
    const SharedBits shared(bits);
    return set_alone(shared, KeyPlaces(keys_.scheme(), shared, hash));
  }

  template <class Places>
  static bool set_alone(SharedBits bits, const Places& places) noexcept {
    std::uint64_t all = 1;
    all_places(places, [&](std::uint64_t offset) {
      all &= bits.set_alone(offset);
      return true;
    });
    return all != 0;
  }

  /// While no other thread is in any region.
  template <KeyBatch Keys, class Use>
  void insert_window(const KeyHasher& hasher, BitArray& bits, const Keys& keys, Use use) const noexcept {
    if constexpr (has_kernels) {
      return with_lines_ahead<Access::write>(
          hasher, keys, [&](Hash128 hash) { return bits.line(line_of(hash)); },
          [&](std::size_t i, Hash128 hash) { use(i, insert_alone(bits, hash)); });
    }
    const SharedBits shared(bits);
    touch_keys<Access::write, Visits::one>(
        hasher, keys_.scheme(), shared, num_hashes_, keys,
        [&use, shared](std::size_t i, const auto& places) { use(i, set_alone(shared, places)); });
  }

  template <KeyBatch Keys, class Use>
  void insert_in_regions(const KeyHasher& hasher, BitArray& bits, const Keys& keys, Use use) {
    UnsetArray<Hash128, RegionLocks::max_slots> digests;
    UnsetArray<std::uint64_t, RegionLocks::max_slots> indices;
    in_regions(
        hasher, keys,
        [&](std::size_t slot, std::size_t i, Hash128 digest, std::uint64_t) {
          digests[slot] = digest;
          indices[slot] = i;
        },
        [&](std::size_t slot) { return bits.line(line_of(digests[slot])); },
        [&](std::size_t first, std::size_t count) {
          for (std::size_t slot = first; slot < first + count; ++slot)
            use(indices[slot], insert_alone(bits, digests[slot]));
        });
  }

  template <KeyBatch Keys>
  void insert_by_kernels(const KeyHasher& hasher, BitArray& bits, const Keys& keys) {
    UnsetArray<std::uint64_t, RegionLocks::max_slots> low;
    UnsetArray<std::uint64_t, RegionLocks::max_slots> high;
    UnsetArray<std::uint64_t*, RegionLocks::max_slots> lines;
    in_regions(
        hasher, keys,
        [&](std::size_t slot, std::size_t, Hash128 digest, std::uint64_t line) {
          low[slot] = digest.low;
          high[slot] = digest.high;
          lines[slot] = bits.line(line);
        },
        [&](std::size_t slot) { return lines[slot]; },
        [&](std::size_t first, std::size_t count) {
          kernels_.insert_each(&lines[first], &low[first], &high[first], count);
        });
  }

  template <KeyBatch Keys, class Put, class WordIn, class Use>
  void in_regions(const KeyHasher& hasher, const Keys& keys, Put put, WordIn word_in, Use use) {
    locks_.in_regions(
        hasher, keys, [this](Hash128 hash) { return line_of(hash); }, put, word_in,
        [&](PartTotals& totals, std::size_t first, std::size_t count) {
          totals[0] += count;
          use(first, count);
        });
  }

  BloomKeys<Scheme> keys_;
  [[no_unique_address]] LineKernels<Scheme> kernels_;
  RegionLocks locks_;
  std::uint32_t num_hashes_;
};

}  // namespace tally::detail
