// Laws of AgingBloomFilter, beside a list of all insertions.

#include "tally/filters/aging_bloom.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "expect_refused.hpp"
#include "random.hpp"
#include "tally/planner.hpp"
#include "tally/theory/confidence.hpp"

namespace tally {
namespace {

constexpr std::uint64_t keys_per_generation = 500;

BloomShape shape_for(double rate) {
  return plan_bloom({.num_keys = keys_per_generation, .false_positive_rate = rate_per_generation(rate)});
}

TEST(AgingBloomFilter, RemembersTheLastGenerationOfInsertionsAndAtMostTwo) {
  AgingBloomFilter filter(shape_for(1e-9), 42, keys_per_generation);
  test::Random random(1);
  std::vector<std::uint64_t> inserted;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    inserted.push_back(random.next());
    filter.insert(inserted.back());
    if (i % 97 != 0) continue;
    for (std::uint64_t age = 0; age <= i; ++age) {
      const bool found = filter.may_contain(inserted[i - age]);
      const bool must = age < keys_per_generation;
      const bool may = age < 2 * keys_per_generation;
      ASSERT_TRUE(must <= found && found <= may) << "after " << age << " more insertions: " << found;
    }
  }
  EXPECT_EQ(filter.num_advances(), 9u);
}

TEST(AgingBloomFilter, RemembersAKeyUntilTheSecondAdvance) {
  AgingBloomFilter<BlockedScheme> filter({.num_bits = 512 * 100, .num_hashes = 5}, 42, 1000);
  filter.insert("apple");
  filter.advance();
  EXPECT_TRUE(filter.may_contain("apple"));
  filter.advance();
  EXPECT_FALSE(filter.may_contain("apple"));
}

TEST(AgingBloomFilter, KeepsTheRateThatItsGenerationsWerePlannedFor) {
  constexpr double rate = 0.02;
  constexpr std::uint64_t num_queries = 20'000;
  const BloomShape shape = shape_for(rate);
  std::uint64_t num_passed = 0;
  constexpr std::uint64_t num_filters = 20;
  test::Random random(2);
  for (std::uint64_t trial = 0; trial < num_filters; ++trial) {
    AgingBloomFilter filter(shape, random.next(), keys_per_generation);
    for (std::uint64_t i = 0; i < 2 * keys_per_generation; ++i) filter.insert(random.next());
    for (std::uint64_t i = 0; i < num_queries; ++i) num_passed += filter.may_contain(random.next());
  }
  // The planned rate is met, but for whole bits and hashes not by far.
  const auto limits = theory::binomial_confidence_limits(num_passed, num_filters * num_queries, 0.9999);
  EXPECT_LT(limits.low, rate);
  EXPECT_GT(limits.high, 0.9 * rate);
}

TEST(AgingBloomFilter, ABatchDoesWhatSingleKeysDo) {
  test::Random random(3);
  AgingBloomFilter one_by_one(shape_for(0.01), 42, keys_per_generation);
  AgingBloomFilter batch(shape_for(0.01), 42, keys_per_generation);
  for (int i = 0; i < 30; ++i) {
    std::vector<std::uint64_t> keys(random.below(700));
    for (std::uint64_t& key : keys) key = random.below(3000);
    batch.insert_batch(keys);
    for (const std::uint64_t key : keys) one_by_one.insert(key);
    ASSERT_EQ(batch, one_by_one);
    const std::unique_ptr<bool[]> found(new bool[keys.size()]);
    batch.may_contain_batch(keys, std::span(found.get(), keys.size()));
    for (std::size_t at = 0; at < keys.size(); ++at) ASSERT_EQ(found[at], batch.may_contain(keys[at]));
  }
}

TEST(AgingBloomFilter, AKeyThatIsSeenOverAndOverStaysAndFillsNothing) {
  AgingBloomFilter filter(shape_for(1e-9), 42, keys_per_generation);
  EXPECT_FALSE(filter.test_and_refresh("often"));
  for (std::uint64_t i = 0; i < 100'000; ++i) ASSERT_TRUE(filter.test_and_refresh("often"));
  EXPECT_EQ(filter.num_advances(), 0u);
  for (std::uint64_t i = 0; i < 20 * keys_per_generation; ++i) {
    ASSERT_FALSE(filter.test_and_refresh(i));
    ASSERT_TRUE(filter.test_and_refresh("often"));
  }
  EXPECT_GT(filter.num_advances(), 15u);
}

TEST(AgingBloomFilter, IsEmptyAfterClear) {
  AgingBloomFilter filter(shape_for(0.01), 42, 10);
  const AgingBloomFilter empty = filter;
  for (std::uint64_t i = 0; i < 35; ++i) filter.insert(i);
  EXPECT_FALSE(filter == empty);
  filter.clear();
  EXPECT_EQ(filter, empty);
}

TEST(AgingBloomFilter, RefusesGenerationsOfNoKeys) {
  test::expect_refused(
      [] {
        AgingBloomFilter<>({100, 3}, 42, 0);
      },
      {"AgingBloomFilter: keys_per_generation is 0; must be at least 1"});
}

}  // namespace
}  // namespace tally
