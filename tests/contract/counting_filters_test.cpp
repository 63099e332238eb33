// Laws of CountingBloomFilter beyond those of every filter, for every scheme and width.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "support/expect_refused.hpp"
#include "support/filters.hpp"

namespace tally::test {
namespace {

constexpr std::uint64_t counting_universe = 150;

template <class Scheme>
class CountingFilter : public testing::Test {
 protected:
  using Filter = CountingBloomFilter<Scheme>;

  /// act(empty filter) for every width: crowded, roomy, and with repeated positions (m = 20, k = 7).
  template <class Act>
  static void for_each_empty(Act act) {
    for (const auto& [m, k] : {std::pair{20u, 7u}, std::pair{300u, 3u}, std::pair{5000u, 7u}}) {
      for (const auto& shape : Subject<Filter>::shapes(m, k)) {
        ASSERT_NO_FATAL_FAILURE(act(Filter(shape, 7)))
            << "counter_bits " << shape.counter_bits << ", m " << m;
      }
    }
  }

  static bool has_stuck(const Filter& filter) { return filter.statistics().num_saturated != 0; }
};
TYPED_TEST_SUITE(CountingFilter, SchemesOfFiltersTypes, SchemeNames);

TYPED_TEST(CountingFilter, ARemoveOfAProvablyAbsentKeyIsRefusedAndChangesNothing) {
  this->for_each_empty([](auto filter) {
    Random random(1);
    filter.insert_batch(skewed_keys(random, counting_universe, 100));
    std::uint64_t num_refused = 0;
    for (std::uint64_t key = 1000; key < 1500; ++key) {
      if (filter.may_contain(key)) continue;
      const Words before = words_of(filter);
      ASSERT_EQ(filter.remove(key), RemoveResult::refused);
      ASSERT_EQ(words_of(filter), before);
      ASSERT_EQ(filter.totals().num_refused_removes, ++num_refused);
    }
    ASSERT_EQ(filter.totals().num_removes, 0u);
  });
}

// A key whose positions repeat raises a counter twice, so a value of 1 there proves it absent.
TYPED_TEST(CountingFilter, ARemoveThatWouldTakeACounterBelowZeroIsRefusedAndChangesNothing) {
  std::uint64_t num_refused_though_found = 0;
  this->for_each_empty([&](auto filter) {
    for (std::uint64_t key = 0; key < 6; ++key) filter.insert(key);
    for (std::uint64_t key = 1000; key < 1500; ++key) {
      const bool found = filter.may_contain(key);
      const Words before = words_of(filter);
      auto copy = filter;
      if (copy.remove(key) != RemoveResult::refused) continue;
      num_refused_though_found += found;
      ASSERT_EQ(words_of(copy), before);
    }
  });
  if (TypeParam::layout == PositionLayout::whole) {
    EXPECT_GT(num_refused_though_found, 0u);
  }
}

TYPED_TEST(CountingFilter, ARemoveUndoesTheInsertExactlyUnlessACounterSticks) {
  this->for_each_empty([](auto filter) {
    Random random(2);
    filter.insert_batch(skewed_keys(random, counting_universe, 50));
    for (std::uint64_t key = 0; key < counting_universe; ++key) {
      auto changed = filter;
      const InsertResult inserted = changed.insert(key);
      const Words after_insert = words_of(changed);
      const RemoveResult removed = changed.remove(key);
      ASSERT_NE(removed, RemoveResult::refused);
      ASSERT_EQ(removed == RemoveResult::saturated, inserted == InsertResult::saturated);
      if (inserted == InsertResult::counted) {
        ASSERT_EQ(words_of(changed), words_of(filter));
      }
      // Every counter that is lower than after the insert was not at its maximum then.
      for (std::uint64_t i = 0; i < changed.storage().size(); ++i) {
        const std::uint64_t before = filter.storage().get(i);
        const std::uint64_t after = changed.storage().get(i);
        ASSERT_TRUE(after == before || after == filter.storage().max()) << i;
      }
    }
  });
}

TYPED_TEST(CountingFilter, WhatIsStuckStaysStuckThroughRemovesAndMerges) {
  this->for_each_empty([](auto filter) {
    Random random(3);
    const auto keys = skewed_keys(random, counting_universe, 400);
    filter.insert_batch(keys);
    for (int i = 0; i < 63; ++i) filter.merge(filter);  // doubles, so that wide counters saturate too
    const auto storage = filter.storage();
    std::vector<std::uint64_t> stuck;
    for (std::uint64_t i = 0; i < storage.size(); ++i) {
      if (storage.get(i) == storage.max()) stuck.push_back(i);
    }
    ASSERT_FALSE(stuck.empty());
    const auto expect_stuck = [&] {
      for (const std::uint64_t i : stuck) ASSERT_EQ(filter.storage().get(i), storage.max());
    };
    std::vector<RemoveResult> results(keys.size());
    filter.remove_batch(keys, results);
    ASSERT_EQ(std::ranges::count(results, RemoveResult::refused), 0);
    expect_stuck();
    decltype(filter) other(filter.shape(), 7);
    other.insert(std::uint64_t{1});
    filter.merge(other);
    expect_stuck();
    other.merge(filter);
    filter = other;
    expect_stuck();
  });
}

TYPED_TEST(CountingFilter, AMergeEqualsInsertingBothUnlessACounterSticks) {
  std::uint64_t num_exact = 0;
  this->for_each_empty([&](auto filter) {
    Random random(4);
    const auto keys_a = skewed_keys(random, counting_universe, 60);
    const auto keys_b = skewed_keys(random, counting_universe, 60);
    auto other = filter;
    auto both = filter;
    filter.insert_batch(keys_a);
    other.insert_batch(keys_b);
    both.insert_batch(keys_a);
    both.insert_batch(keys_b);
    filter.merge(other);
    num_exact += !CountingFilter<TypeParam>::has_stuck(both);
    // No removes: saturating sums equal inserting both even then.
    ASSERT_EQ(words_of(filter), words_of(both));
  });
  EXPECT_GE(num_exact, 10u);
}

TYPED_TEST(CountingFilter, ARemoveWorksAfterAMerge) {
  this->for_each_empty([](auto filter) {
    Random random(5);
    ExactMultiset twin(counting_universe);
    auto other = filter;
    insert_into_both(filter, twin, skewed_keys(random, counting_universe, 100));
    insert_into_both(other, twin, skewed_keys(random, counting_universe, 100));
    filter.merge(other);
    for (std::uint64_t key = 0; key < counting_universe; ++key) {
      while (twin.count(key) > key % 3) {
        ASSERT_NE(filter.remove(key), RemoveResult::refused);
        twin.remove(key);
      }
    }
    expect_promises_kept(filter, twin);
  });
}

TYPED_TEST(CountingFilter, BatchesAnswerAndChangeLikeOneByOneInOrder) {
  this->for_each_empty([](auto filter) {
    Random random(6);
    const auto keys = skewed_keys(random, counting_universe, 300);
    auto single = filter;
    std::uint64_t num_saturated = 0;
    for (const std::uint64_t key : keys) num_saturated += single.insert(key) == InsertResult::saturated;
    ASSERT_EQ(filter.insert_batch(keys), num_saturated);
    ASSERT_EQ(words_of(filter), words_of(single));

    const auto others = skewed_keys(random, 2 * counting_universe, 300);
    std::vector<Count> counts(300);
    filter.count_batch(others, counts);
    const auto found =
        ask_batch(300, [&](std::span<bool> results) { filter.may_contain_batch(others, results); });
    const std::uint64_t theta = std::min<std::uint64_t>(3, filter.storage().max());
    const auto reached =
        ask_batch(300, [&](std::span<bool> results) { filter.at_least_batch(others, theta, results); });
    for (std::size_t i = 0; i < others.size(); ++i) {
      ASSERT_EQ(counts[i], single.count(others[i]));
      ASSERT_EQ(found[i], single.may_contain(others[i]));
      ASSERT_EQ(reached[i], single.at_least(others[i], theta));
      ASSERT_EQ(reached[i], counts[i].value >= theta);
    }

    std::vector<RemoveResult> results(300);
    filter.remove_batch(others, results);
    for (std::size_t i = 0; i < others.size(); ++i) ASSERT_EQ(results[i], single.remove(others[i])) << i;
    ASSERT_EQ(words_of(filter), words_of(single));
    ASSERT_EQ(filter.totals().num_removes, single.totals().num_removes);
    ASSERT_EQ(filter.totals().num_refused_removes, single.totals().num_refused_removes);
  });
}

// One key alone: its count is exact until it saturates (unless its positions repeat).
TYPED_TEST(CountingFilter, CountsAKeyAloneExactlyUpToTheMaximum) {
  for (const auto& shape : Subject<CountingBloomFilter<TypeParam>>::shapes(1 << 20, 4)) {
    CountingBloomFilter<TypeParam> filter(shape, 7);
    std::uint64_t key = 0;  // the first one without repeated positions
    const PositionSpace space{shape.num_counters, shape.num_hashes,
                              CounterArray::positions_per_line(shape.counter_bits)};
    const auto repeats = [&] {
      auto positions = positions_of<TypeParam>(space, filter.hasher()(key));
      std::ranges::sort(positions);
      return std::ranges::adjacent_find(positions) != positions.end();
    };
    while (repeats()) ++key;
    const std::uint64_t max = filter.storage().max();
    for (std::uint64_t times = 1; times <= std::min<std::uint64_t>(max, 300); ++times) {
      ASSERT_EQ(filter.insert(key), times == max ? InsertResult::saturated : InsertResult::counted);
      ASSERT_EQ(filter.count(key), (Count{times, times == max}));
    }
    if (max > 300) continue;
    ASSERT_EQ(filter.insert(key), InsertResult::saturated);
    ASSERT_EQ(filter.remove(key), RemoveResult::saturated);
    ASSERT_EQ(filter.count(key), (Count{max, true}));
  }
}

TYPED_TEST(CountingFilter, AKeyInsertedAMillionTimesAmongOthersIsCountedAndCanBeRemovedAMillionTimes) {
  constexpr std::uint64_t times = 1'000'000;
  constexpr std::uint64_t hot = 5;
  const PositionSpace space = usable_space<TypeParam>(100'000, 4, CounterArray::positions_per_line(32));
  CountingBloomFilter<TypeParam> filter({space.num_positions, space.num_hashes, 32}, KeyHasher(7));
  std::vector<std::uint64_t> others(100);
  std::iota(others.begin(), others.end(), 100);
  const std::vector<std::uint64_t> keys(times / 2, hot);
  ASSERT_EQ(filter.insert_batch(keys), 0u);
  ASSERT_EQ(filter.insert_batch(others), 0u);
  for (std::uint64_t i = 0; i < times / 2; ++i) ASSERT_EQ(filter.insert(hot), InsertResult::counted);
  ASSERT_EQ(filter.count(hot), (Count{times, false}));
  for (const std::uint64_t key : others) ASSERT_GE(filter.count(key).value, 1u);

  std::vector<RemoveResult> results(keys.size());
  filter.remove_batch(keys, results);
  ASSERT_EQ(std::ranges::count(results, RemoveResult::removed), static_cast<std::ptrdiff_t>(keys.size()));
  for (std::uint64_t left = times / 2; left > 0; --left) ASSERT_EQ(filter.remove(hot), RemoveResult::removed);
  ASSERT_EQ(filter.count(hot), (Count{0, false}));
  ASSERT_EQ(filter.remove(hot), RemoveResult::refused);
  for (const std::uint64_t key : others) ASSERT_EQ(filter.remove(key), RemoveResult::removed);
  ASSERT_EQ(filter.statistics().num_nonzero, 0u);
}

TEST(BlockedCountingFilter, CountsAHotKeyExactlyWithWideCounters) {
  constexpr std::uint64_t times = 1'000'000;
  BlockedCountingBloomFilter filter({1600, 4, 32, times}, 7);
  const std::vector<Hash128> hot(times / 10, Hash128{123, 0x0123456789abcdefu});
  const Hash128 neighbour{123, 0xfedcba9876543210u};  // in the same line, at other counters
  for (int i = 0; i < 10; ++i) ASSERT_EQ(filter.insert_batch(hot), 0u);
  filter.insert(neighbour);
  EXPECT_EQ(filter.count(hot[0]), (Count{times, false}));
  EXPECT_EQ(filter.count(neighbour), (Count{1, false}));
  EXPECT_TRUE(filter.at_least(hot[0], times));
  std::vector<RemoveResult> results(hot.size());
  for (int i = 0; i < 10; ++i) filter.remove_batch(hot, results);
  EXPECT_EQ(filter.count(hot[0]).value, 0u);
  EXPECT_EQ(filter.totals().num_removes, times);
  EXPECT_EQ(filter.remove(hot[0]), RemoveResult::refused);
  EXPECT_EQ(filter.count(neighbour), (Count{1, false}));
}

TEST(CountingFilterThreshold, IsRefusedOutsideItsRange) {
  CountingBloomFilter<> filter({1000, 5, 4, 9}, 7);
  const std::vector<std::uint64_t> keys = {1};
  bool result[1];
  for (const std::uint64_t theta : {std::uint64_t{0}, std::uint64_t{10}, ~std::uint64_t{0}}) {
    const std::string message = "CountingBloomFilter: theta is " + std::to_string(theta) + "; must be 1 to 9";
    expect_refused([&] { (void)filter.at_least("a", theta); }, {message});
    expect_refused([&] { filter.at_least_batch(keys, theta, result); }, {message});
  }
}

}  // namespace
}  // namespace tally::test
