#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/filters/key_batch.hpp"
#include "tally/hashing/bucket_scheme.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::detail {

inline constexpr std::size_t keys_a_run = 8;
inline constexpr std::size_t runs_ahead = 16;

/// use(index of the first key, places, number of keys) for runs of keys in order, all buckets of a run
/// asked for well before.
template <Access access, class Table, KeyBatch Keys, class Use>
void for_each_run(const KeyHasher& hasher, const FingerprintSpace& space, const Table& table,
                  const Keys& key_range, Use use) {
  const std::span keys(key_range);
  const std::uint32_t num_subtables = table.shape().num_subtables;
  const auto scheme = table.scheme();  // copies, which what is written to `places` cannot change
  const FingerprintSpace own_space = space;
  std::array<std::uint64_t, runs_ahead * keys_a_run * max_num_subtables> places;
  const auto places_of_run = [&](std::size_t first) {
    return places.data() + first % (runs_ahead * keys_a_run) * num_subtables;
  };
  const auto prepare = [&](std::size_t first) {
    std::uint64_t* own = places_of_run(first);
    const std::size_t end = std::min(first + keys_a_run, keys.size());
    for (std::size_t i = first; i < end; ++i, own += num_subtables) {
      scheme.place_all(own_space.fingerprint_of(hasher(keys[i])), num_subtables, own);
      for (std::uint32_t j = 0; j < num_subtables; ++j) {
        prefetch_place<access>(table.cells(), table.bucket_of(j, own[j]));
      }
    }
  };
  for (std::size_t first = 0; first < runs_ahead * keys_a_run; first += keys_a_run) prepare(first);
  for (std::size_t first = 0; first < keys.size(); first += keys_a_run) {
    use(first, static_cast<const std::uint64_t*>(places_of_run(first)),
        std::min(keys_a_run, keys.size() - first));
    prepare(first + runs_ahead * keys_a_run);
  }
}

}  // namespace tally::detail
