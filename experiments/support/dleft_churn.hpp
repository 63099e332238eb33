#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "random.hpp"
#include "tally/filters/dleft_counting_bloom_filter.hpp"

namespace tally::experiments {

/// The process of Bonomi et al. 2006: random keys are inserted; then each step removes one of them at random and
/// inserts a fresh one. A key that the filter has no room for is an overflow, and the next fresh one takes its
/// place, so that the number of keys stays.
///
/// Keys are digests, so that nothing is hashed. Each operation is a batch of one key, which keeps the order of the
/// process and takes the fast way.
template <BucketScheme Scheme>
class DLeftChurn {
 public:
  using Random = test::Random;

  DLeftChurn(const DLeftShape& shape, std::uint64_t seed)
      : random_(seed), filter_(shape, KeyHasher(random_.next())) {}

  /// Inserts until there are so many; watch(digest, whether its fingerprint is new) after every insertion.
  template <class Watch>
  void fill(std::uint64_t num_keys, Watch watch) {
    while (keys_.size() < num_keys) keys_.push_back(insert_fresh(watch));
  }
  void fill(std::uint64_t num_keys) { fill(num_keys, unwatched); }

  template <class Watch>
  void churn(std::uint64_t num_steps, Watch watch) {
    for (std::uint64_t i = 0; i < num_steps; ++i) {
      Hash128& key = keys_[random_.below(keys_.size())];
      RemoveResult removed{};
      filter_.remove_batch(std::span(&key, 1), std::span(&removed, 1));
      key = insert_fresh(watch);
    }
  }
  void churn(std::uint64_t num_steps) { churn(num_steps, unwatched); }

  const DLeftCountingBloomFilter<Scheme>& filter() const noexcept { return filter_; }
  const DLeftTable<Scheme>& table() const noexcept { return filter_.table(); }
  std::uint64_t num_keys() const noexcept { return keys_.size(); }
  Random& random() noexcept { return random_; }
  std::uint64_t num_full() const noexcept { return filter_.totals().num_full; }
  std::uint64_t num_rescues() const noexcept { return filter_.totals().num_rescues; }

 private:
  static constexpr auto unwatched = [](Hash128, bool) {};

  template <class Watch>
  Hash128 insert_fresh(Watch watch) {
    while (true) {
      const Hash128 key = random_.digest();
      const std::uint64_t num_before = table().num_fingerprints();
      InsertResult inserted{};
      filter_.insert_batch(std::span(&key, 1), std::span(&inserted, 1));
      if (inserted == InsertResult::full) continue;
      watch(key, table().num_fingerprints() != num_before);
      return key;
    }
  }

  Random random_;
  DLeftCountingBloomFilter<Scheme> filter_;
  std::vector<Hash128> keys_;
};

}  // namespace tally::experiments
