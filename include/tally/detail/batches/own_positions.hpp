#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/parameter_error.hpp"
#include "tally/filters/filter_part.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/hashing/hash_scheme.hpp"

namespace tally::detail {

/// The positions in one part of a structure, whose parts share no line of memory.
class OwnPositions {
 public:
  /// Throws std::invalid_argument unless part.index < part.num_parts.
  OwnPositions(std::size_t num_words, std::uint64_t positions_per_word, FilterPart part) {
    require_in_range("FilterPart", "num_parts", part.num_parts, 1, UINT32_MAX);
    require_in_range("FilterPart", "index", part.index, 0, part.num_parts - 1);
    constexpr std::uint64_t words_per_line = 8;
    const std::uint64_t size =
        num_words / words_per_line / part.num_parts * words_per_line * positions_per_word;
    first_ = part.index * size;
    size_ = part.index + 1 < part.num_parts ? size : UINT64_MAX - first_;
  }

  bool contains(std::uint64_t position) const noexcept { return position - first_ < size_; }

 private:
  std::uint64_t first_;
  std::uint64_t size_;
};

/// Calls touch(position) for the keys' positions that are among `own`, after prefetch(position) of all in a window of keys. A
/// list of them is made without branches, which the processor could not predict.
template <HashScheme Scheme, KeyBatch Keys, class Prefetch, class Touch>
void for_own_positions(const KeyHasher& hasher, const Scheme& scheme, std::uint32_t num_hashes,
                       OwnPositions own, const Keys& key_range, Prefetch prefetch, Touch touch) {
  assert_uniform(key_range);
  const std::span keys(key_range);
  std::array<std::uint64_t, 1024> list;
  static_assert(list.size() >= max_num_hashes);
  const std::size_t most = list.size() / num_hashes;
  for (std::size_t first = 0; first < keys.size(); first += most) {
    std::size_t size = 0;
    for (std::size_t i = first; i < std::min(first + most, keys.size()); ++i) {
      scheme.all_positions(hasher(keys[i]), [&](std::uint64_t position) {
        list[size] = position;
        size += own.contains(position);
        return true;
      });
    }
    for (std::size_t i = 0; i < size; ++i) prefetch(list[i]);
    for (std::size_t i = 0; i < size; ++i) touch(list[i]);
  }
}

/// Calls use(span of digests) with the keys whose line is among `own`, if all positions of a key share a line.
template <HashScheme Scheme, KeyBatch Keys, class Use>
void for_keys_of_own_lines(const KeyHasher& hasher, const Scheme& scheme, OwnPositions own,
                           const Keys& key_range, Use use) {
  assert_uniform(key_range);
  const std::span keys(key_range);
  std::array<Hash128, 512> list;
  for (std::size_t first = 0; first < keys.size(); first += list.size()) {
    std::size_t size = 0;
    for (std::size_t i = first; i < std::min(first + list.size(), keys.size()); ++i) {
      const Hash128 hash = hasher(keys[i]);
      list[size] = hash;
      size += own.contains(scheme.first_of_line(hash));
    }
    use(std::span<const Hash128>(list).first(size));
  }
}

}  // namespace tally::detail
