#pragma once

#include "fresh_filters.hpp"
#include "tally/filters/bloom.hpp"

namespace tally::experiments {

/// A Bloom filter of k independent hashes, as in the papers, after n keys.
inline FilterRate bloom_trial(const BloomShape& shape, std::uint64_t n, std::uint64_t num_queries,
                              std::uint64_t seed) {
  test::Random random(seed);
  BloomFilter<StandardScheme> filter(shape, KeyHasher(0));
  use_fresh_digests(random, n, [&](std::span<const Hash128> digests) { filter.insert_batch(digests); });
  const double final_state = filter.statistics().estimated_false_positive_rate;
  return {final_state,
          count_passed(random, num_queries, [&](std::span<const Hash128> digests, std::span<bool> results) {
            filter.may_contain_batch(digests, results);
          })};
}

}  // namespace tally::experiments
