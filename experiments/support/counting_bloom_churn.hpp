#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "random.hpp"
#include "tally/filters/counting_bloom_filter.hpp"
#include "tally/hashing/independent_schemes.hpp"

namespace tally::experiments {

/// The process of DLeftChurn over a standard counting Bloom filter, with k independent hashes as in the paper.
class CountingBloomChurn {
 public:
  using Random = test::Random;

  CountingBloomChurn(const CountingBloomShape& shape, std::uint64_t seed)
      : random_(seed), filter_(shape, KeyHasher(random_.next())) {}

  /// watch(digest) after every insertion.
  template <class Watch>
  void fill(std::uint64_t num_keys, Watch watch) {
    while (keys_.size() < num_keys) keys_.push_back(insert_fresh(watch));
  }

  template <class Watch>
  void churn(std::uint64_t num_steps, Watch watch) {
    for (std::uint64_t i = 0; i < num_steps; ++i) {
      std::uint64_t& key = keys_[random_.below(keys_.size())];
      (void)filter_.remove(digest_of(key));
      key = insert_fresh(watch);
    }
  }

  const CountingBloomFilter<StandardScheme>& filter() const noexcept { return filter_; }
  Random& random() noexcept { return random_; }

 private:
  // 64 random bits are many more than it takes to tell the keys of a trial apart.
  static Hash128 digest_of(std::uint64_t key) noexcept { return {key, std::rotl(key, 32)}; }

  template <class Watch>
  std::uint64_t insert_fresh(Watch watch) {
    const std::uint64_t key = random_.next();
    (void)filter_.insert(digest_of(key));
    watch(digest_of(key));
    return key;
  }

  Random random_;
  CountingBloomFilter<StandardScheme> filter_;
  std::vector<std::uint64_t> keys_;
};

}  // namespace tally::experiments
