#include "tally/filters/key_batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/random.hpp"
#include "support/schemes.hpp"
#include "tally/detail/batches/near_keys.hpp"
#include "tally/filters/bloom.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/threshold.hpp"

namespace tally {
namespace {

// Around the window of 128 keys.
const std::vector<std::size_t> batch_sizes = {0, 1, 2, 127, 128, 129, 255, 256, 257, 1000};

template <class Scheme>
class EveryBatch : public testing::Test {};
TYPED_TEST_SUITE(EveryBatch, test::SchemeTypes, test::SchemeNames);

std::vector<Hash128> random_digests(std::size_t size) {
  test::Random random(size);
  std::vector<Hash128> digests(size);
  for (Hash128& digest : digests) digest = random.digest();
  return digests;
}

TYPED_TEST(EveryBatch, TouchesAllPositionsOfEveryDigest) {
  for (const std::uint32_t least_k : {1u, 2u, 3u, 8u, 9u, 511u, 512u, 513u, 1024u}) {
    const PositionSpace space =
        test::usable_space<TypeParam>(10000, least_k, CounterArray::positions_per_line(32));
    const std::uint32_t k = space.num_hashes;
    for (const std::size_t size : batch_sizes) {
      const std::vector<Hash128> digests = random_digests(size);
      CountingBloomFilter<TypeParam> filter({space.num_positions, k, 32, 1}, 1);
      filter.insert_batch(digests);
      std::vector<std::uint64_t> truth(space.num_positions);
      for (const Hash128 digest : digests) {
        for (const std::uint64_t position : test::positions_of<TypeParam>(space, digest)) ++truth[position];
      }
      for (std::uint64_t i = 0; i < space.num_positions; ++i) ASSERT_EQ(filter.storage().get(i), truth[i]);
    }
  }
}

// One position is off at a time: an early one, or the very last, of the batch's last key.
TYPED_TEST(EveryBatch, TestsAllPositionsOfEveryDigest) {
  for (const std::uint32_t least_k : {1u, 2u, 3u, 8u, 9u, 513u, 1024u}) {
    const PositionSpace space = test::usable_space<TypeParam>(10000, least_k);
    const std::uint32_t k = space.num_hashes;
    for (const std::size_t size : batch_sizes) {
      if (size == 0) continue;
      const std::vector<Hash128> digests = random_digests(size);
      for (const std::uint32_t place : {0u, 1u, 2u, k - 1}) {
        if (place >= k) continue;
        const std::uint64_t off = test::positions_of<TypeParam>(space, digests.back())[place];
        BitArray bits(space.num_positions);
        for (std::uint64_t i = 0; i < space.num_positions; ++i) bits.set(i);
        bits.clear(off);
        const BloomFilter<TypeParam> filter({space.num_positions, k}, 1, 0, bits);
        const std::unique_ptr<bool[]> results(new bool[size]);
        filter.may_contain_batch(digests, std::span<bool>(results.get(), size));
        for (std::size_t i = 0; i < size; ++i) {
          const auto positions = test::positions_of<TypeParam>(space, digests[i]);
          ASSERT_EQ(results[i], std::ranges::count(positions, off) == 0) << i;
        }
      }
    }
  }
}

TYPED_TEST(EveryBatch, InRoundsTestsWhatSingleCallsTest) {
  if constexpr (is_in_one_line(TypeParam::layout)) {
    GTEST_SKIP() << "its keys have one line each, and no rounds";
  } else {
    test::Random random(7);
    for (const std::uint32_t least_k : {1u, 2u, 3u, 4u, 7u, 513u, 1024u}) {
      const PositionSpace space = test::usable_space<TypeParam>(10000, least_k);
      for (const std::size_t size : batch_sizes) {
        const std::vector<Hash128> digests = random_digests(size);
        BitArray bits(space.num_positions);
        for (std::uint64_t i = 0; i < space.num_positions; ++i)
          if (random.below(2) == 0) bits.set(i);
        for (std::size_t i = 0; i < size; i += 2)
          for (const std::uint64_t position : test::positions_of<TypeParam>(space, digests[i]))
            bits.set(position);
        const TypeParam scheme(space);
        const std::unique_ptr<bool[]> results(new bool[size]);
        const auto test = [&](std::uint64_t offset) { return bits.get(offset); };
        detail::test_in_rounds(KeyHasher(1), scheme, bits, space.num_hashes, digests, test,
                               std::span<bool>(results.get(), size));
        for (std::size_t i = 0; i < size; ++i) {
          ASSERT_EQ(results[i], detail::test_key(scheme, bits, digests[i], test)) << i << " of " << size;
          ASSERT_TRUE(results[i] || i % 2 != 0) << i << " of " << size;
        }
      }
    }
  }
}

/// Storage that is near for all operations, for lookups and quick writes only, and for none.
constexpr std::size_t storage_bytes[] = {std::size_t{1} << 14, detail::near_bytes_of_slow_keys + (1u << 16),
                                         detail::near_bytes + (1u << 16), detail::cached_bytes + (1u << 16)};

/// Few digests, each often enough that counters of up to 4 bits saturate, and then some that are not among them.
std::vector<Hash128> repeated_digests() {
  const std::vector<Hash128> few = random_digests(12);
  std::vector<Hash128> digests;
  for (std::size_t i = 0; i < 300; ++i) digests.push_back(few[i * i % few.size()]);
  const std::vector<Hash128> others = random_digests(30);
  digests.insert(digests.end(), others.begin(), others.end());
  return digests;
}

TYPED_TEST(EveryBatch, OfAnySizeOfStorageDoesWhatSingleCallsDo) {
  const std::vector<Hash128> keys = repeated_digests();
  const std::span half = std::span(keys).subspan(0, 290);
  const std::unique_ptr<bool[]> passed(new bool[keys.size()]);
  const std::span<bool> passes(passed.get(), keys.size());
  for (const std::size_t num_bytes : storage_bytes) {
    for (const std::uint32_t k : {1u, 7u, 70u}) {
      const PositionSpace bits = test::usable_space<TypeParam>(8 * num_bytes, k);
      BloomFilter<TypeParam> batch({bits.num_positions, bits.num_hashes}, 1);
      BloomFilter<TypeParam> single = batch;
      batch.insert_batch(half);
      for (const Hash128 key : half) single.insert(key);
      ASSERT_TRUE(batch == single) << num_bytes << " bytes, " << k << " hashes";
      batch.may_contain_batch(keys, passes);
      for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(passes[i], single.may_contain(keys[i]));
      ASSERT_TRUE(
          std::all_of(passes.begin(), passes.begin() + 290, [](bool passes_key) { return passes_key; }));
    }
  }
}

TYPED_TEST(EveryBatch, OfAnyWidthAndSizeOfStorageCountsAsSingleCallsDo) {
  const std::vector<Hash128> keys = repeated_digests();
  const std::span half = std::span(keys).subspan(0, 290);
  const std::unique_ptr<bool[]> passed(new bool[keys.size()]);
  const std::span<bool> passes(passed.get(), keys.size());
  std::vector<Count> counts(keys.size());
  std::vector<RemoveResult> removed(keys.size());
  for (const std::size_t num_bytes : storage_bytes) {
    for (const std::uint32_t width : {1u, 2u, 3u, 4u, 5u, 8u, 32u}) {
      const PositionSpace space = test::usable_space<TypeParam>(num_bytes / 8 * (64 / width), 7,
                                                                CounterArray::positions_per_line(width));
      CountingBloomFilter<TypeParam> batch({space.num_positions, space.num_hashes, width, 1}, 1);
      CountingBloomFilter<TypeParam> single = batch;
      std::uint64_t num_saturated = 0;
      for (const Hash128 key : half) num_saturated += single.insert(key) == InsertResult::saturated;
      ASSERT_EQ(batch.insert_batch(half), num_saturated) << num_bytes << " bytes, width " << width;
      ASSERT_TRUE(batch == single) << num_bytes << " bytes, width " << width;
      batch.may_contain_batch(keys, passes);
      batch.count_batch(keys, counts);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        ASSERT_EQ(passes[i], single.may_contain(keys[i]));
        ASSERT_EQ(counts[i], single.count(keys[i]));
      }
      batch.remove_batch(keys, removed);
      for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(removed[i], single.remove(keys[i])) << i;
      ASSERT_TRUE(batch == single) << num_bytes << " bytes, width " << width;
    }
  }
}

TYPED_TEST(EveryBatch, OfAThresholdFilterOfAnySizeDoesWhatSingleCallsDo) {
  const std::vector<Hash128> keys = repeated_digests();
  std::vector<Count> counts(keys.size());
  for (const std::size_t num_bytes : storage_bytes) {
    for (const std::uint64_t threshold : {3u, 6u, 10u, 20u, 300u}) {
      for (const CounterUpdate update : {CounterUpdate::plain, CounterUpdate::conservative}) {
        ThresholdShape shape{.num_counters = 1,
                             .num_hashes = test::usable_hashes<TypeParam>(7),
                             .threshold = threshold,
                             .update = update};
        const std::uint32_t width = counter_bits_for(shape);
        shape.num_counters = test::usable_space<TypeParam>(num_bytes / 8 * (64 / width), 7,
                                                           CounterArray::positions_per_line(width))
                                 .num_positions;
        ThresholdFilter<TypeParam> batch(shape, 1);
        ThresholdFilter<TypeParam> single = batch;
        batch.insert_and_count_batch(keys, counts);
        for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(counts[i], single.insert_and_count(keys[i]));
        ASSERT_TRUE(batch == single) << num_bytes << " bytes, threshold " << threshold;
      }
    }
  }
}

TEST(KeyBatch, TakesTextsBytesIntegersAndDigests) {
  const std::vector<std::string> texts = {"a", "", "bc"};
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const std::vector<std::uint64_t> integers = {1, 2};
  const std::vector<Hash128> digests = {{1, 2}, {3, 4}};
  BloomFilter<> filter({10000, 5}, 1);
  filter.insert_batch(texts);
  filter.insert_batch(integers);
  filter.insert_batch(digests);
  bool results[3] = {};
  filter.may_contain_batch(views, results);
  EXPECT_TRUE(results[0] && results[1] && results[2]);
  EXPECT_TRUE(filter.may_contain("bc"));
  EXPECT_TRUE(filter.may_contain(KeyBytes{}));
  EXPECT_TRUE(filter.may_contain(std::uint64_t{2}));
  EXPECT_TRUE(filter.may_contain(Hash128{3, 4}));
  EXPECT_FALSE(filter.may_contain("c"));
  EXPECT_EQ(filter.num_insertions(), 7u);
}

TEST(KeyBatch, AnEmptyBatchChangesNothing) {
  CountingBloomFilter<> filter({1000, 5, 4, 1}, 1);
  const std::vector<std::uint64_t> none;
  EXPECT_EQ(filter.insert_batch(none), 0u);
  filter.remove_batch(none, std::span<RemoveResult>());
  EXPECT_EQ(filter.totals().num_insertions, 0u);
  EXPECT_EQ(filter.totals().num_removes, 0u);
}

}  // namespace
}  // namespace tally
