// SpaceSaving and TopKeys merged, beside an exact multiset of all streams together.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "support/expect_refused.hpp"
#include "support/heavy_hitters.hpp"
#include "support/row_schemes.hpp"

namespace tally::test {
namespace {

/// Of a stream, some, as one of several machines got it.
struct Part {
  Stream stream;
  Exact exact;

  void push(const std::string& key, std::uint64_t weight) {
    stream.keys.push_back(key);
    stream.weights.push_back(weight);
    exact[key] += weight;
  }
};

/// Each line goes to one part at random, or, for `in_blocks`, the first ones to the first part and so on.
std::vector<Part> split(const Stream& stream, std::size_t num_parts, bool in_blocks, Random& random) {
  std::vector<Part> parts(num_parts);
  for (std::size_t i = 0; i < stream.keys.size(); ++i) {
    const std::size_t part = in_blocks ? i * num_parts / stream.keys.size() : random.below(num_parts);
    parts[part].push(stream.keys[i], stream.weights[i]);
  }
  return parts;
}

void add(Exact& exact, const Exact& other) {
  for (const auto& [key, count] : other) exact[key] += count;
}

template <class Sketch>
void add(Sketch& sketch, const Stream& stream) {
  for (std::size_t i = 0; i < stream.keys.size(); ++i) sketch.add(stream.keys[i], stream.weights[i]);
}

std::uint64_t held_by_sketch(const SpaceSaving&, Hash128) { return ~std::uint64_t{0}; }
std::uint64_t held_by_sketch(const TopKeys<>& top, Hash128 digest) {
  const Count count = top.sketch().count(digest);
  return count.saturated ? ~std::uint64_t{0} : count.value;
}

/// What makes the law hold for all that is added later, too.
template <class Sketch>
void expect_invariants(const Sketch& sketch, const Exact& exact) {
  const CountedKeys& kept = sketch.candidates();
  std::uint64_t sum = 0;
  for (const CountedKeys::Entry& entry : kept.entries()) {
    sum += entry.count;
    ASSERT_TRUE(!kept.is_full() || entry.count >= sketch.floor());
  }
  ASSERT_LE(sum, sketch.total_count());
  ASSERT_TRUE(kept.is_full() || sketch.floor() == 0);
  for (const auto& [key, truth] : exact) {
    const Hash128 digest = sketch.hasher()(key);
    const std::uint32_t i = kept.find(digest);
    const std::uint64_t exactly = i == CountedKeys::none ? 0 : kept[i].count - kept[i].error;
    ASSERT_GE(held_by_sketch(sketch, digest), truth - exactly) << key;
  }
}

template <class Make>
class MergedHeavyHitters : public testing::Test {
 protected:
  using Sketch = decltype(Make::make(1));

  /// Merges the parts in a random order and grouping.
  static Sketch merged(const std::vector<Part>& parts, std::uint64_t capacity, Random& random) {
    std::vector<Sketch> sketches;
    for (const Part& part : parts) {
      sketches.push_back(Make::make(capacity));
      add(sketches.back(), part.stream);
    }
    while (sketches.size() > 1) {
      const std::size_t from = random.below(sketches.size());
      std::swap(sketches[from], sketches.back());
      const Sketch other = std::move(sketches.back());
      sketches.pop_back();
      sketches[random.below(sketches.size())].merge(other);
    }
    return std::move(sketches[0]);
  }
};
TYPED_TEST_SUITE(MergedHeavyHitters, Makers);

TYPED_TEST(MergedHeavyHitters, TheLawHoldsForAllStreamsTogetherAndWhenItGoesOn) {
  Random random(11);
  std::uint64_t num_errors = 0;
  const std::vector<Stream> streams = all_streams();
  for (std::size_t i = 0; i < streams.size(); ++i) {
    for (const std::uint64_t capacity : {1, 2, 7, 50, 400, 5000}) {
      const std::size_t num_parts = 2 + random.below(7);
      const std::vector<Part> parts = split(streams[i], num_parts, random.below(2) == 0, random);
      Exact exact;
      for (const Part& part : parts) add(exact, part.exact);
      auto sketch = this->merged(parts, capacity, random);
      ASSERT_NO_FATAL_FAILURE(expect_law(sketch, exact)) << i << ", capacity " << capacity;
      ASSERT_NO_FATAL_FAILURE(expect_invariants(sketch, exact)) << i << ", capacity " << capacity;
      const Stream more = weighted(uniform(300, 3000, i), i);
      add(sketch, more);
      add(exact, count_exactly(more, more.keys.size()));
      ASSERT_NO_FATAL_FAILURE(expect_law(sketch, exact)) << i << ", capacity " << capacity;
      // And once more, with one that is far smaller.
      const std::vector<Part> last = split(zipf(200, 100, 1.0, i), 1, true, random);
      sketch.merge(this->merged(last, capacity, random));
      add(exact, last[0].exact);
      ASSERT_NO_FATAL_FAILURE(expect_law(sketch, exact)) << i << ", capacity " << capacity;
      ASSERT_NO_FATAL_FAILURE(expect_invariants(sketch, exact)) << i << ", capacity " << capacity;
      for (const KeyCount& key : sketch.top(capacity)) num_errors += key.error != 0;
    }
  }
  EXPECT_GT(num_errors, 1000u);  // else nothing was shown
}

TYPED_TEST(MergedHeavyHitters, TheLawHoldsForEveryOrderOfFourParts) {
  Random random(12);
  for (const Stream& stream : {zipf(2000, 700, 0.9, 1), weighted(rotating(300, 2, 3), 2)}) {
    const std::vector<Part> parts = split(stream, 4, true, random);
    Exact exact;
    for (const Part& part : parts) add(exact, part.exact);
    std::vector<std::size_t> order{0, 1, 2, 3};
    do {
      for (const std::uint64_t capacity : {3, 60}) {
        auto left = TypeParam::make(capacity);
        for (const std::size_t i : order) {
          auto own = TypeParam::make(capacity);
          add(own, parts[i].stream);
          left.merge(own);
        }
        ASSERT_NO_FATAL_FAILURE(expect_law(left, exact));
        ASSERT_NO_FATAL_FAILURE(expect_invariants(left, exact));
      }
    } while (std::ranges::next_permutation(order).found);
  }
}

/// Streams of few keys and small tables: the cases in which counts, floors and sketches are equal come often.
TYPED_TEST(MergedHeavyHitters, TheLawHoldsForManySmallStreams) {
  Random random(13);
  for (int round = 0; round < 3000; ++round) {
    const std::uint64_t capacity = random.between(1, 6);
    const std::uint64_t universe = random.between(1, 20);
    std::vector<Part> parts(random.between(2, 8));
    Exact exact;
    for (Part& part : parts) {
      for (std::uint64_t i = random.below(30); i > 0; --i)
        part.push('k' + std::to_string(random.below(universe)), random.below(round % 2 == 0 ? 2 : 50));
      add(exact, part.exact);
    }
    auto sketch = this->merged(parts, capacity, random);
    for (int i = 0; i < 20; ++i) {
      ASSERT_NO_FATAL_FAILURE(expect_law(sketch, exact)) << round;
      ASSERT_NO_FATAL_FAILURE(expect_invariants(sketch, exact)) << round;
      const std::string key = 'k' + std::to_string(random.below(2 * universe));
      sketch.add(key, 3);
      exact[key] += 3;
    }
  }
}

TYPED_TEST(MergedHeavyHitters, WhoseKeysAllFitAreMergedExactly) {
  Random random(14);
  const Stream stream = weighted(zipf(5000, 100, 1.0, 5), 5);
  const std::vector<Part> parts = split(stream, 5, false, random);
  const auto sketch = this->merged(parts, 100, random);
  test::expect_exact_counts(sketch, stream);
}

TYPED_TEST(MergedHeavyHitters, TheResultIsTheSameBothWaysRound) {
  Random random(15);
  for (int round = 0; round < 200; ++round) {
    auto a = TypeParam::make(6);
    auto b = TypeParam::make(6);
    add(a, uniform(random.below(60), 20, random.next()));
    add(b, uniform(random.below(60), 20, random.next()));
    auto other_way = b;
    other_way.merge(a);
    a.merge(b);
    ASSERT_EQ(a.top(6), other_way.top(6));
    ASSERT_EQ(a.floor(), other_way.floor());
    ASSERT_EQ(a.total_count(), other_way.total_count());
  }
}

TYPED_TEST(MergedHeavyHitters, AnEmptyOneChangesNothingAndItselfDoublesIt) {
  auto sketch = TypeParam::make(5);
  add(sketch, zipf(300, 40, 1.0, 3));
  const std::uint64_t floor = sketch.floor();
  const std::uint64_t total = sketch.total_count();
  auto before = sketch;
  sketch.merge(TypeParam::make(5));
  EXPECT_EQ(sketch.top(5), before.top(5));
  EXPECT_EQ(sketch.floor(), floor);
  auto empty = TypeParam::make(5);
  empty.merge(before);
  EXPECT_EQ(empty.top(5), before.top(5));
  sketch.merge(sketch);
  EXPECT_EQ(sketch.total_count(), 2 * total);
  EXPECT_EQ(sketch.floor(), 2 * floor);
  ASSERT_EQ(sketch.top(5).size(), before.top(5).size());
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(sketch.top(5)[i].count, 2 * before.top(5)[i].count);
}

TYPED_TEST(MergedHeavyHitters, SumsThatDoNotFitStayAtTheMaximum) {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  auto a = TypeParam::make(2);
  auto b = TypeParam::make(2);
  for (const std::string_view key : {"a", "b", "c"}) a.add(key, most / 2 + 10);
  for (const std::string_view key : {"c", "d", "e"}) b.add(key, most / 2 + 10);
  a.merge(b);
  EXPECT_EQ(a.total_count(), most);
  for (const KeyCount& key : a.top(2)) {
    EXPECT_LE(key.error, key.count);
    EXPECT_GE(key.count, most / 2 + 10);
  }
  a.add("z", most);
  EXPECT_EQ(a.total_count(), most);
}

TYPED_TEST(MergedHeavyHitters, ThatDifferAreRefusedByNameAndNothingHasChanged) {
  auto sketch = TypeParam::make(5);
  sketch.add("a");
  expect_refused([&] { sketch.merge(TypeParam::make(6)); }, {"cannot merge: capacity is 5 here and 6 there"});
  expect_refused([&] { sketch.merge(TypeParam::make(5, 8)); }, {"cannot merge: seed is 7 here and 8 there"});
  EXPECT_EQ(sketch.top(5).size(), 1u);
  EXPECT_EQ(sketch.total_count(), 1u);
}

TEST(TopKeysMerge, SketchesThatDifferAreRefusedByName) {
  const CountMinShape shape{100, 3, 1, 32, CounterUpdate::plain};
  TopKeys<> top(5, shape, 7);
  const auto refuses = [&](CountMinShape other, const char* message) {
    expect_refused([&] { top.merge(TopKeys<>(5, other, 7)); }, {message});
  };
  refuses({101, 3, 1, 32, CounterUpdate::plain}, "width is 100 here and 101 there");
  refuses({100, 4, 1, 32, CounterUpdate::plain}, "depth is 3 here and 4 there");
  refuses({100, 3, 1, 64, CounterUpdate::plain}, "counter_bits is 32 here and 64 there");
  refuses({100, 3, 1, 32, CounterUpdate::conservative}, "update is plain here and conservative there");
}

template <class Rows>
class TopKeysMergeOf : public testing::Test {};
TYPED_TEST_SUITE(TopKeysMergeOf, AllRowSchemes, RowSchemeNames);

TYPED_TEST(TopKeysMergeOf, TheLawHoldsForEveryRowScheme) {
  Random random(16);
  const Stream stream = zipf(4000, 1500, 0.9, 4);
  const std::vector<Part> parts = split(stream, 5, false, random);
  TopKeys<TypeParam> top(40, usable<TypeParam>({101, 3, 1, 32}), 7);
  const TopKeys<TypeParam> empty = top;
  for (const Part& part : parts) {
    TopKeys<TypeParam> own = empty;
    add(own, part.stream);
    top.merge(own);
  }
  expect_law(top, count_exactly(stream, stream.keys.size()));
}

TEST(TopKeysMerge, OnSkewedStreamsTheErrorsAreFarSmallerThanThoseOfSpaceSaving) {
  Random random(17);
  const std::vector<Part> parts = split(zipf(60'000, 20'000, 1.0, 8), 6, false, random);
  const auto sum_of_errors = [&](auto merged) {
    const auto empty = merged;
    for (const Part& part : parts) {
      auto own = empty;
      add(own, part.stream);
      merged.merge(own);
    }
    std::uint64_t sum = 0;
    for (const KeyCount& key : merged.top(200)) sum += key.error;
    return sum;
  };
  const TopKeys<> top(200, {1 << 14, 4, 1, 32, CounterUpdate::conservative}, 7);
  EXPECT_LT(sum_of_errors(top), sum_of_errors(SpaceSaving(200, 7)) / 4);
}

}  // namespace
}  // namespace tally::test
