#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/compact/table.hpp"
#include "tally/detail/dleft/batches.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::detail {

/// Calls use(index of the first key, spots, number of keys) for runs of keys in order, with both lines of each key
/// prefetched well before.
template <KeyBatch Keys, class Use>
void for_each_compact_run(const KeyHasher& hasher, const CompactTable& table, const Keys& key_range,
                          Use use) {
  constexpr std::size_t keys_ahead = runs_ahead * keys_per_run;
  assert_uniform(key_range);
  const std::span keys(key_range);
  std::array<CompactSpot, keys_ahead> spots;
  std::array<Hash128, keys_per_run> hashes;
  const auto count_from = [&](std::size_t first) { return std::min(keys_per_run, keys.size() - first); };
  const auto prepare = [&](std::size_t first) {
    if (first >= keys.size()) return;
    const auto run = hashes_of(hasher, keys.subspan(first, count_from(first)), hashes);
    table.kernels().find_spots(table.finder(), run.data(), run.size(), spots.data() + first % keys_ahead);
  };
  for (std::size_t run = 0; run < runs_ahead; ++run) prepare(run * keys_per_run);
  for (std::size_t first = 0; first < keys.size(); first += keys_per_run) {
    use(first, static_cast<const CompactSpot*>(spots.data() + first % keys_ahead), count_from(first));
    prepare(first + keys_ahead);
  }
}

}  // namespace tally::detail
