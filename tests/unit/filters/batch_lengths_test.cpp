// A batch whose results, or weights, are not as many as its keys is refused and changes nothing.

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tally/filters/bloom.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/filters/threshold.hpp"
#include "tally/planner/plan_dleft.hpp"
#include "tally/shared.hpp"
#include "tally/sketches/count_min_window.hpp"
#include "tally/sketches/space_saving.hpp"
#include "tally/sketches/top_keys.hpp"

namespace {

using namespace tally;

const std::vector<std::uint64_t> keys{1, 2, 3};

/// What a batch does with a span of this many results, or weights.
using Batch = std::function<void(std::size_t)>;

template <class Result>
std::span<Result> results_of(std::size_t size) {
  static Result results[8];
  return {results, size};
}

std::span<const std::uint64_t> weights_of(std::size_t size) {
  static const std::uint64_t weights[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  return {weights, size};
}

void expect_one_per_key(const std::string& name, const Batch& batch) {
  for (const std::size_t size : {0, 2, 4}) {
    try {
      batch(size);
      ADD_FAILURE() << name << " takes " << size << " for 3 keys";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(" is " + std::to_string(size) + "; must be 3, one per key"),
                std::string::npos)
          << name << ": " << error.what();
    }
  }
  EXPECT_NO_THROW(batch(3)) << name;
}

TEST(ABatch, HasOneResultPerKey) {
  BloomFilter<> bloom({512, 3}, 1);
  expect_one_per_key("bloom", [&](auto n) { bloom.may_contain_batch(keys, results_of<bool>(n)); });
  BlockedBloomFilter blocked({512, 3}, 1);
  expect_one_per_key("blocked", [&](auto n) { blocked.may_contain_batch(keys, results_of<bool>(n)); });

  CountingBloomFilter<> counting({512, 3, 4, 2}, 1);
  expect_one_per_key("remove", [&](auto n) { counting.remove_batch(keys, results_of<RemoveResult>(n)); });
  expect_one_per_key("contains", [&](auto n) { counting.may_contain_batch(keys, results_of<bool>(n)); });
  expect_one_per_key("at least", [&](auto n) { counting.at_least_batch(keys, 2, results_of<bool>(n)); });
  expect_one_per_key("count", [&](auto n) { counting.count_batch(keys, results_of<Count>(n)); });

  ThresholdFilter<> threshold({512, 3, 2}, 1);
  expect_one_per_key("states", [&](auto n) { threshold.insert_batch(keys, results_of<ThresholdState>(n)); });
  expect_one_per_key("insert and count",
                     [&](auto n) { threshold.insert_and_count_batch(keys, results_of<Count>(n)); });
  expect_one_per_key("threshold", [&](auto n) { threshold.at_least_batch(keys, results_of<bool>(n)); });
  expect_one_per_key("threshold count", [&](auto n) { threshold.count_batch(keys, results_of<Count>(n)); });

  SharedThresholdFilter<> shared_threshold({512, 3, 2}, 1);
  expect_one_per_key("shared threshold",
                     [&](auto n) { shared_threshold.insert_and_count_batch(keys, results_of<Count>(n)); });
  SharedDuplicateFilter duplicate({512, 3}, 1);
  expect_one_per_key("insert twice",
                     [&](auto n) { duplicate.test_and_insert_batch(keys, results_of<bool>(n)); });
  expect_one_per_key("twice", [&](auto n) { duplicate.may_contain_batch(keys, results_of<bool>(n)); });
  SharedBloomFilter<BlockedScheme> shared({512, 3}, 1);
  expect_one_per_key("shared insert",
                     [&](auto n) { shared.test_and_insert_batch(keys, results_of<bool>(n)); });
  expect_one_per_key("shared", [&](auto n) { shared.may_contain_batch(keys, results_of<bool>(n)); });
  EXPECT_EQ(shared.num_insertions(), 3u);
  SharedCountingBloomFilter<> shared_counting({512, 3, 4, 2}, 1);
  expect_one_per_key("shared remove",
                     [&](auto n) { shared_counting.remove_batch(keys, results_of<RemoveResult>(n)); });
  expect_one_per_key("shared contains",
                     [&](auto n) { shared_counting.may_contain_batch(keys, results_of<bool>(n)); });
  expect_one_per_key("shared count",
                     [&](auto n) { shared_counting.count_batch(keys, results_of<Count>(n)); });
  EXPECT_EQ(shared_counting.totals().num_refused_removes, 3u);

  DLeftCountingBloomFilter<> dleft(plan_dleft({.num_keys = 1000, .false_positive_rate = 0.001}), 1);
  expect_one_per_key("d-left insert", [&](auto n) { dleft.insert_batch(keys, results_of<InsertResult>(n)); });
  expect_one_per_key("d-left remove", [&](auto n) { dleft.remove_batch(keys, results_of<RemoveResult>(n)); });
  expect_one_per_key("d-left contains", [&](auto n) { dleft.may_contain_batch(keys, results_of<bool>(n)); });
  expect_one_per_key("d-left count", [&](auto n) { dleft.count_batch(keys, results_of<Count>(n)); });
  EXPECT_EQ(dleft.count(1).value, 0u);
}

TEST(ABatchOfASketch, HasOneWeightOrResultPerKey) {
  const CountMinShape shape{64, 2, 1, 64};
  CountMinSketch<> sketch(shape, 1);
  expect_one_per_key("add", [&](auto n) { sketch.add_batch(keys, weights_of(n)); });
  expect_one_per_key("count", [&](auto n) { sketch.count_batch(keys, results_of<Count>(n)); });
  expect_one_per_key("estimate", [&](auto n) { sketch.estimate_batch(keys, results_of<CountEstimate>(n)); });
  EXPECT_EQ(sketch.total_count(), 3u);
  SharedCountMinSketch<> shared(shape, 1);
  expect_one_per_key("shared add", [&](auto n) { shared.add_batch(keys, weights_of(n)); });
  expect_one_per_key("shared sketch", [&](auto n) { shared.count_batch(keys, results_of<Count>(n)); });
  EXPECT_EQ(shared.total_count(), 3u);
  CountMinWindow<> window(shape, 1);
  expect_one_per_key("window add", [&](auto n) { window.add_batch(keys, weights_of(n)); });
  expect_one_per_key("window", [&](auto n) { window.estimate_batch(keys, results_of<CountEstimate>(n)); });

  const std::vector<std::string_view> texts{"a", "b", "c"};
  const std::vector<Hash128> digests{hash_key("a", 1), hash_key("b", 1), hash_key("c", 1), hash_key("d", 1)};
  const auto digests_of = [&](std::size_t n) { return std::span(digests).first(n); };
  SpaceSaving saving(10, 1);
  expect_one_per_key("space-saving digests", [&](auto n) { saving.add_batch(texts, digests_of(n)); });
  TopKeys<> top(10, shape, 1);
  expect_one_per_key("top keys digests", [&](auto n) { top.add_batch(texts, digests_of(n)); });
  for (const std::size_t size : {1, 2, 4}) {
    EXPECT_THROW(saving.add_batch(texts, digests_of(3), weights_of(size)), std::invalid_argument);
    EXPECT_THROW(top.add_batch(texts, digests_of(3), weights_of(size)), std::invalid_argument);
  }
  EXPECT_EQ(saving.total_count(), 3u);
  EXPECT_EQ(top.total_count(), 3u);
}

#ifndef NDEBUG
template <class Filter>
void expect_death_by_bad_digests(Filter& filter) {
  std::vector<Hash128> zero, twice, good;
  for (std::uint64_t i = 0; i < 10; ++i) {
    const Hash128 digest = hash_key(i, 1);
    good.push_back(digest);
    zero.push_back({digest.low, 0});
    twice.push_back({digest.low, digest.low});
  }
  filter.add_or_insert(good);
  EXPECT_DEATH(filter.add_or_insert(zero), "digest_from");
  EXPECT_DEATH(filter.add_or_insert(twice), "digest_from");
  filter.add_or_insert(std::vector<Hash128>(10, good[0]));  // one key ten times
}

template <class Filter>
struct Inserting {
  Filter filter;
  void add_or_insert(const std::vector<Hash128>& digests) {
    if constexpr (requires { filter.add_batch(digests); }) {
      filter.add_batch(digests);
    } else if constexpr (requires { filter.insert_batch(digests); }) {
      filter.insert_batch(digests);
    } else {
      std::vector<InsertResult> results(digests.size());
      filter.insert_batch(digests, results);
    }
  }
};

TEST(ABatchOfDigests, StopsAProgramWithAssertionsIfAHalfIsConstantOrBothAreEqual) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  Inserting<BloomFilter<>> bloom{{BloomShape{512, 3}, 1}};
  expect_death_by_bad_digests(bloom);
  Inserting<BlockedBloomFilter> blocked{{BlockedBloomShape{512, 3}, 1}};
  expect_death_by_bad_digests(blocked);
  Inserting<DLeftCountingBloomFilter<>> dleft{
      {plan_dleft({.num_keys = 1000, .false_positive_rate = 0.001}), 1}};
  expect_death_by_bad_digests(dleft);
  Inserting<CountMinSketch<>> sketch{{CountMinShape{64, 2, 1, 64}, 1}};
  expect_death_by_bad_digests(sketch);
}
#endif

}  // namespace
