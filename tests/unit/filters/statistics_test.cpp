#include "tally/filters/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/schemes.hpp"
#include "tally/filters/bloom.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/threshold.hpp"

namespace tally {
namespace {

TEST(Statistics, AnEmptyFilterHasNothingToReport) {
  const FilterStatistics statistics = CountingBloomFilter<>({1000, 5, 4, 1}, 1).statistics();
  EXPECT_EQ(statistics.num_positions, 1000u);
  EXPECT_EQ(statistics.num_nonzero, 0u);
  EXPECT_EQ(statistics.num_saturated, 0u);
  EXPECT_EQ(statistics.num_insertions, 0u);
  EXPECT_EQ(statistics.fill_ratio(), 0.0);
  EXPECT_EQ(statistics.estimated_num_keys, 0.0);
  EXPECT_EQ(statistics.estimated_num_keys_standard_error, 0.0);
  EXPECT_EQ(statistics.estimated_false_positive_rate, 0.0);
  EXPECT_EQ(statistics.histogram, (std::vector<HistogramBin>{{0, 0, 1000}}));
  EXPECT_EQ(FilterStatistics{}.fill_ratio(), 0.0);
}

TEST(Statistics, AFullFilterPassesEveryKeyAndHasNoEstimate) {
  CountingBloomFilter<> filter({10, 5, 1, 1}, 1);
  for (std::uint64_t key = 0; key < 100; ++key) filter.insert(key);
  const FilterStatistics statistics = filter.statistics();
  EXPECT_EQ(statistics.num_saturated, 10u);
  EXPECT_EQ(statistics.fill_ratio(), 1.0);
  EXPECT_TRUE(std::isinf(statistics.estimated_num_keys));
  EXPECT_TRUE(std::isinf(statistics.estimated_num_keys_standard_error));
  EXPECT_EQ(statistics.estimated_false_positive_rate, 1.0);
}

TEST(Statistics, CountEveryKindOfCall) {
  CountingBloomFilter<> filter({1000, 5, 2, 3}, 1);
  const std::vector<std::uint64_t> keys = {1, 2, 3, 3, 3, 3};
  filter.insert_batch(keys);
  EXPECT_EQ(filter.remove(std::uint64_t{1}), RemoveResult::removed);
  EXPECT_EQ(filter.remove(std::uint64_t{3}), RemoveResult::saturated);
  EXPECT_EQ(filter.remove(std::uint64_t{4}), RemoveResult::refused);
  const FilterStatistics statistics = filter.statistics();
  EXPECT_EQ(statistics.num_insertions, 6u);
  EXPECT_EQ(statistics.num_removes, 2u);
  EXPECT_EQ(statistics.num_refused_removes, 1u);
  EXPECT_EQ(statistics.num_nonzero, 10u);
  EXPECT_EQ(statistics.num_saturated, 5u);
  EXPECT_EQ(statistics.histogram, (std::vector<HistogramBin>{{0, 0, 990}, {1, 1, 5}, {2, 2, 0}, {3, 3, 5}}));
}

// 8 counters, k = 2; the storage is made by hand, so that the share that passes is known.
TEST(Statistics, TheFalsePositiveRateIsThatOfTheLayout) {
  const PositionSpace space{8, 2, 4};
  CounterArray counters(8, 4);
  for (std::uint64_t i : {0, 1, 2, 4}) counters.set(i, 3);
  counters.set(5, 1);
  const auto rate_at = [&](PositionLayout layout, std::uint64_t value) {
    return storage_statistics(counters, layout, space, value).estimated_false_positive_rate;
  };
  EXPECT_DOUBLE_EQ(rate_at(PositionLayout::whole, 1), 25.0 / 64);
  EXPECT_DOUBLE_EQ(rate_at(PositionLayout::whole, 2), 16.0 / 64);
  EXPECT_DOUBLE_EQ(rate_at(PositionLayout::parts, 1), 3.0 / 4 * 2 / 4);
  EXPECT_DOUBLE_EQ(rate_at(PositionLayout::parts, 2), 3.0 / 4 * 1 / 4);
  EXPECT_DOUBLE_EQ(rate_at(PositionLayout::lines, 1), (9.0 / 16 + 4.0 / 16) / 2);
  EXPECT_DOUBLE_EQ(rate_at(PositionLayout::lines, 2), (9.0 / 16 + 1.0 / 16) / 2);
}

TEST(Statistics, AThresholdFilterRatesAtItsThreshold) {
  ThresholdFilter<> filter({10, 1, 3}, 1);
  for (int i = 0; i < 3; ++i) filter.insert("a");
  for (int i = 0; i < 2; ++i) filter.insert("b");
  const FilterStatistics statistics = filter.statistics();
  EXPECT_EQ(statistics.num_insertions, 5u);
  EXPECT_GE(statistics.num_nonzero, 2u);  // unless both share a counter, which the seed does not do
  EXPECT_DOUBLE_EQ(statistics.estimated_false_positive_rate, 0.1);
}

}  // namespace
}  // namespace tally
