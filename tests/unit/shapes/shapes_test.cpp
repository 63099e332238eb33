#include "tally/shapes/bloom.hpp"
#include "tally/shapes/counter_update.hpp"
#include "tally/shapes/counting_bloom.hpp"
#include "tally/shapes/threshold.hpp"

#include <gtest/gtest.h>

#include <new>
#include <string>
#include <vector>

#include "support/expect_refused.hpp"
#include "support/schemes.hpp"
#include "tally/filters/bloom.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/threshold.hpp"

namespace tally {
namespace {

constexpr std::uint64_t last = ~std::uint64_t{0};
constexpr std::uint64_t too_many_positions = max_num_positions + 1;

template <class Shape>
struct BadShape {
  Shape shape;
  std::vector<std::string> fragments;
};

template <class Filter, class Shape>
void expect_all_refused(const std::vector<BadShape<Shape>>& table) {
  for (const BadShape<Shape>& bad : table) {
    test::expect_refused([&] { Filter(bad.shape, 1); }, bad.fragments);
  }
}

TEST(BloomShape, EveryFieldOutOfRangeIsRefusedByName) {
  expect_all_refused<BloomFilter<>, BloomShape>({
      {{0, 3}, {"BloomFilter: num_bits is 0; must be 1 to 72057594037927936"}},
      {{too_many_positions, 3},
       {"BloomFilter: num_bits is 72057594037927937; must be 1 to 72057594037927936"}},
      {{last, 3}, {"BloomFilter: num_bits is 18446744073709551615"}},
      {{1000, 0}, {"BloomFilter: num_hashes is 0; must be 1 to 1024"}},
      {{1000, 1025}, {"BloomFilter: num_hashes is 1025; must be 1 to 1024"}},
      {{1000, 0xffffffff}, {"BloomFilter: num_hashes is 4294967295"}},
      {{}, {"BloomFilter: num_hashes is 0"}},
  });
  expect_all_refused<BlockedBloomFilter, BlockedBloomShape>({
      {{513, 3}, {"BlockedBloomFilter: num_bits is 513; must be 512 or 1024 for the scheme 'blocked'"}},
      {{511, 3}, {"BlockedBloomFilter: num_bits is 511; must be 512 for the scheme 'blocked'"}},
      {{512, 0}, {"BlockedBloomFilter: num_hashes is 0"}},
  });
  expect_all_refused<RegisterBlockedBloomFilter, BlockedBloomShape>({
      {{513, 8},
       {"BlockedBloomFilter: num_bits is 513; must be 512 or 1024 for the scheme 'register-blocked'"}},
      {{512, 6},
       {"BlockedBloomFilter: num_hashes is 6; must be a multiple of 8 for the scheme 'register-blocked'"}},
      {{512, 0}, {"BlockedBloomFilter: num_hashes is 0"}},
  });
  expect_all_refused<BloomFilter<PartitionDoubleScheme>, BloomShape>({
      {{100, 10},
       {"BloomFilter: num_bits is 100; must be 70 or 110 for the scheme 'partition-double' with num_hashes "
        "10"}},
      {{5, 10}, {"BloomFilter: num_bits is 5; must be 20 for the scheme"}},
  });
}

TEST(CountingBloomShape, EveryFieldOutOfRangeIsRefusedByName) {
  expect_all_refused<CountingBloomFilter<>, CountingBloomShape>({
      {{0, 3}, {"CountingBloomFilter: num_counters is 0; must be 1 to 72057594037927936"}},
      {{too_many_positions, 3}, {"CountingBloomFilter: num_counters is 72057594037927937"}},
      {{1000, 0}, {"CountingBloomFilter: num_hashes is 0; must be 1 to 1024"}},
      {{1000, 1025}, {"CountingBloomFilter: num_hashes is 1025"}},
      {{1000, 3, 0}, {"CountingBloomFilter: counter_bits is 0; must be 1 to 8, 16, 32 or 64"}},
      {{1000, 3, 9}, {"CountingBloomFilter: counter_bits is 9"}},
      {{1000, 3, 63}, {"CountingBloomFilter: counter_bits is 63"}},
      {{1000, 3, 65}, {"CountingBloomFilter: counter_bits is 65"}},
      {{1000, 3, 4, 0},
       {"CountingBloomFilter: max_threshold is 0; must be 1 to 15 with counter_bits 4; use wider counters"}},
      {{1000, 3, 4, 16}, {"CountingBloomFilter: max_threshold is 16; must be 1 to 15"}},
      {{1000, 3, 1, 2}, {"CountingBloomFilter: max_threshold is 2; must be 1 to 1"}},
      {{1000, 3, 64, 0}, {"max_threshold is 0; must be 1 to 18446744073709551615"}},
  });
  EXPECT_NO_THROW(CountingBloomFilter<>({1000, 3, 4, 15}, 1));
  EXPECT_NO_THROW(CountingBloomFilter<>({1000, 3, 64, last}, 1));
}

TEST(BlockedCountingBloomShape, EveryFieldOutOfRangeIsRefusedByName) {
  expect_all_refused<BlockedCountingBloomFilter, BlockedCountingBloomShape>({
      {{0, 3}, {"BlockedCountingBloomFilter: num_counters is 0; must be 1 to 72057594037927936"}},
      {{129, 3},
       {"BlockedCountingBloomFilter: num_counters is 129; must be 128 or 256 for the scheme 'blocked'"}},
      {{64, 3}, {"BlockedCountingBloomFilter: num_counters is 64; must be 128 for the scheme 'blocked'"}},
      {{64, 3, 7}, {"BlockedCountingBloomFilter: num_counters is 64; must be 72"}},
      {{128, 0}, {"BlockedCountingBloomFilter: num_hashes is 0; must be 1 to 1024"}},
      {{128, 3, 9}, {"BlockedCountingBloomFilter: counter_bits is 9; must be 1 to 8, 16, 32 or 64"}},
      {{128, 3, 4, 16},
       {"BlockedCountingBloomFilter: max_threshold is 16; must be 1 to 15 with counter_bits 4"}},
  });
  EXPECT_NO_THROW(BlockedCountingBloomFilter({128, 3, 4, 15}, 1));
  EXPECT_NO_THROW(BlockedCountingBloomFilter({8, 3, 64, last}, 1));
}

TEST(ThresholdShape, EveryFieldOutOfRangeIsRefusedByName) {
  expect_all_refused<ThresholdFilter<>, ThresholdShape>({
      {{0, 3, 2}, {"ThresholdFilter: num_counters is 0"}},
      {{too_many_positions, 3, 2}, {"ThresholdFilter: num_counters is 72057594037927937"}},
      {{1000, 0, 2}, {"ThresholdFilter: num_hashes is 0; must be 1 to 1024"}},
      {{1000, 1025, 2}, {"ThresholdFilter: num_hashes is 1025"}},
      {{1000, 3, 0}, {"ThresholdFilter: threshold is 0; must be 1 to 4294967295"}},
      {{1000, 3, std::uint64_t{1} << 32},
       {"ThresholdFilter: threshold is 4294967296; must be 1 to 4294967295"}},
      {{1000, 3, last}, {"ThresholdFilter: threshold is 18446744073709551615"}},
      {{1000, 3, 2, CounterUpdate{2}},
       {"ThresholdFilter: update is 2; must be 0 (plain) or 1 (conservative)"}},
  });
  EXPECT_NO_THROW(ThresholdFilter<>({1000, 3, max_threshold_limit}, 1));
}

TEST(Shapes, MoreMemoryThanThereIsIsRefusedAsSuch) {
  EXPECT_THROW(BloomFilter<>({max_num_positions, 3}, 1), std::bad_alloc);
  EXPECT_THROW(CountingBloomFilter<>({max_num_positions, 3, 64}, 1), std::bad_alloc);
  EXPECT_THROW(ThresholdFilter<>({max_num_positions, 3, max_threshold_limit}, 1), std::bad_alloc);
}

TEST(Shapes, TheLargestNumberOfHashesWorks) {
  BloomFilter<> filter({1 << 20, 1024}, 1);
  filter.insert("a");
  EXPECT_TRUE(filter.may_contain("a"));
  EXPECT_FALSE(filter.may_contain("b"));
}

TEST(Shapes, TheirBytesAreThoseOfTheStorage) {
  for (const std::uint64_t m :
       {std::uint64_t{1}, std::uint64_t{64}, std::uint64_t{65}, std::uint64_t{12345}}) {
    const BloomShape bloom{m, 3};
    EXPECT_EQ(num_bytes(bloom), 8 * BloomFilter<>(bloom, 1).storage().words().size());
    const BlockedBloomShape blocked{512 * m, 3};
    EXPECT_EQ(num_bytes(blocked), 8 * BlockedBloomFilter(blocked, 1).storage().words().size());
    for (const std::uint32_t bits : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 16u, 32u, 64u}) {
      const CountingBloomShape counting{m, 3, bits};
      EXPECT_EQ(num_bytes(counting), 8 * CountingBloomFilter<>(counting, 1).storage().words().size());
      const BlockedCountingBloomShape in_lines{m * (64 / bits) * 8, 3, bits};
      EXPECT_EQ(num_bytes(in_lines), 64 * m);
      EXPECT_EQ(num_bytes(in_lines), 8 * BlockedCountingBloomFilter(in_lines, 1).storage().words().size());
    }
    for (const std::uint64_t threshold : {1, 2, 10, 300, 70000}) {
      const ThresholdShape shape{m, 3, threshold};
      EXPECT_EQ(num_bytes(shape), 8 * ThresholdFilter<>(shape, 1).storage().words().size());
    }
  }
  EXPECT_EQ(num_bytes(CountingBloomShape{1000, 3, 4}), 504u);  // 16 in a word
  EXPECT_EQ(num_bytes(CountingBloomShape{1000, 3, 5}), 672u);  // 12 in a word
}

TEST(Shapes, ThresholdCountersAreJustWideEnough) {
  const auto bits = [](std::uint64_t threshold) { return counter_bits_for(ThresholdShape{1, 1, threshold}); };
  EXPECT_EQ(bits(1), 1u);
  EXPECT_EQ(bits(2), 2u);
  EXPECT_EQ(bits(3), 2u);
  EXPECT_EQ(bits(4), 3u);
  EXPECT_EQ(bits(255), 8u);
  EXPECT_EQ(bits(256), 16u);
  EXPECT_EQ(bits(65536), 32u);
  EXPECT_EQ(bits(max_threshold_limit), 32u);
}

TEST(Shapes, UpdatesHaveNames) {
  EXPECT_EQ(name_of(CounterUpdate::plain), "plain");
  EXPECT_EQ(name_of(CounterUpdate::conservative), "conservative");
}

}  // namespace
}  // namespace tally
