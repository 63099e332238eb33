#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "random.hpp"
#include "tally/hashing/scheme_list.hpp"

namespace tally::experiments {

/// How the n keys of a set collide with one query that is not in it.
struct Collisions {
  std::vector<std::uint64_t> keys_at;  ///< X_i: keys that set the query's position i
  std::uint64_t keys_with_one = 0;     ///< keys that set exactly one of its positions
  std::uint64_t keys_with_more = 0;
};

/// Draws queries and sets, both by `positions_of(digest, visit)`.
class CollisionCounter {
 public:
  CollisionCounter(std::uint64_t num_bits, std::uint32_t num_hashes)
      : masks_(num_bits), num_hashes_(num_hashes) {}

  template <class PositionsOf>
  Collisions draw(test::Random& random, std::uint64_t num_keys, PositionsOf positions_of) {
    std::vector<std::uint64_t> query;
    positions_of(random.digest(), [&](std::uint64_t position) {
      masks_[position] |= std::uint32_t{1} << query.size();
      query.push_back(position);
      return true;
    });
    Collisions result{.keys_at = std::vector<std::uint64_t>(num_hashes_)};
    for (std::uint64_t n = 0; n < num_keys; ++n) {
      std::uint32_t hit = 0;
      positions_of(random.digest(), [&](std::uint64_t position) {
        hit |= masks_[position];
        return true;
      });
      if (hit == 0) continue;
      for (std::uint32_t i = 0; i < num_hashes_; ++i) result.keys_at[i] += hit >> i & 1;
      ++((hit & (hit - 1)) == 0 ? result.keys_with_one : result.keys_with_more);
    }
    for (const std::uint64_t position : query) masks_[position] = 0;
    return result;
  }

 private:
  std::vector<std::uint32_t> masks_;  // of each position: which of the query's it is
  std::uint32_t num_hashes_;
};

}  // namespace tally::experiments
