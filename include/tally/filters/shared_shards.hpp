#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tally/detail/batches/part_locks.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/detail/unset_array.hpp"
#include "tally/filters/compact_dleft.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/hashing/shard.hpp"

namespace tally {

/// A filter of any number of threads that is divided over shards: filters for one thread, each with a lock and with the keys
/// of one shard (shard_of). A call locks one shard. A batch collects its keys by shard and takes a lock for many of them.
///
/// An insertion into a d-left filter chooses among several lines, may move the cells of other keys from line to line, and
/// may enlarge the table. A shard is the smallest part within which all of this happens.
///
/// Guarantee: that of Filter. Every call on a key has the effect and the result that it has in the key's shard, and the calls
/// on one shard have one order.
/// Threads: all functions may run concurrently, except `clear` and `release`.
template <class Filter>
class SharedShards {
 public:
  using Shape = std::remove_cvref_t<decltype(std::declval<const Filter&>().shape())>;

  static constexpr std::uint32_t max_shared_shards = detail::PartLocks::max_parts;

  /// Empty. `num_shards` is 1 to max_shared_shards; about four per thread are enough for threads to rarely meet.
  /// `shape_of_each` is for the keys of one shard, of which one gets more than the others: plan_shares says how many.
  /// Throws std::invalid_argument for a number out of range and for a shape that Filter cannot have, and std::bad_alloc if
  /// there is not enough memory.
  SharedShards(std::uint32_t num_shards, const Shape& shape_of_each, const KeyHasher& hasher)
      : hasher_(hasher), locks_(checked(num_shards)) {
    shards_.reserve(num_shards);
    while (shards_.size() < num_shards) shards_.emplace_back(shape_of_each, hasher);
  }

  /// InsertResult::counted or InsertResult::full.
  template <Key K>
  [[nodiscard]] InsertResult insert(K&& key) noexcept {
    return alone(hasher_(key), [](Filter& shard, Hash128 digest) { return shard.insert(digest); });
  }

  /// results[i] = insert(keys[i]), keys of a shard in order; `results` is as long as `keys`.
  template <KeyBatch Keys>
  void insert_batch(const Keys& keys, std::span<InsertResult> results) {
    in_shards("insert_batch", keys, results,
              [](Filter& shard, auto digests, auto own) { shard.insert_batch(digests, own); });
  }

  /// Removes one occurrence of the key. Returns RemoveResult::removed, or refused if the key is provably
  /// absent.
  template <Key K>
  [[nodiscard]] RemoveResult remove(K&& key) noexcept {
    return alone(hasher_(key), [](Filter& shard, Hash128 digest) { return shard.remove(digest); });
  }

  /// results[i] = remove(keys[i]), keys of a shard in order; `results` is as long as `keys`.
  template <KeyBatch Keys>
  void remove_batch(const Keys& keys, std::span<RemoveResult> results) {
    in_shards("remove_batch", keys, results,
              [](Filter& shard, auto digests, auto own) { shard.remove_batch(digests, own); });
  }

  template <Key K>
  [[nodiscard]] bool may_contain(K&& key) const noexcept {
    return alone(hasher_(key), [](const Filter& shard, Hash128 digest) { return shard.may_contain(digest); });
  }

  /// results[i] = may_contain(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void may_contain_batch(const Keys& keys, std::span<bool> results) const {
    in_shards("may_contain_batch", keys, results,
              [](const Filter& shard, auto digests, auto own) { shard.may_contain_batch(digests, own); });
  }

  /// How often keys with this key's fingerprint are in its shard; never saturated.
  template <Key K>
  [[nodiscard]] Count count(K&& key) const noexcept {
    return alone(hasher_(key), [](const Filter& shard, Hash128 digest) { return shard.count(digest); });
  }

  /// results[i] = count(keys[i]); `results` is as long as `keys`.
  template <KeyBatch Keys>
  void count_batch(const Keys& keys, std::span<Count> results) const {
    in_shards("count_batch", keys, results,
              [](const Filter& shard, auto digests, auto own) { shard.count_batch(digests, own); });
  }

  /// Calls use(shard) with a const Filter&, to save it or for its statistics, while no other thread uses it; returns what it
  /// returns. Throws std::invalid_argument for a shard that there is not.
  template <class Use>
  auto with_shard(std::uint32_t shard, Use use) const {
    if (shard >= num_shards())
      detail::throw_out_of_range("SharedShards", "shard", shard, 0, num_shards() - 1);
    return locks_.in_part(shard, [&](auto&) { return use(std::as_const(shards_[shard])); });
  }

  /// Which shard has the key.
  template <Key K>
  std::uint32_t shard_of_key(K&& key) const noexcept {
    return shard_of(hasher_(key), num_shards());
  }

  /// Removes all keys.
  void clear() noexcept {
    for (Filter& shard : shards_) shard.clear();
  }

  /// Moves the shards out of this object.
  std::vector<Filter> release() && { return std::move(shards_); }

  std::uint32_t num_shards() const noexcept { return locks_.num_parts(); }
  const KeyHasher& hasher() const noexcept { return hasher_; }

 private:
  static std::uint32_t checked(std::uint32_t num_shards) {
    if (num_shards < 1 || num_shards > max_shared_shards)
      detail::throw_out_of_range("SharedShards", "num_shards", num_shards, 1, max_shared_shards);
    return num_shards;
  }

  template <class Use>
  auto alone(Hash128 digest, Use use) const noexcept {
    const std::uint32_t shard = shard_of(digest, num_shards());
    return locks_.in_part(shard, [&](auto&) { return use(shards_[shard], digest); });
  }

  /// Calls use(shard, digests, their results) for the keys of each shard.
  template <KeyBatch Keys, class Result, class Use>
  void in_shards(const char* function, const Keys& keys, std::span<Result> results, Use use) const {
    detail::require_one_per_key(function, "results", std::span(keys).size(), results.size());
    constexpr std::size_t max_slots = detail::PartLocks::max_slots;
    detail::UnsetArray<Hash128, max_slots> digests;
    detail::UnsetArray<std::uint64_t, max_slots> indices;
    detail::UnsetArray<Result, max_slots> own;
    locks_.in_parts(
        hasher_, keys, [this](Hash128 digest) { return shard_of(digest, num_shards()); },
        [](std::uint32_t shard) { return shard; },
        [&](std::size_t slot, std::size_t i, Hash128 digest, std::uint32_t) {
          digests[slot] = digest;
          indices[slot] = i;
        },
        [](std::size_t, std::size_t) {},  // the filter does that
        [&](std::uint32_t shard, auto&, std::size_t first, std::size_t count) {
          use(shards_[shard], digests.subspan(first, count), own.first(count));
          for (std::size_t i = 0; i < count; ++i) results[indices[first + i]] = own[i];
        });
  }

  KeyHasher hasher_;
  // Lookups lock, too.
  mutable detail::PartLocks locks_;
  mutable std::vector<Filter> shards_;
};

using SharedDLeftCountingBloomFilter = SharedShards<DLeftCountingBloomFilter<>>;
using SharedCompactDLeftFilter = SharedShards<CompactDLeftFilter>;

}  // namespace tally
