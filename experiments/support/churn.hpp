#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "random.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/hashing/independent_schemes.hpp"

namespace tally::experiments {

/// The process of Bonomi et al. 2006: random keys are inserted; then each step removes one of them at random and
/// inserts a fresh one. A key that the filter has no room for is an overflow, and the next fresh one takes its
/// place, so that the number of keys stays.
///
/// Keys are digests, so that nothing is hashed. Each operation is a batch of one key where a d-left filter has a fast
/// way for batches, which keeps the order of the process.
template <class Filter>
class Churn {
 public:
  using Random = test::Random;
  using Shape = std::remove_cvref_t<decltype(std::declval<Filter>().shape())>;

  Churn(const Shape& shape, std::uint64_t seed) : random_(seed), filter_(shape, KeyHasher(random_.next())) {}

  /// Inserts until there are `num_keys`; watch(digest) after every insertion.
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

  const Filter& filter() const noexcept { return filter_; }
  const auto& table() const noexcept { return filter_.table(); }
  std::uint64_t num_keys() const noexcept { return keys_.size(); }
  Random& random() noexcept { return random_; }
  std::uint64_t num_full() const noexcept { return filter_.totals().num_full; }
  std::uint64_t num_rescues() const noexcept { return filter_.totals().num_rescues; }

 private:
  static constexpr bool is_dleft = std::is_same_v<Shape, DLeftShape>;
  static constexpr auto unwatched = [](Hash128) {};

  Hash128 fresh_key() noexcept {
    const std::uint64_t low = random_.next();
    // 64 random bits tell the keys of a trial apart too.
    return {low, is_dleft ? random_.next() : std::rotl(low, 32)};
  }

  bool insert(const Hash128& key) noexcept {
    InsertResult inserted{};
    if constexpr (is_dleft) {
      filter_.insert_batch(std::span(&key, 1), std::span(&inserted, 1));
    } else {
      inserted = filter_.insert(key);
    }
    return inserted != InsertResult::full;
  }

  template <class Watch>
  Hash128 insert_fresh(Watch watch) {
    Hash128 key = fresh_key();
    while (!insert(key)) key = fresh_key();
    watch(key);
    return key;
  }

  Random random_;
  Filter filter_;
  std::vector<Hash128> keys_;
};

template <BucketScheme Scheme>
using DLeftChurn = Churn<DLeftCountingBloomFilter<Scheme>>;

/// With k independent hashes as in the paper.
using CountingBloomChurn = Churn<CountingBloomFilter<StandardScheme>>;

}  // namespace tally::experiments
