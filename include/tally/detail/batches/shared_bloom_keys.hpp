#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/batches/bloom_keys.hpp"
#include "tally/detail/batches/line_kernels.hpp"
#include "tally/detail/batches/region_locks.hpp"
#include "tally/detail/striped_count.hpp"
#include "tally/detail/unset_array.hpp"
#include "tally/storage/shared_bits.hpp"

namespace tally::detail {

/// What threads do with the bits of their keys at the same time, and how many insertions there were: without locks, one atomic
/// step per bit.
template <HashScheme Scheme>
class SharedBloomKeys {
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
    UnsetArray<Hash128, RegionLocks::max_slots> digests;
    UnsetArray<std::uint64_t, RegionLocks::max_slots> indices;
    in_regions(
        hasher, bits, keys,
        [&](std::size_t slot, std::size_t i, Hash128 digest, std::uint64_t) {
          digests[slot] = digest;
          indices[slot] = i;
        },
        [&](std::size_t first, std::size_t count) {
          for (std::size_t slot = first; slot < first + count; ++slot)
            use(indices[slot], insert_alone(bits, digests[slot]));
        });
  }

  template <KeyBatch Keys>
  void insert_batch(const KeyHasher& hasher, BitArray& bits, const Keys& keys) {
    UnsetArray<std::uint64_t, RegionLocks::max_slots> low;
    UnsetArray<std::uint64_t, RegionLocks::max_slots> high;
    UnsetArray<std::uint64_t*, RegionLocks::max_slots> lines;
    in_regions(
        hasher, bits, keys,
        [&](std::size_t slot, std::size_t, Hash128 digest, std::uint64_t line) {
          low[slot] = digest.low;
          high[slot] = digest.high;
          lines[slot] = bits.line(line);
        },
        [&](std::size_t first, std::size_t count) {
          for (std::size_t slot = first; slot < first + count; ++slot) prefetch_for_write(lines[slot]);
          if constexpr (has_kernels)
            return kernels_.insert_each(&lines[first], &low[first], &high[first], count);
          set_each(SharedBits(bits), keys_.scheme(), &low[first], &high[first], count);
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
    const Scheme scheme = keys_.scheme();  // in registers: a write to a word could change what is in memory
    std::uint64_t all = 1;
    all_places(KeyPlaces(scheme, shared, hash), [&](std::uint64_t offset) {
      all &= shared.set_alone(offset);
      return true;
    });
    return all != 0;
  }

  // Not inline: among the numbers of in_regions, its own do not stay in registers.
  [[gnu::noinline]] static void set_each(SharedBits bits, Scheme scheme, const std::uint64_t* low,
                                         const std::uint64_t* high, std::size_t num_keys) noexcept {
    for (std::size_t i = 0; i < num_keys; ++i) {
      all_places(KeyPlaces(scheme, bits, {low[i], high[i]}), [&](std::uint64_t offset) {
        (void)bits.set_alone(offset);
        return true;
      });
    }
  }

  template <KeyBatch Keys, class Put, class Use>
  void in_regions(const KeyHasher& hasher, BitArray& bits, const Keys& keys, Put put, Use use) {
    const auto prefetched_line_of = [&](Hash128 hash) {
      const std::uint64_t line = line_of(hash);
      prefetch_for_write(bits.line(line));
      return line;
    };
    locks_.in_regions(hasher, keys, prefetched_line_of, put,
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
