#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/batches/key_runs.hpp"
#include "tally/detail/compact/table.hpp"
#include "tally/detail/dleft/batches.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::detail {

inline constexpr KeyRuns far_compact_runs{4, 32};

/// Calls use(index of the first key, spots, number of keys) for runs of keys in order, with both lines of each key
/// prefetched well before.
template <KeyBatch Keys, class Use>
void for_each_compact_run(const KeyHasher& hasher, const CompactTable& table, const Keys& key_range,
                          Use use) {
  const KeyRuns runs = key_runs(table.words().words().size_bytes(), far_compact_runs);
  assert_uniform(key_range);
  const std::span keys(key_range);
  std::array<CompactSpot, most_keys_ahead_in_runs> spots;
  std::array<Hash128, most_keys_per_run> hashes;
  const auto spots_of = [&](std::size_t first) { return spots.data() + runs.place_of(first); };
  const auto prepare = [&](std::size_t first, std::size_t count) {
    const auto run = hashes_of(hasher, keys.subspan(first, count), hashes);
    table.kernels().find_spots(table.finder(), run.data(), run.size(), spots_of(first));
  };
  runs.for_each(keys.size(), prepare, [&](std::size_t first, std::size_t count) {
    use(first, static_cast<const CompactSpot*>(spots_of(first)), count);
  });
}

}  // namespace tally::detail
