#pragma once

#include <cstdint>
#include <vector>

#include "tally/sketches/key_count.hpp"

namespace tally::cli {

/// The most frequent keys of a stream, and what is known of all others.
struct Ranking {
  std::vector<KeyCount> keys;  ///< valid until what they were read from changes
  std::uint64_t total = 0;
  std::uint64_t floor = 0;            ///< the most that a key can count that is not among all candidates
  std::uint64_t bound_of_others = 0;  ///< the most that a key can count that is not among `keys`
};

/// All candidates of a TopKeys or SpaceSaving, in no order.
template <class Sketch>
Ranking candidates_of(const Sketch& sketch) {
  Ranking all{{}, sketch.total_count(), sketch.floor(), sketch.floor()};
  all.keys.reserve(sketch.candidates().size());
  for (std::uint32_t i = 0; i < sketch.candidates().size(); ++i)
    all.keys.push_back(sketch.candidates().key_count(i));
  return all;
}

/// Of all candidates the `num_keys` greatest counts.
Ranking top_of(Ranking all, std::uint64_t num_keys);

/// Of all candidates those above that share of the total: every key above it, for certain, if the floor is not.
Ranking above_share_of(Ranking all, double share);

}  // namespace tally::cli
