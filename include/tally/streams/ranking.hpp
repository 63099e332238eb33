#pragma once

#include <cstdint>
#include <vector>

#include "tally/export.hpp"
#include "tally/sketches/key_count.hpp"

namespace tally {

/// The most frequent keys of a stream, and bounds on the counts of all others.
struct Ranking {
  std::vector<KeyCount> keys;  ///< valid until their source changes
  std::uint64_t total = 0;
  std::uint64_t floor = 0;            ///< maximum count of a key that is not a candidate
  std::uint64_t bound_of_others = 0;  ///< maximum count of a key that is not in `keys`
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

/// The `num_keys` candidates with the highest counts.
TALLY_EXPORT Ranking top_of(Ranking all, std::uint64_t num_keys);

/// The candidates above that share of the total. If the floor is not above it, no key above it is missing.
TALLY_EXPORT Ranking above_share_of(Ranking all, double share);

}  // namespace tally
