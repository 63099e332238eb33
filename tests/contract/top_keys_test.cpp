// Laws of SpaceSaving and TopKeys beside an exact multiset, on streams of every kind.

#include "tally/sketches/top_keys.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "support/expect_refused.hpp"
#include "support/heavy_hitters.hpp"
#include "tally/sketches/space_saving.hpp"

namespace tally::test {
namespace {

// The same cases in every run, unless RC_PARAMS asks for others.
[[maybe_unused]] const int seed_is_fixed = setenv("RC_PARAMS", "seed=2026", 0);

template <class Make>
class HeavyHitters : public testing::Test {
 protected:
  using Sketch = decltype(Make::make(1));

  static void add(Sketch& sketch, const Stream& stream, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) sketch.add(stream.keys[i], stream.weights[i]);
  }
};
TYPED_TEST_SUITE(HeavyHitters, Makers);

TYPED_TEST(HeavyHitters, EveryBoundHoldsOnEveryStreamAllAlong) {
  std::uint64_t num_errors = 0;
  for (const Stream& stream : all_streams()) {
    for (const std::uint64_t capacity : {1, 7, 50, 400}) {
      auto sketch = TypeParam::make(capacity);
      const std::size_t length = stream.keys.size();
      for (const std::size_t end : {length / 3, length / 3 * 2, length}) {
        this->add(sketch, stream, end == length / 3 ? 0 : (end == length ? length / 3 * 2 : length / 3), end);
        ASSERT_NO_FATAL_FAILURE(expect_law(sketch, count_exactly(stream, end))) << "capacity " << capacity;
      }
      for (const KeyCount& key : sketch.top(capacity)) num_errors += key.error != 0;
    }
  }
  EXPECT_GT(num_errors, 100u);  // else nothing was shown
}

TYPED_TEST(HeavyHitters, BelowItsCapacityItCountsExactly) {
  const Stream stream = weighted(zipf(5000, 100, 1.0, 5), 5);
  auto sketch = TypeParam::make(100);
  this->add(sketch, stream, 0, stream.keys.size());
  test::expect_exact_counts(sketch, stream);
}

TYPED_TEST(HeavyHitters, BatchesChangeItLikeOneByOne) {
  for (const Stream& stream : {zipf(3000, 2000, 1.0, 6), weighted(uniform(3000, 500, 7), 7)}) {
    auto single = TypeParam::make(60);
    auto batched = TypeParam::make(60);
    this->add(single, stream, 0, stream.keys.size());
    const std::vector<std::string_view> keys(stream.keys.begin(), stream.keys.end());
    std::vector<Hash128> digests;
    for (const std::string_view key : keys) digests.push_back(single.hasher()(key));
    for (std::size_t first = 0; first < keys.size(); first += 1000) {
      const auto part = [&](const auto& all) { return std::span(all).subspan(first, 1000); };
      batched.add_batch(part(keys), part(digests), part(stream.weights));
    }
    EXPECT_EQ(batched.top(60), single.top(60));
    EXPECT_EQ(batched.floor(), single.floor());
    EXPECT_EQ(batched.total_count(), single.total_count());
    auto weightless = TypeParam::make(60);
    auto of_weight_one = TypeParam::make(60);
    weightless.add_batch(keys, digests);
    for (const std::string_view key : keys) of_weight_one.add(key);
    EXPECT_EQ(weightless.top(60), of_weight_one.top(60));
  }
}

TYPED_TEST(HeavyHitters, AWeightOfZeroChangesNothing) {
  auto sketch = TypeParam::make(2);
  sketch.add("a", 0);
  EXPECT_TRUE(sketch.top(2).empty());
  for (const std::string_view key : {"a", "b", "c"}) sketch.add(key, 5);
  const std::uint64_t floor = sketch.floor();
  sketch.add("d", 0);
  EXPECT_EQ(sketch.floor(), floor);
  EXPECT_EQ(sketch.total_count(), 15u);
}

TYPED_TEST(HeavyHitters, TheEmptyKeyAndBinaryKeysAreKeys) {
  using namespace std::string_literals;
  auto sketch = TypeParam::make(3);
  for (const std::string& key : {""s, "\0x"s, ""s}) sketch.add(key);
  const auto top = sketch.top(3);
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[0].key, "");
  EXPECT_EQ(top[0].count, 2u);
  EXPECT_EQ(top[1].key, "\0x"s);
}

TYPED_TEST(HeavyHitters, ClearMakesItAsNew) {
  auto sketch = TypeParam::make(2);
  for (const std::string_view key : {"a", "b", "c", "c"}) sketch.add(key);
  EXPECT_GT(sketch.floor(), 0u);
  sketch.clear();
  EXPECT_TRUE(sketch.top(2).empty());
  EXPECT_EQ(sketch.floor(), 0u);
  EXPECT_EQ(sketch.total_count(), 0u);
  EXPECT_EQ(sketch.estimate("c").count, 0u);
}

TYPED_TEST(HeavyHitters, ACapacityOutOfRangeIsRefused) {
  expect_refused([] { (void)TypeParam::make(0); }, {"capacity is 0; must be 1 to 1073741824"});
}

RC_GTEST_PROP(HeavyHittersProperty, BoundsHoldForAnyStream,
              (const std::vector<std::pair<std::uint8_t, std::uint8_t>>& stream)) {
  const auto capacity = *rc::gen::inRange<std::uint64_t>(1, 8);
  SpaceSaving saving(capacity, 3);
  TopKeys<> top(capacity, {*rc::gen::inRange<std::uint64_t>(1, 6), 2, 1, 8}, 3);
  std::map<std::string, std::uint64_t> exact;
  std::uint64_t total = 0;
  for (const auto& [byte, weight] : stream) {
    const std::string key(1, static_cast<char>(byte % 16));
    saving.add(key, weight);
    top.add(key, weight);
    exact[key] += weight;
    total += weight;
  }
  RC_ASSERT(saving.floor() <= total / capacity);
  RC_ASSERT(top.floor() <= total / capacity);
  for (const auto& [key, truth] : exact) {
    for (const KeyCount& found : {saving.estimate(key), top.estimate(key)}) {
      RC_ASSERT(found.least() <= truth);
      RC_ASSERT(truth <= found.count);
    }
    if (truth <= total / capacity) continue;
    RC_ASSERT(saving.candidates().find(saving.hasher()(key)) != CountedKeys::none);
    RC_ASSERT(top.candidates().find(top.hasher()(key)) != CountedKeys::none);
  }
}

TEST(TopKeys, OnASkewedStreamTheSketchMakesErrorsFarSmallerThanSpaceSaving) {
  for (const double exponent : {0.8, 1.0, 1.2}) {
    const Stream stream = zipf(60'000, 20'000, exponent, 8);
    SpaceSaving saving(200, 7);
    TopKeys<> top(200, {1 << 14, 4, 1, 32, CounterUpdate::conservative}, 7);
    for (const std::string& key : stream.keys) {
      saving.add(key);
      top.add(key);
    }
    EXPECT_LT(top.floor(), saving.floor() / 2) << exponent;
    const auto sum_of_errors = [](const std::vector<KeyCount>& keys) {
      std::uint64_t sum = 0;
      for (const KeyCount& key : keys) sum += key.error;
      return sum;
    };
    EXPECT_LT(sum_of_errors(top.top(200)), sum_of_errors(saving.top(200)) / 4) << exponent;
  }
}

TEST(TopKeys, TheLeastIsWhatANewCandidateReplaces) {
  TopKeys<> top(20, {64, 3, 1, 32}, 9);
  TopKeys<> unasked(20, {64, 3, 1, 32}, 9);
  std::uint64_t num_replaced = 0;
  for (const std::string& key : zipf(20'000, 500, 1.0, 10).keys) {
    const auto is_candidate = [&](std::string_view name) {
      return top.candidates().find(top.hasher()(name)) != CountedKeys::none;
    };
    const bool can_replace = top.candidates().is_full() && !is_candidate(key);
    const KeyCount least = can_replace ? top.least() : KeyCount{};
    const std::string name(least.key);
    if (can_replace) {
      ASSERT_TRUE(is_candidate(name));
      ASSERT_EQ(least.count, top.top(20).back().count);
    }
    top.add(key);
    unasked.add(key);
    if (!can_replace) continue;
    ASSERT_NE(is_candidate(key), is_candidate(name)) << key << " and " << name;
    num_replaced += is_candidate(key) ? 1 : 0;
  }
  EXPECT_GT(num_replaced, 100u);
  EXPECT_EQ(top, unasked);
}

TEST(KeyCounts, AShareIsWhatIsAboveIt) {
  EXPECT_FALSE(is_above_share(10, 0.1, 100));
  EXPECT_TRUE(is_above_share(11, 0.1, 100));
  EXPECT_TRUE(is_above_share(1, 1e-9, 100));
  EXPECT_FALSE(is_above_share(0, 0.5, 0));
}

}  // namespace
}  // namespace tally::test
