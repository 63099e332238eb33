// Laws of SpaceSaving and TopKeys beside an exact multiset, on streams of every kind.

#include "tally/sketches/top_keys.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "support/expect_refused.hpp"
#include "support/random.hpp"
#include "tally/sketches/space_saving.hpp"

namespace tally::test {
namespace {

// The same cases in every run, unless RC_PARAMS asks for others.
[[maybe_unused]] const int seed_is_fixed = setenv("RC_PARAMS", "seed=2026", 0);

struct Stream {
  std::vector<std::string> keys;
  std::vector<std::uint64_t> weights;

  void push(std::uint64_t key, std::uint64_t weight = 1) {
    keys.push_back('k' + std::to_string(key));
    weights.push_back(weight);
  }
};

using Exact = std::map<std::string, std::uint64_t>;

Exact count_exactly(const Stream& stream, std::size_t length) {
  Exact exact;
  for (std::size_t i = 0; i < length; ++i) exact[stream.keys[i]] += stream.weights[i];
  return exact;
}

Stream uniform(std::size_t length, std::uint64_t universe, std::uint64_t seed) {
  Random random(seed);
  Stream stream;
  for (std::size_t i = 0; i < length; ++i) stream.push(random.below(universe));
  return stream;
}

Stream zipf(std::size_t length, std::uint64_t universe, double exponent, std::uint64_t seed) {
  std::vector<double> sums;
  double sum = 0;
  for (std::uint64_t i = 1; i <= universe; ++i) {
    sums.push_back(sum += std::pow(static_cast<double>(i), -exponent));
  }
  Random random(seed);
  Stream stream;
  for (std::size_t i = 0; i < length; ++i) {
    const double at = static_cast<double>(random.next() >> 11) * 0x1p-53 * sum;
    stream.push(static_cast<std::uint64_t>(std::upper_bound(sums.begin(), sums.end(), at) - sums.begin()));
  }
  return stream;
}

/// What is frequent comes after everything else.
Stream heavy_last(std::uint64_t num_light, std::uint64_t num_heavy, std::uint64_t times) {
  Stream stream;
  for (std::uint64_t key = 0; key < num_light; ++key) stream.push(1000 + key);
  for (std::uint64_t round = 0; round < times; ++round) {
    for (std::uint64_t key = 0; key < num_heavy; ++key) stream.push(key);
  }
  return stream;
}

/// A key for a while, then the next; and again from the first.
Stream rotating(std::uint64_t universe, std::uint64_t times, int rounds) {
  Stream stream;
  for (int round = 0; round < rounds; ++round) {
    for (std::uint64_t key = 0; key < universe; ++key) {
      for (std::uint64_t i = 0; i < times; ++i) stream.push(key);
    }
  }
  return stream;
}

Stream weighted(Stream stream, std::uint64_t seed) {
  Random random(seed);
  for (std::uint64_t& weight : stream.weights) {
    weight = random.below(20) == 0 ? random.below(100'000) : random.below(30);
  }
  return stream;
}

std::vector<Stream> all_streams() {
  std::vector<Stream> streams{uniform(6000, 1000, 1),   zipf(6000, 3000, 0.8, 2), zipf(6000, 3000, 1.0, 3),
                              zipf(6000, 3000, 1.5, 4), heavy_last(4000, 20, 60), heavy_last(5000, 1, 300),
                              rotating(500, 3, 5),      rotating(40, 50, 2),      rotating(3000, 1, 2)};
  const std::size_t num_plain = streams.size();
  for (std::size_t i = 0; i < num_plain; ++i) streams.push_back(weighted(streams[i], i));
  return streams;
}

/// How the two are made.
struct MakeSpaceSaving {
  static SpaceSaving make(std::uint64_t capacity, std::uint64_t seed = 7) { return {capacity, seed}; }
};

template <std::uint64_t width, std::uint32_t bits, CounterUpdate update>
struct MakeTopKeys {
  static TopKeys<> make(std::uint64_t capacity, std::uint64_t seed = 7) {
    return {capacity, {width, 3, 1, bits, update}, seed};
  }
};

// Sketches that say nothing, that saturate, that are crowded, and that hardly err.
using Makers = testing::Types<
    MakeSpaceSaving, MakeTopKeys<1, 64, CounterUpdate::plain>, MakeTopKeys<50, 8, CounterUpdate::plain>,
    MakeTopKeys<200, 16, CounterUpdate::conservative>, MakeTopKeys<200, 64, CounterUpdate::plain>,
    MakeTopKeys<5000, 64, CounterUpdate::conservative>>;

template <class Make>
class HeavyHitters : public testing::Test {
 protected:
  using Sketch = decltype(Make::make(1));

  static void add(Sketch& sketch, const Stream& stream, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) sketch.add(stream.keys[i], stream.weights[i]);
  }

  static void expect_law(const Sketch& sketch, const Exact& exact) {
    std::uint64_t total = 0;
    for (const auto& [key, truth] : exact) total += truth;
    ASSERT_EQ(sketch.total_count(), total);
    ASSERT_LE(sketch.floor(), total / sketch.capacity());
    const CountedKeys& kept = sketch.candidates();
    ASSERT_LE(kept.size(), sketch.capacity());
    for (std::uint32_t i = 0; i < kept.size(); ++i) {
      const KeyCount key = kept.key_count(i);
      ASSERT_EQ(key.digest, sketch.hasher()(key.key));
      const auto truth = exact.find(std::string(key.key));
      ASSERT_NE(truth, exact.end());
      ASSERT_LE(key.error, key.count);
      ASSERT_LE(key.error, sketch.floor());
      ASSERT_LE(key.least(), truth->second) << key.key;
      ASSERT_GE(key.count, truth->second) << key.key;
    }
    for (const auto& [key, truth] : exact) {
      const KeyCount estimate = sketch.estimate(key);
      ASSERT_LE(estimate.least(), truth);
      ASSERT_GE(estimate.count, truth);
      if (kept.find(sketch.hasher()(key)) != CountedKeys::none) continue;
      ASSERT_LE(truth, sketch.floor()) << key;
      ASSERT_LE(truth, total / sketch.capacity()) << key;  // so what is above that is kept
    }
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
        ASSERT_NO_FATAL_FAILURE(this->expect_law(sketch, count_exactly(stream, end)))
            << "capacity " << capacity;
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
  Exact exact = count_exactly(stream, stream.keys.size());
  std::erase_if(exact, [](const auto& key) { return key.second == 0; });
  EXPECT_EQ(sketch.floor(), 0u);
  ASSERT_EQ(sketch.top(1000).size(), exact.size());
  for (const KeyCount& key : sketch.top(1000)) {
    EXPECT_EQ(key.count, exact.at(std::string(key.key)));
    EXPECT_EQ(key.error, 0u);
  }
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
  for (const char* key : {"a", "b", "c"}) sketch.add(key, 5);
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
  for (const char* key : {"a", "b", "c", "c"}) sketch.add(key);
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

SpaceSaving saving_of(const Stream& stream, std::uint64_t capacity) {
  SpaceSaving saving(capacity, 7);
  for (std::size_t i = 0; i < stream.keys.size(); ++i) saving.add(stream.keys[i], stream.weights[i]);
  return saving;
}

TEST(SpaceSavingMerge, TheLawHoldsForBothStreamsTogetherAndWhenItGoesOn) {
  const std::vector<Stream> streams = all_streams();
  for (std::size_t a = 0; a < streams.size(); a += 2) {
    for (std::size_t b = 1; b < streams.size(); b += 3) {
      for (const std::uint64_t capacity : {1, 10, 300, 5000}) {
        SpaceSaving merged = saving_of(streams[a], capacity);
        merged.merge(saving_of(streams[b], capacity));
        Stream both = streams[a];
        both.keys.insert(both.keys.end(), streams[b].keys.begin(), streams[b].keys.end());
        both.weights.insert(both.weights.end(), streams[b].weights.begin(), streams[b].weights.end());
        struct Law : HeavyHitters<MakeSpaceSaving> {
          using HeavyHitters<MakeSpaceSaving>::expect_law;
          void TestBody() override {}
        };
        ASSERT_NO_FATAL_FAILURE(Law::expect_law(merged, count_exactly(both, both.keys.size()))) << capacity;
        const Stream more = uniform(500, 2000, 9);
        for (const std::string& key : more.keys) {
          merged.add(key);
          both.push(0, 0);
          both.keys.back() = key;
          both.weights.back() = 1;
        }
        ASSERT_NO_FATAL_FAILURE(Law::expect_law(merged, count_exactly(both, both.keys.size()))) << capacity;
      }
    }
  }
}

TEST(SpaceSavingMerge, ARefusedMergeNamesTheFieldAndChangesNothing) {
  SpaceSaving saving(5, 7);
  saving.add("a");
  expect_refused([&] { saving.merge(SpaceSaving(6, 7)); }, {"SpaceSaving: cannot merge: capacity is 5 here"});
  expect_refused([&] { saving.merge(SpaceSaving(5, 8)); }, {"SpaceSaving: cannot merge: seed is"});
  EXPECT_EQ(saving.top(5).size(), 1u);
}

TEST(KeyCounts, AShareIsWhatIsAboveIt) {
  EXPECT_FALSE(is_above_share(10, 0.1, 100));
  EXPECT_TRUE(is_above_share(11, 0.1, 100));
  EXPECT_TRUE(is_above_share(1, 1e-9, 100));
  EXPECT_FALSE(is_above_share(0, 0.5, 0));
}

}  // namespace
}  // namespace tally::test
