// Laws of ThresholdFilter beyond those of every filter, for every scheme, width and update.

#include <gtest/gtest.h>

#include "support/filters.hpp"

namespace tally::test {
namespace {

constexpr std::uint64_t threshold_universe = 150;

template <class Scheme>
class ThresholdFilterOf : public testing::Test {
 protected:
  using Filter = ThresholdFilter<Scheme>;

  template <class Act>
  static void for_each_empty(Act act) {
    for (const auto& [m, k] :
         {std::pair{20u, 7u}, std::pair{300u, 3u}, std::pair{400u, 1u}, std::pair{5000u, 7u}}) {
      for (const ThresholdShape& shape : Subject<Filter>::shapes(m, k)) {
        ASSERT_NO_FATAL_FAILURE(act(Filter(shape, 7)))
            << "threshold " << shape.threshold << " " << name_of(shape.update) << ", m " << m;
      }
    }
  }
};
TYPED_TEST_SUITE(ThresholdFilterOf, SchemesOfFiltersTypes, SchemeNames);

TYPED_TEST(ThresholdFilterOf, BatchesAnswerAndChangeLikeOneByOneInOrder) {
  this->for_each_empty([](auto filter) {
    Random random(1);
    const auto keys = skewed_keys(random, threshold_universe, 400);
    auto single = filter;
    auto counted = filter;
    std::vector<ThresholdState> states(keys.size());
    filter.insert_batch(keys, states);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(states[i], single.insert(keys[i])) << i;
      const Count count = counted.insert_and_count(keys[i]);
      ASSERT_EQ(count, single.count(keys[i]));
      ASSERT_EQ(states[i] == ThresholdState::at_least, count.value >= filter.shape().threshold);
    }
    ASSERT_EQ(words_of(filter), words_of(single));
    ASSERT_EQ(words_of(counted), words_of(single));
    const auto others = skewed_keys(random, 2 * threshold_universe, 300);
    std::vector<Count> counts(300);
    filter.count_batch(others, counts);
    const auto reached =
        ask_batch(300, [&](std::span<bool> results) { filter.at_least_batch(others, results); });
    for (std::size_t i = 0; i < others.size(); ++i) {
      ASSERT_EQ(counts[i], single.count(others[i]));
      ASSERT_EQ(reached[i], single.at_least(others[i]));
    }
  });
}

TYPED_TEST(ThresholdFilterOf, AKeyInsertedSeveralTimesAtOnceIsAsIfOneByOne) {
  this->for_each_empty([](auto filter) {
    Random random(3);
    auto single = filter;
    for (const auto& key : skewed_keys(random, threshold_universe, 100)) {
      const std::uint64_t times = random.below(7);
      filter.insert_times(key, times);
      for (std::uint64_t i = 0; i < times; ++i) (void)single.insert(key);
      ASSERT_EQ(words_of(filter), words_of(single)) << times << " times";
    }
    ASSERT_EQ(filter.num_insertions(), single.num_insertions());
    filter.insert_times(std::uint64_t{1}, ~std::uint64_t{0});
    ASSERT_TRUE(filter.at_least(std::uint64_t{1}));
  });
}

TYPED_TEST(ThresholdFilterOf, CountsOfMostlyAbsentKeysAreAddedToWhatIsThere) {
  this->for_each_empty([](auto filter) {
    Random random(7);
    Subject<decltype(filter)>::insert_batch(filter, skewed_keys(random, threshold_universe, 200));
    const auto keys = skewed_keys(random, 10 * threshold_universe, 1100);  // more than are looked at together
    std::vector<Count> sums(keys.size(), Count{5, true});
    filter.add_rare_counts_batch(keys, sums);
    for (std::size_t i = 0; i < keys.size(); ++i)
      ASSERT_EQ(sums[i], (Count{5 + filter.count(keys[i]).value, true})) << i;
    filter.add_rare_counts_batch(std::span(keys).first(0), std::span(sums).first(0));
  });
}

// The insert's own answer is never late: the theta-th insertion says at_least.
TYPED_TEST(ThresholdFilterOf, NoInsertionIsReportedLate) {
  this->for_each_empty([](auto filter) {
    Random random(2);
    ExactMultiset twin(threshold_universe);
    for (const std::uint64_t key : skewed_keys(random, threshold_universe, 600)) {
      twin.insert(key);
      const ThresholdState state = filter.insert(key);
      ASSERT_TRUE(twin.count(key) < filter.shape().threshold || state == ThresholdState::at_least);
    }
  });
}

TYPED_TEST(ThresholdFilterOf, AKeyAloneIsReportedAtItsThetaThInsertionExactly) {
  for (const ThresholdShape& shape : Subject<ThresholdFilter<TypeParam>>::shapes(1 << 20, 1)) {
    if (shape.threshold > 1000) continue;
    ThresholdFilter<TypeParam> filter(shape, 7);
    for (std::uint64_t times = 1; times <= shape.threshold + 2; ++times) {
      const bool reached = times >= shape.threshold;
      ASSERT_EQ(filter.insert("a"), reached ? ThresholdState::at_least : ThresholdState::below);
      ASSERT_EQ(filter.at_least("a"), reached);
    }
  }
}

TYPED_TEST(ThresholdFilterOf, ConservativeUpdateIsNeverAbovePlain) {
  this->for_each_empty([](auto filter) {
    if (filter.shape().update == CounterUpdate::plain) return;
    ThresholdShape shape = filter.shape();
    shape.update = CounterUpdate::plain;
    decltype(filter) plain(shape, 7);
    Random random(3);
    const auto keys = skewed_keys(random, threshold_universe, 400);
    Subject<decltype(filter)>::insert_batch(filter, keys);
    Subject<decltype(filter)>::insert_batch(plain, keys);
    for (std::uint64_t i = 0; i < shape.num_counters; ++i) {
      ASSERT_LE(filter.storage().get(i), plain.storage().get(i));
    }
  });
}

// Only the least counters of a key go up, and by one: its count goes up by one exactly.
TYPED_TEST(ThresholdFilterOf, AConservativeInsertionRaisesTheCountByExactlyOneAndNothingElse) {
  this->for_each_empty([](auto filter) {
    if (filter.shape().update == CounterUpdate::plain) return;
    Random random(4);
    for (const std::uint64_t key : skewed_keys(random, threshold_universe, 150)) {
      const Count before = filter.count(key);
      const auto storage = filter.storage();
      const Count after = filter.insert_and_count(key);
      ASSERT_EQ(after.value, before.saturated ? before.value : before.value + 1);
      for (std::uint64_t i = 0; i < storage.size(); ++i) {
        const std::uint64_t old = storage.get(i);
        ASSERT_TRUE(filter.storage().get(i) == old ||
                    (old == before.value && filter.storage().get(i) == old + 1));
      }
    }
  });
}

TYPED_TEST(ThresholdFilterOf, AMergeWithPlainUpdateEqualsInsertingBoth) {
  this->for_each_empty([](auto filter) {
    if (filter.shape().update != CounterUpdate::plain) return;
    Random random(5);
    const auto keys_a = skewed_keys(random, threshold_universe, 150);
    const auto keys_b = skewed_keys(random, threshold_universe, 150);
    auto other = filter;
    auto both = filter;
    Subject<decltype(filter)>::insert_batch(filter, keys_a);
    Subject<decltype(filter)>::insert_batch(other, keys_b);
    Subject<decltype(filter)>::insert_batch(both, keys_a);
    Subject<decltype(filter)>::insert_batch(both, keys_b);
    filter.merge(other);
    ASSERT_EQ(words_of(filter), words_of(both));
  });
}

TYPED_TEST(ThresholdFilterOf, AMergeIsNeverBelowTheSumOfBothCounts) {
  this->for_each_empty([](auto filter) {
    Random random(6);
    auto other = filter;
    Subject<decltype(filter)>::insert_batch(filter, skewed_keys(random, threshold_universe, 150));
    Subject<decltype(filter)>::insert_batch(other, skewed_keys(random, threshold_universe, 150));
    auto merged = filter;
    merged.merge(other);
    for (std::uint64_t key = 0; key < threshold_universe; ++key) {
      const std::uint64_t sum = filter.count(key).value + other.count(key).value;
      ASSERT_GE(merged.count(key).value, std::min(sum, merged.storage().max()));
    }
  });
}

}  // namespace
}  // namespace tally::test
