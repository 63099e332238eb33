// What every structure has as a value: clear, equality, insertion of a range; and AND, where there is one.

#include <gtest/gtest.h>

#include <list>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "expect_refused.hpp"
#include "sample_filters.hpp"
#include "sample_sketches.hpp"
#include "tally/filters/shared_threshold.hpp"
#include "tally/serialization.hpp"
#include "tally/sets/hash_set.hpp"
#include "tally/sets/recent_keys.hpp"
#include "tally/sets/shared_entry_counts.hpp"
#include "tally/sets/shared_entry_set.hpp"

namespace tally {
namespace {

using test::describe;
using test::sample_shapes;

TEST(Values, AFilterIsEqualToItsCopyUntilOneOfTheTwoChanges) {
  for (const FilterShape& shape : sample_shapes()) {
    const AnyFilter filter = test::filled(shape);
    AnyFilter copy = filter;
    EXPECT_EQ(copy, filter) << describe(shape);
    (void)copy.insert("one more");
    EXPECT_FALSE(copy == filter) << describe(shape);
    EXPECT_FALSE(test::filled(shape, 43) == filter) << describe(shape) << ", another seed";
    EXPECT_FALSE(AnyFilter(shape, 42) == filter) << describe(shape) << ", empty";
  }
}

TEST(Values, AFilterThatIsClearedIsANewOne) {
  for (const FilterShape& shape : sample_shapes()) {
    AnyFilter filter = test::filled(shape);
    filter.clear();
    EXPECT_EQ(filter, AnyFilter(shape, 42)) << describe(shape);
    test::fill(filter);
    EXPECT_EQ(serialize(filter), serialize(test::filled(shape))) << describe(shape);
  }
}

TEST(Values, ADLeftFilterThatGrewStaysLargeWhenItIsCleared) {
  DLeftCountingBloomFilter filter({.buckets_per_subtable = 10, .least_remainder_bits = 12}, 42);
  ASSERT_TRUE(filter.try_grow());
  ASSERT_EQ(filter.insert("apple"), InsertResult::counted);
  filter.clear();
  EXPECT_EQ(filter.shape().num_doublings, 1u);
  EXPECT_FALSE(filter.may_contain("apple"));
  EXPECT_EQ(filter.statistics().table.num_fingerprints, 0u);
}

TEST(Values, ASketchIsEqualToItsCopyUntilItChangesAndEmptyWhenItIsCleared) {
  const auto holds = [](auto sketch, const auto& empty) {
    auto copy = sketch;
    EXPECT_EQ(copy, sketch);
    copy.add("one more");
    EXPECT_FALSE(copy == sketch);
    sketch.clear();
    EXPECT_EQ(sketch, empty);
  };
  holds(test::sample_space_saving(20), SpaceSaving(20, 42));
  holds(test::sample_top_keys(20),
        TopKeys<>(20, test::sample_sketch_shape<DefaultRows>(32, CounterUpdate::conservative), 42));
  holds(test::sample_window(),
        CountMinWindow<>(test::sample_sketch_shape<DefaultRows>(16, CounterUpdate::plain), 42));
}

TEST(Values, SetsOfDigestsAreEmptyWhenTheyAreCleared) {
  HashSet set;
  RecentKeys recent(64);
  SharedEntrySet entries(1 << 20);
  SharedEntryCounts counts(1 << 20);
  for (std::uint64_t i = 1; i < 100; ++i) {
    EXPECT_EQ(set.insert(hash_key(i, 1)), HashSet::Outcome::inserted);
    EXPECT_TRUE(recent.insert(hash_key(i, 1)));
    EXPECT_EQ(entries.insert(i), SharedEntrySet::Outcome::inserted);
    EXPECT_EQ(counts.insert(i, 5), SharedEntryCounts::Outcome::inserted);
  }
  set.clear();
  recent.clear();
  counts.clear();
  entries.clear();
  EXPECT_EQ(set.size() + entries.size() + counts.size() + recent.num_forgotten(), 0u);
  EXPECT_FALSE(set.contains(hash_key(99, 1)));
  EXPECT_TRUE(recent.insert(hash_key(99, 1)));
  EXPECT_EQ(entries.insert(99), SharedEntrySet::Outcome::inserted);
  EXPECT_EQ(counts.insert(99, 1), SharedEntryCounts::Outcome::inserted);

  SharedThresholdFilter shared({.num_counters = 1000, .num_hashes = 3, .threshold = 2}, 42);
  shared.insert_batch(std::vector<int>{1, 1, 2});
  shared.clear();
  EXPECT_EQ(std::move(shared).release(),
            ThresholdFilter<>({.num_counters = 1000, .num_hashes = 3, .threshold = 2}, 42));
}

/// The keys as a range of each sort: one that batches take as it is, and two that they do not.
template <class Filter, class Insert>
void expect_the_same_of_every_range(const Filter& empty, Insert insert) {
  std::vector<std::string> contiguous;
  for (int i = 0; i < 1000; ++i) contiguous.push_back("key " + std::to_string(i));
  const std::set<std::string> sorted(contiguous.begin(), contiguous.end());
  const std::vector<std::string> in_order(sorted.begin(), sorted.end());
  Filter expected = empty;
  insert(expected, in_order);
  Filter from_set = empty;
  insert(from_set, sorted);
  EXPECT_EQ(from_set, expected);
  Filter from_list = empty;
  insert(from_list, std::list<std::string>(in_order.begin(), in_order.end()));
  EXPECT_EQ(from_list, expected);
  Filter from_nothing = empty;
  insert(from_nothing, std::set<std::string>{});
  EXPECT_EQ(from_nothing, empty);
}

TEST(Values, ARangeIsInsertedAsItsKeysAre) {
  expect_the_same_of_every_range(BloomFilter<>({10'000, 3}, 42),
                                 [](auto& filter, const auto& keys) { filter.insert_range(keys); });
  expect_the_same_of_every_range(
      CountingBloomFilter<>({.num_counters = 10'000, .num_hashes = 3}, 42),
      [](auto& filter, const auto& keys) { EXPECT_EQ(filter.insert_range(keys), 0u); });
  expect_the_same_of_every_range(
      ThresholdFilter<>({.num_counters = 90'000, .num_hashes = 3, .threshold = 2}, 42),
      [](auto& filter, const auto& keys) {
        filter.insert_range(keys);
        EXPECT_EQ(filter.insert_range(keys), keys.size());
      });
  expect_the_same_of_every_range(
      DLeftCountingBloomFilter<>({.buckets_per_subtable = 60}, 42),
      [](auto& filter, const auto& keys) { EXPECT_EQ(filter.insert_range(keys), 0u); });
  expect_the_same_of_every_range(
      CountMinSketch<>({.width = 1000, .depth = 3}, 42),
      [](auto& sketch, const auto& keys) { EXPECT_EQ(sketch.add_range(keys), 0u); });
}

TEST(Values, ARangeThatDoesNotFitSaysHowManyKeysWereRefused) {
  DLeftCountingBloomFilter<> filter({.buckets_per_subtable = 2, .num_subtables = 2, .cells_per_bucket = 8},
                                    42);
  std::set<int> keys;
  for (int i = 0; i < 100; ++i) keys.insert(i);
  const std::uint64_t num_refused = filter.insert_range(keys);
  EXPECT_EQ(num_refused, 100 - filter.statistics().table.num_keys);
  EXPECT_GE(num_refused, 68u);
}

TEST(Values, TheAndOfTwoFiltersContainsWhatBothContain) {
  const auto holds = [](auto a, auto b) {
    for (int i = 0; i < 600; ++i) a.insert(i);
    for (int i = 300; i < 900; ++i) b.insert(i);
    b.insert(1);
    auto both = a;
    both.intersect(b);
    EXPECT_EQ(both.num_insertions(), 600u);
    EXPECT_TRUE(both.may_contain(1));
    for (int i = 300; i < 600; ++i) ASSERT_TRUE(both.may_contain(i));
    for (int i = 0; i < 5000; ++i) {
      const bool in_each = a.may_contain(i) && b.may_contain(i);
      ASSERT_EQ(both.may_contain(i), in_each) << i;
    }
  };
  holds(BloomFilter<>({20'000, 5}, 42), BloomFilter<>({20'000, 5}, 42));
  holds(BlockedBloomFilter({512 * 40, 5}, 42), BlockedBloomFilter({512 * 40, 5}, 42));
  holds(RegisterBlockedBloomFilter({512 * 40, 8}, 42), RegisterBlockedBloomFilter({512 * 40, 8}, 42));
}

TEST(Values, AnAndThatHasNoMeaningIsRefused) {
  BloomFilter<> bloom({1000, 3}, 42);
  test::expect_refused(
      [&] {
        bloom.intersect(BloomFilter<>({1000, 3}, 43));
      },
      {"seed is 42 here and 43 there"});
  test::expect_refused([&] { bloom.intersect(BloomFilter<>({1001, 3}, 42)); }, {"num_bits is 1000 here"});
  AnyFilter counting({CountingBloomShape{1000, 3}}, 42);
  test::expect_refused(
      [&] { counting.intersect(counting); },
      {"intersect: a counting-bloom filter does not support this; use a bloom or blocked-bloom"});
  test::expect_refused(
      [&] {
        AnyFilter({ThresholdShape{1000, 3, 2, CounterUpdate::plain}}, 42).insert_batch({}, FilterPart{0, 1});
      },
      {"insert in parts"});
  AnyFilter any({BloomShape{1000, 3}}, 42);
  AnyFilter other = any;
  EXPECT_EQ(any.insert("a"), InsertResult::counted);
  EXPECT_EQ(any.insert("b"), InsertResult::counted);
  EXPECT_EQ(other.insert("b"), InsertResult::counted);
  any.intersect(other);
  EXPECT_TRUE(any.may_contain("b"));
  EXPECT_FALSE(any.may_contain("a"));
}

}  // namespace
}  // namespace tally
