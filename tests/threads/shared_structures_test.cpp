// Filters and sketches that threads use at the same time, against the same structure filled by one thread and against an
// exact count.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "campaign.hpp"
#include "expect_refused.hpp"
#include "tally/hashing/independent_schemes.hpp"
#include "tally/shared.hpp"
#include "threads.hpp"

namespace tally::test {
namespace {

template <class Scheme>
class SharedBloom : public testing::Test {
 public:
  static constexpr BloomShapeFor<Scheme> small{4096, 8};  // so few bits that threads meet in words
  static constexpr BloomShapeFor<Scheme> large{std::uint64_t{1} << 21, 8};
};
using BloomSchemes = testing::Types<CongruentialScheme, StandardScheme, PartitionedScheme, BlockedScheme,
                                    RegisterBlockedScheme>;
TYPED_TEST_SUITE(SharedBloom, BloomSchemes);

TYPED_TEST(SharedBloom, ThreadsLeaveTheFilterThatOneThreadDoes) {
  const std::vector<std::uint64_t> keys = random_keys(20'000, 10'000, 3);
  for (const auto& shape : {this->small, this->large}) {
    BloomFilter<TypeParam> expected(shape, 1);
    expected.insert_batch(keys);
    SharedBloomFilter<TypeParam> shared(shape, 1);
    batches_in_threads(4, keys, [&](std::size_t t, std::span<const std::uint64_t> batch) {
      std::array<bool, batch_size> results;
      const auto own = std::span(results).first(batch.size());
      if (t == 0) {
        shared.insert_batch(batch);
      } else if (t == 1) {
        shared.test_and_insert_batch(batch, own);
      } else {
        for (const std::uint64_t key : batch) shared.insert(key);
      }
      shared.may_contain_batch(batch, own);
      EXPECT_TRUE(std::ranges::all_of(own, std::identity()));
      for (const std::uint64_t key : batch) EXPECT_TRUE(shared.may_contain(key));
    });
    EXPECT_EQ(shared.num_insertions(), keys.size());
    EXPECT_EQ(shared.statistics().num_nonzero, expected.statistics().num_nonzero);
    EXPECT_EQ(std::move(shared).release(), expected);
  }
}

TYPED_TEST(SharedBloom, LargeBatchesBesideSingleKeysLoseNothing) {
  // Batches of this length take the whole filter for themselves if nobody else is there.
  constexpr std::size_t keys_per_thread = 9000;
  const std::vector<std::uint64_t> keys = random_keys(4 * keys_per_thread, 20'000, 8);
  for (const auto& shape : {this->small, this->large}) {
    BloomFilter<TypeParam> expected(shape, 1);
    expected.insert_batch(keys);
    SharedBloomFilter<TypeParam> shared(shape, 1);
    in_threads(4, [&](std::size_t t) {
      const auto own = std::span(keys).subspan(t * keys_per_thread, keys_per_thread);
      const auto results = std::make_unique<bool[]>(own.size());
      if (t == 0) {
        shared.insert_batch(own);
      } else if (t == 1) {
        shared.test_and_insert_batch(own, {results.get(), own.size()});
      } else {
        for (const std::uint64_t key : own) shared.insert(key);
      }
      shared.may_contain_batch(own, {results.get(), own.size()});
      EXPECT_TRUE(std::all_of(results.get(), results.get() + own.size(), std::identity()));
    });
    EXPECT_EQ(shared.num_insertions(), keys.size());
    EXPECT_EQ(std::move(shared).release(), expected);
  }
}

TYPED_TEST(SharedBloom, SomeInsertionOfANewKeyLearnsThatItIsNew) {
  constexpr std::uint64_t num_keys = 20'000;
  SharedBloomFilter<TypeParam> shared(this->large, 1);
  BloomFilter<TypeParam> alone(this->large, 1);
  std::vector<std::atomic<int>> num_new(num_keys);
  // All threads insert the same keys in the same order, so that they meet.
  in_threads(4, [&](std::size_t) {
    std::array<bool, batch_size> was_there;
    std::vector<std::uint64_t> batch(batch_size);
    for (std::uint64_t first = 0; first < num_keys; first += batch_size) {
      for (std::size_t i = 0; i < batch_size; ++i) batch[i] = first + i;
      shared.test_and_insert_batch(batch, was_there);
      for (std::size_t i = 0; i < batch_size; ++i) num_new[first + i] += !was_there[i];
    }
  });
  // Whichever keys come before it, a key has a bit of its own unless all other keys together have its bits.
  std::size_t num_missed = 0;
  for (std::uint64_t key = 0; key < num_keys; ++key) num_missed += num_new[key] == 0;
  std::size_t num_expected = 0;
  for (std::uint64_t key = 0; key < num_keys; ++key) num_expected += alone.test_and_insert(key);
  EXPECT_LE(num_missed, 2 * num_expected + 20);
  EXPECT_LT(num_expected, 100u);
}

TYPED_TEST(SharedBloom, ABatchAnswersAsItsKeysDoOneByOne) {
  const std::vector<std::uint64_t> keys = random_keys(3001, 2000, 5);
  SharedBloomFilter<TypeParam> single(this->small, 1);
  SharedBloomFilter<TypeParam> batched(this->small, 1);
  const auto results = std::make_unique<bool[]>(keys.size());
  batched.test_and_insert_batch(std::span(keys).first(700), {results.get(), 700});
  for (std::size_t i = 0; i < 700; ++i) ASSERT_EQ(results[i], single.test_and_insert(keys[i])) << i;
  batched.may_contain_batch(keys, {results.get(), keys.size()});
  for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(results[i], single.may_contain(keys[i])) << i;
  batched.clear();
  EXPECT_EQ(std::move(batched).release(), BloomFilter<TypeParam>(this->small, 1));
}

template <class Scheme>
class SharedCounting : public testing::Test {};
using CountingSchemes = testing::Types<CongruentialScheme, PartitionedScheme, BlockedScheme>;
TYPED_TEST_SUITE(SharedCounting, CountingSchemes);

template <class Scheme>
CountingBloomShapeFor<Scheme> counting_shape(std::uint64_t num_lines, std::uint32_t counter_bits) {
  const std::uint64_t per_line = CounterArray::positions_per_line(counter_bits);
  const auto space = PositionSpace{num_lines * per_line, 5, static_cast<std::uint32_t>(per_line)};
  return {Scheme::round_positions(space, Rounding::up), 5, counter_bits, 1};
}

TYPED_TEST(SharedCounting, ThreadsLeaveTheFilterThatOneThreadDoes) {
  // Counters that never saturate; the keys that are removed are those that the same thread has inserted before.
  const std::vector<std::uint64_t> keys = random_keys(20'000, 3000, 4);
  for (const std::uint32_t counter_bits : {7u, 8u, 16u}) {
    const auto shape = counting_shape<TypeParam>(4000, counter_bits);
    CountingBloomFilter<TypeParam> expected(shape, 1);
    SharedCountingBloomFilter<TypeParam> shared(shape, 1);
    expected.insert_batch(keys);
    batches_in_threads(4, keys, [&](std::size_t t, std::span<const std::uint64_t> batch) {
      if (t % 2 == 0) {
        EXPECT_EQ(shared.insert_batch(batch), 0u);
      } else {
        for (const std::uint64_t key : batch) EXPECT_EQ(shared.insert(key), InsertResult::counted);
      }
      const auto half = batch.first(batch.size() / 2);
      std::array<RemoveResult, batch_size> removed;
      if (t < 2) {
        shared.remove_batch(half, std::span(removed).first(half.size()));
      } else {
        for (std::size_t i = 0; i < half.size(); ++i) removed[i] = shared.remove(half[i]);
      }
      for (std::size_t i = 0; i < half.size(); ++i) EXPECT_EQ(removed[i], RemoveResult::removed);
      for (const std::uint64_t key : batch.subspan(half.size())) EXPECT_TRUE(shared.may_contain(key));
    });
    for (std::size_t first = 0; first < keys.size(); first += batch_size)
      for (std::size_t i = first; i < first + std::min(batch_size, keys.size() - first) / 2; ++i)
        (void)expected.remove(keys[i]);
    EXPECT_EQ(shared.statistics().num_removes, expected.totals().num_removes);
    EXPECT_EQ(std::move(shared).release(), expected);
  }
}

/// Fills each part of a filter in a thread of its own, and expects the filter that one thread fills.
template <class Filter>
void expect_parts_to_make(const Filter& expected, std::uint32_t num_parts,
                          const std::vector<std::uint64_t>& keys) {
  Filter filter(expected.shape(), expected.hasher());
  in_threads(num_parts, [&](std::size_t t) {
    const FilterPart own{static_cast<std::uint32_t>(t), num_parts};
    const std::size_t cut = 1000 * t + 1;  // batches may differ
    filter.insert_batch(std::span(keys).first(cut), own);
    filter.insert_batch(std::span(keys).subspan(cut), own);
  });
  EXPECT_TRUE(filter == expected) << num_parts << " parts";
}

TYPED_TEST(SharedBloom, ThreadsThatFillAPartEachLeaveTheFilterThatOneThreadDoes) {
  const std::vector<std::uint64_t> keys = random_keys(20'000, 10'000, 3);
  for (const auto& shape : {this->small, this->large}) {
    BloomFilter<TypeParam> expected(shape, 1);
    expected.insert_batch(keys);
    for (const std::uint32_t num_parts : {1u, 2u, 3u, 16u}) expect_parts_to_make(expected, num_parts, keys);
    BloomFilter<TypeParam> filter(shape, 1);
    expect_refused([&] { filter.insert_batch(keys, {2, 2}); }, {"FilterPart", "index is 2"});
    expect_refused([&] { filter.insert_batch(keys, {0, 0}); }, {"FilterPart", "num_parts is 0"});
    EXPECT_TRUE(filter == BloomFilter<TypeParam>(shape, 1)) << "after a refusal";
  }
}

TYPED_TEST(SharedCounting, ThreadsThatFillAPartEachLeaveTheFilterThatOneThreadDoes) {
  const std::vector<std::uint64_t> keys = random_keys(20'000, 3000, 4);
  for (const std::uint32_t counter_bits : {1u, 3u, 4u, 5u, 7u, 8u, 16u}) {
    for (const std::uint64_t num_lines : {3u, 1000u}) {  // counters that saturate; and that do not
      CountingBloomFilter<TypeParam> expected(counting_shape<TypeParam>(num_lines, counter_bits), 1);
      expected.insert_batch(keys);
      for (const std::uint32_t num_parts : {1u, 2u, 3u, 16u}) expect_parts_to_make(expected, num_parts, keys);
    }
  }
}

TYPED_TEST(SharedCounting, LargeBatchesBesideSingleKeysLoseNothing) {
  // Batches of this length take the whole filter for themselves if nobody else is there.
  constexpr std::size_t keys_per_thread = 6000;
  const std::vector<std::uint64_t> keys = random_keys(4 * keys_per_thread, 100'000, 9);
  for (const std::uint32_t counter_bits : {4u, 7u}) {
    const auto shape = counting_shape<TypeParam>(8000, counter_bits);
    CountingBloomFilter<TypeParam> expected(shape, 1);
    expected.insert_batch(keys);
    SharedCountingBloomFilter<TypeParam> shared(shape, 1);
    in_threads(4, [&](std::size_t t) {
      const auto own = std::span(keys).subspan(t * keys_per_thread, keys_per_thread);
      std::vector<RemoveResult> removed(own.size());
      for (int round = 0; round < 3; ++round) {
        const bool in_batches = t % 2 == 0;
        if (round > 0) {
          if (in_batches) shared.remove_batch(own, removed);
          for (std::size_t i = 0; i < own.size() && !in_batches; ++i) removed[i] = shared.remove(own[i]);
          EXPECT_EQ(std::ranges::count(removed, RemoveResult::removed), keys_per_thread);
        }
        if (in_batches) (void)shared.insert_batch(own);
        for (std::size_t i = 0; i < own.size() && !in_batches; ++i) (void)shared.insert(own[i]);
      }
      std::vector<Count> counts(own.size());
      shared.count_batch(own, counts);
      for (const Count count : counts) EXPECT_GE(count.value, 1u);
    });
    EXPECT_EQ(shared.totals().num_insertions, 3 * keys.size());
    EXPECT_EQ(shared.totals().num_removes, 2 * keys.size());
    EXPECT_EQ(std::move(shared).release().storage(), expected.storage());
  }
}

TYPED_TEST(SharedCounting, SaturatedCountersStayAndNoKeyIsLost) {
  const auto shape = counting_shape<TypeParam>(8, 4);
  SharedCountingBloomFilter<TypeParam> shared(shape, 1);
  const std::vector<std::uint64_t> kept = random_keys(500, 1'000'000, 7);
  (void)shared.insert_batch(kept);
  in_threads(4, [&](std::size_t t) {
    const std::vector<std::uint64_t> own = random_keys(5000, 1'000'000, 100 + t);
    (void)shared.insert_batch(own);
    std::vector<RemoveResult> removed(own.size());
    shared.remove_batch(own, removed);
    EXPECT_EQ(std::ranges::count(removed, RemoveResult::refused), 0);
  });
  std::vector<Count> counts(kept.size());
  shared.count_batch(kept, counts);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_GE(counts[i].value, 1u);
    EXPECT_EQ(counts[i], shared.count(kept[i]));
  }
  EXPECT_GT(std::move(shared).release().statistics().num_saturated, 0u);
}

TYPED_TEST(SharedCounting, ARemovalOfAnAbsentKeyIsRefusedAndNobodySeesIt) {
  // Keys that are always there, beside removals of keys that never were: at no moment is one missing. Counters of 4 bits have
  // kernels.
  for (const std::uint32_t counter_bits : {4u, 8u}) {
    const auto shape = counting_shape<TypeParam>(200, counter_bits);
    SharedCountingBloomFilter<TypeParam> shared(shape, 1);
    const std::vector<std::uint64_t> there = random_keys(1000, 1'000'000, 7);
    (void)shared.insert_batch(there);
    std::vector<std::uint64_t> absent;
    for (std::uint64_t key = 2'000'000; absent.size() < 1000; ++key)
      if (!shared.may_contain(key)) absent.push_back(key);
    in_threads(4, [&](std::size_t t) {
      for (int round = 0; round < 20; ++round) {
        if (t % 2 == 0) {
          std::vector<RemoveResult> removed(absent.size());
          shared.remove_batch(absent, removed);
          EXPECT_EQ(std::ranges::count(removed, RemoveResult::refused), 1000);
        } else {
          for (const std::uint64_t key : there) ASSERT_TRUE(shared.may_contain(key));
        }
      }
    });
    EXPECT_EQ(shared.totals().num_refused_removes, 40'000u);
    CountingBloomFilter<TypeParam> expected(shape, 1);
    expected.insert_batch(there);
    EXPECT_EQ(std::move(shared).release().storage(), expected.storage());
  }
}

/// Each thread inserts and removes keys of its own, and knows their exact counts; all meet in the counters.
template <class Filter, class Ask>
void expect_no_false_negative(Filter& filter, std::size_t num_threads, std::uint64_t num_operations,
                              Ask ask) {
  in_threads(num_threads, [&](std::size_t t) {
    constexpr std::uint64_t keys_per_thread = 2000;
    std::vector<std::uint32_t> exact(keys_per_thread);
    Random random(t);
    for (std::uint64_t i = 0; i < num_operations / num_threads; ++i) {
      const std::uint64_t own = random.below(keys_per_thread);
      ask(filter, own * num_threads + t, exact[own], random);
    }
  });
}

class SharedCampaign : public testing::TestWithParam<std::size_t> {};

template <class Scheme>
void expect_exact_campaign(std::size_t num_threads) {
  SharedCountingBloomFilter<Scheme> filter(counting_shape<Scheme>(400, 4), 1);
  expect_no_false_negative(filter, num_threads, campaign_operations() / 4,
                           [](auto& shared, std::uint64_t key, std::uint32_t& exact, Random& random) {
                             if (random.below(2) == 0 && exact < 10) {
                               ASSERT_LE(exact, shared.count(key).value);
                               (void)shared.insert(key);
                               ++exact;
                             } else if (exact > 0) {
                               ASSERT_NE(shared.remove(key), RemoveResult::refused);
                               --exact;
                             }
                             const Count count = shared.count(key);
                             ASSERT_TRUE(count.value >= exact || count.saturated);
                             ASSERT_TRUE(exact == 0 || shared.may_contain(key));
                           });
}

TEST_P(SharedCampaign, NoCountIsTooLowAndNoLegalRemovalRefused) {
  expect_exact_campaign<CongruentialScheme>(GetParam());
  expect_exact_campaign<BlockedScheme>(GetParam());
}

TEST_P(SharedCampaign, NoEstimateIsTooLow) {
  SharedCountMinSketch<> sketch({512, 4, 1, 32}, 1);
  expect_no_false_negative(sketch, GetParam(), campaign_operations() / 4,
                           [](auto& shared, std::uint64_t key, std::uint32_t& exact, Random&) {
                             (void)shared.add(key);
                             ++exact;
                             ASSERT_GE(shared.count(key).value, exact);
                           });
}

TEST_P(SharedCampaign, NewExactlyOnceOrAtLeastOnce) {
  // The words of a SharedDuplicateFilter tell at most one thread that a key is new, the bits of a Bloom filter at least
  // one. Both are so large that no key is taken for another.
  const std::uint64_t num_keys = std::min<std::uint64_t>(campaign_operations() / 16, 1'000'000);
  SharedDuplicateFilter duplicate({num_keys * 512, 10}, 1);
  SharedBloomFilter<> bloom(BloomShape{num_keys * 64, 8}, 1);
  std::vector<std::atomic<std::uint8_t>> new_in_words(num_keys);
  std::vector<std::atomic<std::uint8_t>> new_in_bits(num_keys);
  in_threads(GetParam(), [&](std::size_t) {
    for (std::uint64_t key = 0; key < num_keys; ++key) {
      new_in_words[key] += !duplicate.test_and_insert(key);
      new_in_bits[key] += !bloom.test_and_insert(key);
    }
  });
  std::uint64_t num_once = 0;
  for (std::uint64_t key = 0; key < num_keys; ++key) {
    ASSERT_LE(new_in_words[key], 1);
    ASSERT_GE(new_in_bits[key], 1);
    num_once += new_in_words[key];
  }
  EXPECT_GE(num_once, num_keys - num_keys / 1000);
}

INSTANTIATE_TEST_SUITE_P(Of, SharedCampaign, testing::Values(2, 4), testing::PrintToStringParamName());

template <class Rows>
class SharedCountMin : public testing::Test {};
using AllRows = testing::Types<CongruentialRows, IndependentRows, PairwiseRows, TwoHashRows>;
TYPED_TEST_SUITE(SharedCountMin, AllRows);

TYPED_TEST(SharedCountMin, ThreadsLeaveTheSketchThatOneThreadDoes) {
  const std::vector<std::uint64_t> keys = random_keys(20'000, 3000, 4);
  const std::uint64_t width = TypeParam::round_width(200, Rounding::up);
  for (const std::uint32_t counter_bits : {8u, 16u, 32u, 64u}) {
    const CountMinShape shape{width, 4, 1, counter_bits};
    CountMinSketch<TypeParam> expected(shape, 1);
    SharedCountMinSketch<TypeParam> shared(shape, 1);
    std::atomic<std::uint64_t> num_saturated = 0;
    batches_in_threads(4, keys, [&](std::size_t t, std::span<const std::uint64_t> batch) {
      std::vector<std::uint64_t> weights;
      for (const std::uint64_t key : batch) weights.push_back(key % 5);
      if (t == 0) {
        num_saturated += shared.add_batch(batch, weights);
      } else {
        for (std::size_t i = 0; i < batch.size(); ++i)
          num_saturated += shared.add(batch[i], weights[i]) == InsertResult::saturated;
      }
    });
    for (const std::uint64_t key : keys) (void)expected.add(key, key % 5);
    EXPECT_EQ(num_saturated > 0, counter_bits == 8);
    EXPECT_EQ(shared.total_count(), expected.total_count());
    std::vector<Count> counts(keys.size());
    shared.count_batch(keys, counts);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(counts[i], expected.count(keys[i]));
      ASSERT_EQ(counts[i], shared.count(keys[i]));
    }
    EXPECT_EQ(std::move(shared).release(), expected);
  }
}

TEST(SharedStructures, ATotalStaysAtItsMaximum) {
  SharedCountMinSketch<> sketch({64, 2, 1, 64}, 1);
  in_threads(4, [&](std::size_t t) { (void)sketch.add(t, ~std::uint64_t{0} / 3); });
  EXPECT_EQ(sketch.total_count(), ~std::uint64_t{0});
  (void)sketch.add(1, ~std::uint64_t{0});
  EXPECT_TRUE(sketch.count(1).saturated);
  sketch.clear();
  EXPECT_EQ(sketch.total_count() + sketch.count(1).value, 0u);
}

TEST(SharedStructures, RefuseShapesThatAreNoneByTheirNames) {
  expect_refused([] { SharedBloomFilter<> filter(BloomShape{0, 3}, 1); }, {"SharedBloomFilter", "num_bits"});
  expect_refused(
      [] {
        SharedCountingBloomFilter<> filter(CountingBloomShape{0, 3, 4, 1}, 1);
      },
      {"SharedCountingBloomFilter", "num_counters"});
  expect_refused(
      [] {
        SharedCountMinSketch<> sketch({64, 4, 1, 32, CounterUpdate::conservative}, 1);
      },
      {"SharedCountMinSketch", "update", "conservative", "plain"});
  SharedBloomFilter<> bloom(BloomShape{64, 3}, 1);
  expect_refused(
      [&] {
        bloom.test_and_insert_batch(std::vector<int>{1, 2}, {});
      },
      {"results", "one per key"});
  EXPECT_EQ(bloom.num_insertions(), 0u);
}

}  // namespace
}  // namespace tally::test
