// Filters that are divided over shards, each with a lock, against filters for one thread and exact counts.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "campaign.hpp"
#include "expect_refused.hpp"
#include "tally/shared.hpp"
#include "threads.hpp"

namespace tally::test {
namespace {

constexpr std::uint32_t num_shards = 5;

template <class Filter>
struct OfShard {
  static DLeftShape shape() {
    DLeftShape shape;
    shape.num_subtables = 4;
    shape.buckets_per_subtable = 64;
    shape.cells_per_bucket = 8;
    shape.remainder_bits = 14;
    shape.counter_bits = 2;
    shape.spill_capacity = 2048;
    return shape;
  }
};
template <>
struct OfShard<CompactDLeftFilter> {
  static CompactDLeftShape shape() {
    CompactDLeftShape shape;
    shape.num_lines_per_subtable = 40;
    shape.remainder_bits = 8;
    shape.spill_capacity = 2048;
    return shape;
  }
};

template <class Filter>
class SharedShardsOf : public testing::Test {};
using Filters = testing::Types<DLeftCountingBloomFilter<>, CompactDLeftFilter>;
TYPED_TEST_SUITE(SharedShardsOf, Filters);

/// What a filter holds, however its cells are arranged.
template <class Filter>
std::map<std::uint64_t, std::uint64_t> contents(const Filter& filter) {
  std::map<std::uint64_t, std::uint64_t> counts;
  filter.for_each_fingerprint(
      [&](std::uint64_t fingerprint, std::uint64_t count) { counts[fingerprint] += count; });
  return counts;
}

TYPED_TEST(SharedShardsOf, ThreadsLeaveInEachShardWhatOneThreadDoes) {
  const std::vector<std::uint64_t> keys = random_keys(20'000, 4000, 3);
  SharedShards<TypeParam> shared(num_shards, OfShard<TypeParam>::shape(), 1);
  batches_in_threads(4, keys, [&](std::size_t t, std::span<const std::uint64_t> batch) {
    std::array<InsertResult, batch_size> inserted;
    if (t % 2 == 0) {
      shared.insert_batch(batch, std::span(inserted).first(batch.size()));
    } else {
      for (std::size_t i = 0; i < batch.size(); ++i) inserted[i] = shared.insert(batch[i]);
    }
    EXPECT_EQ(std::count(inserted.begin(), inserted.begin() + batch.size(), InsertResult::counted),
              batch.size());
    const auto half = batch.first(batch.size() / 2);
    std::array<RemoveResult, batch_size> removed;
    if (t < 2) {
      shared.remove_batch(half, std::span(removed).first(half.size()));
    } else {
      for (std::size_t i = 0; i < half.size(); ++i) removed[i] = shared.remove(half[i]);
    }
    EXPECT_EQ(std::count(removed.begin(), removed.begin() + half.size(), RemoveResult::removed), half.size());
    for (const std::uint64_t key : batch.subspan(half.size())) EXPECT_TRUE(shared.may_contain(key));
  });
  const KeyHasher hasher(1);
  std::vector<TypeParam> expected(num_shards, TypeParam(OfShard<TypeParam>::shape(), hasher));
  for (std::size_t first = 0; first < keys.size(); first += batch_size) {
    const std::size_t count = std::min(batch_size, keys.size() - first);
    for (std::size_t i = first + count / 2; i < first + count; ++i)
      EXPECT_EQ(expected[shared.shard_of_key(keys[i])].insert(keys[i]), InsertResult::counted);
  }
  std::uint64_t num_insertions = 0;
  for (std::uint32_t shard = 0; shard < num_shards; ++shard)
    num_insertions +=
        shared.with_shard(shard, [](const TypeParam& own) { return own.totals().num_insertions; });
  EXPECT_EQ(num_insertions, keys.size());
  const std::vector<TypeParam> shards = std::move(shared).release();
  ASSERT_EQ(shards.size(), num_shards);
  for (std::uint32_t shard = 0; shard < num_shards; ++shard)
    EXPECT_EQ(contents(shards[shard]), contents(expected[shard])) << shard;
}

TYPED_TEST(SharedShardsOf, ABatchAnswersAsItsKeysDoOneByOne) {
  SharedShards<TypeParam> single(num_shards, OfShard<TypeParam>::shape(), 1);
  SharedShards<TypeParam> batched(num_shards, OfShard<TypeParam>::shape(), 1);
  // More keys of a shard than the locks collect at once; many absent ones among those that are asked for and removed.
  const std::vector<std::uint64_t> keys = random_keys(4001, 5000, 5);
  std::vector<InsertResult> inserted(keys.size());
  batched.insert_batch(keys, inserted);
  for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(inserted[i], single.insert(keys[i]));
  const std::vector<std::uint64_t> asked = random_keys(4001, 10'000, 6);
  std::vector<Count> counts(asked.size());
  batched.count_batch(asked, counts);
  const auto found = std::make_unique<bool[]>(asked.size());
  batched.may_contain_batch(asked, {found.get(), asked.size()});
  for (std::size_t i = 0; i < asked.size(); ++i) {
    ASSERT_EQ(counts[i], single.count(asked[i])) << i;
    ASSERT_EQ(found[i], single.may_contain(asked[i])) << i;
  }
  std::vector<RemoveResult> removed(asked.size());
  batched.remove_batch(asked, removed);
  for (std::size_t i = 0; i < asked.size(); ++i) ASSERT_EQ(removed[i], single.remove(asked[i])) << i;
  EXPECT_GT(std::ranges::count(removed, RemoveResult::refused), 1000);
  EXPECT_EQ(std::move(batched).release(), std::move(single).release());
}

TYPED_TEST(SharedShardsOf, AFullShardRefusesAndNoKeyOfOthersIsLost) {
  auto shape = OfShard<TypeParam>::shape();
  shape.moves = DLeftMoves::none;
  SharedShards<TypeParam> shared(2, shape, 1);
  std::atomic<std::uint64_t> num_full = 0;
  in_threads(4, [&](std::size_t t) {
    const std::vector<std::uint64_t> own = random_keys(4000, ~std::uint64_t{0}, 100 + t);
    std::vector<InsertResult> results(own.size());
    shared.insert_batch(own, results);
    for (std::size_t i = 0; i < own.size(); ++i) {
      num_full += results[i] == InsertResult::full;
      EXPECT_TRUE(results[i] == InsertResult::full || shared.may_contain(own[i]));
    }
  });
  EXPECT_GT(num_full, 1000u);
  std::uint64_t num_counted_full = 0;
  for (const TypeParam& shard : std::move(shared).release()) num_counted_full += shard.totals().num_full;
  EXPECT_EQ(num_counted_full, num_full);
}

TEST(SharedShards, AShardMayGrowWhileOthersAreUsed) {
  DLeftShape shape = OfShard<DLeftCountingBloomFilter<>>::shape();
  shape.least_remainder_bits = 8;
  shape.grows = true;
  SharedDLeftCountingBloomFilter shared(3, shape, 1);
  in_threads(4, [&](std::size_t t) {
    const std::vector<std::uint64_t> own = random_keys(10'000, ~std::uint64_t{0}, t);
    std::vector<InsertResult> results(own.size());
    shared.insert_batch(own, results);
    EXPECT_EQ(std::ranges::count(results, InsertResult::counted), 10'000);
    for (const std::uint64_t key : own) EXPECT_TRUE(shared.may_contain(key));
  });
  for (std::uint32_t shard = 0; shard < 3; ++shard)
    EXPECT_GT(shared.with_shard(shard, [](const auto& own) { return own.shape().num_doublings; }), 0u);
  shared.clear();
  EXPECT_FALSE(shared.may_contain(std::uint64_t{1}));
}

TEST(SharedShards, NumbersOutOfRangeAreRefused) {
  const DLeftShape shape = OfShard<DLeftCountingBloomFilter<>>::shape();
  expect_refused([&] { SharedDLeftCountingBloomFilter(0, shape, 1); },
                 {"SharedShards: num_shards is 0; must be 1 to 64"});
  expect_refused([&] { SharedDLeftCountingBloomFilter(65, shape, 1); },
                 {"SharedShards: num_shards is 65; must be 1 to 64"});
  const SharedDLeftCountingBloomFilter shared(3, shape, 1);
  expect_refused([&] { (void)shared.with_shard(3, [](const auto&) { return 0; }); },
                 {"SharedShards: shard is 3; must be 0 to 2"});
}

class ShardsCampaign : public testing::TestWithParam<std::size_t> {};

template <class Filter>
void expect_exact_shards(std::size_t num_threads) {
  SharedShards<Filter> shared(num_shards, OfShard<Filter>::shape(), 1);
  in_threads(num_threads, [&](std::size_t t) {
    constexpr std::uint64_t keys_per_thread = 200;
    std::vector<std::uint32_t> exact(keys_per_thread);
    Random random(t);
    for (std::uint64_t i = 0; i < campaign_operations() / 4 / num_threads; ++i) {
      const std::uint64_t own = random.below(keys_per_thread);
      const std::uint64_t key = own * num_threads + t;
      if (random.below(2) == 0 && exact[own] < 6) {
        exact[own] += shared.insert(key) == InsertResult::counted;
      } else if (exact[own] > 0) {
        ASSERT_EQ(shared.remove(key), RemoveResult::removed);
        --exact[own];
      }
      ASSERT_GE(shared.count(key).value, exact[own]);
    }
  });
}

TEST_P(ShardsCampaign, NoCountIsTooLowAndNoLegalRemovalRefused) {
  expect_exact_shards<DLeftCountingBloomFilter<>>(GetParam());
  expect_exact_shards<CompactDLeftFilter>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Of, ShardsCampaign, testing::Values(2, 4), testing::PrintToStringParamName());

}  // namespace
}  // namespace tally::test
