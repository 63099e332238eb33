#pragma once

#include <array>
#include <cstddef>

#include "tally/detail/prefetch.hpp"
#include "tally/filters/key_batch.hpp"

namespace tally::detail {

/// Calls use(index, digest) for every key in order, with the line at word_of(digest) prefetched well before.
template <Access access, KeyBatch Keys, class WordOf, class Use>
void with_lines_ahead(const KeyHasher& hasher, const Keys& keys, WordOf word_of, Use use) {
  std::array<Hash128, most_keys_ahead> ahead;
  const auto prepare = [&](std::size_t slot, Hash128 hash) {
    ahead[slot] = hash;
    if constexpr (access == Access::write) prefetch_for_write(word_of(hash));
    else prefetch_for_read(word_of(hash));
  };
  run_ahead(hasher, keys, most_keys_ahead, prepare,
            [&](std::size_t i, std::size_t slot) { use(i, ahead[slot]); });
}

}  // namespace tally::detail
