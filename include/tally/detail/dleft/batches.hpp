#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "tally/detail/batches/key_runs.hpp"
#include "tally/detail/dleft/kernels.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/hashing/bucket_scheme.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::detail {

inline constexpr KeyRuns far_dleft_runs{8, 32};

/// Calls use(index, images) for every key in order, with its buckets prefetched well before.
template <Access access, class Table, KeyBatch Keys, class Use>
void for_each_key(const KeyHasher& hasher, const FingerprintSpace& space, const Table& table,
                  const Keys& keys, Use use) {
  const std::uint32_t num_subtables = table.shape().num_subtables;
  std::array<std::uint64_t, most_keys_ahead * max_num_subtables> images;
  const auto prepare = [&](std::size_t slot, Hash128 hash) {
    const std::span own(images.data() + slot * num_subtables, num_subtables);
    table.scheme().all_images(space.fingerprint_of(hash), num_subtables, own.data());
    std::uint32_t subtable = 0;
    for (const std::uint64_t image : own) {
      prefetch_at<access>(table.cells(), table.bucket_of(subtable++, image));
    }
  };
  run_ahead(hasher, keys, most_keys_ahead, prepare, [&](std::size_t i, std::size_t slot) {
    use(i, static_cast<const std::uint64_t*>(images.data() + slot * num_subtables));
  });
}

/// The keys' digests: the keys themselves if they are digests, otherwise computed into `memory`.
template <class Element, std::size_t extent>
std::span<const Hash128> hashes_of(const KeyHasher& hasher, std::span<Element, extent> keys,
                                   std::span<Hash128> memory) {
  if constexpr (std::is_same_v<std::remove_const_t<Element>, Hash128>) {
    return keys;
  } else {
    std::ranges::transform(keys, memory.begin(), [&](const auto& key) { return hasher(key); });
    return memory.first(keys.size());
  }
}

/// For tables with kernels. Calls use(index of the first key, spots, number of keys) for runs of keys in
/// order, with all buckets of a run prefetched well before. It returns how many keys it has processed. This
/// may be fewer than all only because the table has grown, and then the rest is prepared again.
template <class Table, KeyBatch Keys, class Use>
void for_each_run(const KeyHasher& hasher, const DLeftKernels& kernels, const Table& table,
                  const Keys& key_range, Use use) {
  const KeyRuns runs = key_runs(table.cells().words().size_bytes(), far_dleft_runs);
  assert_uniform(key_range);
  const std::span keys(key_range);
  const std::uint32_t num_subtables = table.shape().num_subtables;
  std::array<DLeftSpot, most_keys_ahead_in_runs * max_num_subtables> spots;
  std::array<Hash128, most_keys_per_run> hashes;
  for (std::size_t start = 0; start < keys.size();) {
    const auto finder = table.finder();
    const std::uint64_t* const words = table.cells().data();
    const auto spots_of = [&](std::size_t first) {
      return spots.data() + runs.place_of(first - start) * num_subtables;
    };
    const auto prepare = [&](std::size_t first) {
      if (first >= keys.size()) return;
      const std::size_t count = runs.count_from(first, keys.size());
      find_spots(kernels, finder, words, hashes_of(hasher, keys.subspan(first, count), hashes),
                 spots_of(first));
    };
    for (std::size_t ahead = 0; ahead < runs.keys_ahead; ahead += runs.keys_per_run) prepare(start + ahead);
    std::size_t first = start;
    while (first < keys.size() && table.cells().data() == words) {
      const std::size_t count = runs.count_from(first, keys.size());
      const std::size_t num_done = use(first, static_cast<const DLeftSpot*>(spots_of(first)), count);
      if (num_done == count) prepare(first + runs.keys_ahead);
      first += num_done;
    }
    start = first;
  }
}

}  // namespace tally::detail
