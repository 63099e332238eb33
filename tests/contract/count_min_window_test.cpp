#include "tally/sketches/count_min_window.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/exact_multiset.hpp"
#include "support/expect_refused.hpp"
#include "support/random.hpp"
#include "support/row_schemes.hpp"

namespace tally::test {
namespace {

template <class Rows>
class CountMinWindowOf : public testing::Test {};
TYPED_TEST_SUITE(CountMinWindowOf, AllRowSchemes, RowSchemeNames);

TYPED_TEST(CountMinWindowOf, TheEstimateIsOfTheTwoLastGenerations) {
  CountMinWindow<TypeParam> window(usable<TypeParam>({10'000, 4, 1, 32}), 7);
  window.add("apple", 10);
  window.advance();
  window.add("apple", 200);
  EXPECT_EQ(window.estimate("apple").value, 210u);
  EXPECT_EQ(window.total_count(), 210u);
  window.advance();
  EXPECT_EQ(window.estimate("apple").value, 200u);
  window.add("apple", 3000);
  EXPECT_EQ(window.estimate("apple").value, 3200u);
  window.advance();
  window.advance();
  EXPECT_EQ(window.estimate("apple").upper, 0u);
  EXPECT_EQ(window.total_count(), 0u);
}

TYPED_TEST(CountMinWindowOf, NoEstimateIsBelowTheTruthOfTheWindow) {
  constexpr std::uint64_t universe = 100;
  for (const CounterUpdate update : {CounterUpdate::plain, CounterUpdate::conservative}) {
    for (const std::uint32_t bits : {8u, 32u}) {
      CountMinWindow<TypeParam> window(usable<TypeParam>({30, 3, 1, bits, update}), 7);
      ExactMultiset newer(universe);
      ExactMultiset older(universe);
      Random random(1);
      for (int generation = 0; generation < 6; ++generation) {
        for (int i = 0; i < 400; ++i) {
          const std::uint64_t key = random.below(random.between(1, universe));
          const std::uint64_t weight = random.below(3);
          window.add(key, weight);
          newer.insert(key, weight);
        }
        for (std::uint64_t key = 0; key < universe; ++key) {
          const CountEstimate estimate = window.estimate(key);
          const Wide truth = newer.count(key) + older.count(key);
          ASSERT_TRUE(estimate.value >= truth || estimate.saturated);
          ASSERT_GE(estimate.upper, truth);
          ASSERT_LE(estimate.lower, estimate.value);
        }
        window.advance();
        older = newer;
        newer = ExactMultiset(universe);
      }
    }
  }
}

TYPED_TEST(CountMinWindowOf, BatchesAnswerAndChangeLikeOneByOne) {
  const CountMinShape shape = usable<TypeParam>({50, 3, 1, 16});
  CountMinWindow<TypeParam> batched(shape, 7);
  CountMinWindow<TypeParam> single(shape, 7);
  Random random(2);
  for (int generation = 0; generation < 3; ++generation) {
    std::vector<std::uint64_t> keys(300);
    std::vector<std::uint64_t> weights(300);
    for (std::uint64_t& key : keys) key = random.below(80);
    for (std::uint64_t& weight : weights) weight = random.below(400);
    batched.add_batch(keys);
    batched.add_batch(keys, weights);
    for (const std::uint64_t key : keys) single.add(key);
    for (std::size_t i = 0; i < keys.size(); ++i) single.add(keys[i], weights[i]);
    std::vector<CountEstimate> estimates(keys.size());
    batched.estimate_batch(keys, estimates);
    for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(estimates[i], single.estimate(keys[i]));
    EXPECT_EQ(batched.total_count(), single.total_count());
    batched.advance();
    single.advance();
  }
}

TYPED_TEST(CountMinWindowOf, TheLowerBoundIsThatOfBothGenerationsTogether) {
  const CountMinShape shape = usable<TypeParam>({1000, 4});
  CountMinWindow<TypeParam> window(shape, 7);
  CountMinSketch<TypeParam> both(shape, 7);
  window.add("pear", 1'000'000);
  window.advance();
  window.add("apple", 50'000);
  both.add("pear", 1'000'000);
  both.add("apple", 50'000);
  EXPECT_EQ(window.estimate("apple"), both.estimate("apple"));
  EXPECT_GT(window.estimate("apple").lower, 40'000u);
}

TYPED_TEST(CountMinWindowOf, WindowsThatAdvanceTogetherMergeToThatOfBothStreams) {
  for (const CounterUpdate update : {CounterUpdate::plain, CounterUpdate::conservative}) {
    const CountMinShape shape = usable<TypeParam>({50, 3, 1, 16, update});
    CountMinWindow<TypeParam> both(shape, 7), a(shape, 7), b(shape, 7);
    Random random(3);
    std::vector<std::uint64_t> truth(60);
    for (int generation = 0; generation < 4; ++generation) {
      if (generation == 2) truth.assign(60, 0);  // two generations count, the third and the fourth
      for (int i = 0; i < 500; ++i) {
        const std::uint64_t key = random.below(60);
        truth[key] += 3;
        both.add(key, 3);
        (random.below(2) == 0 ? a : b).add(key, 3);
      }
      if (generation == 3) break;
      for (CountMinWindow<TypeParam>* window : {&both, &a, &b}) window->advance();
    }
    a.merge(b);
    EXPECT_EQ(a.total_count(), both.total_count());
    for (std::uint64_t key = 0; key < 60; ++key) {
      ASSERT_GE(a.estimate(key).value, truth[key]);
      if (update == CounterUpdate::plain) {
        ASSERT_EQ(a.estimate(key), both.estimate(key));
      }
    }
    a.advance();
    both.advance();
    EXPECT_EQ(a.total_count(), both.total_count());
  }
}

TYPED_TEST(CountMinWindowOf, WindowsThatDifferAreRefusedAndNothingHasChanged) {
  const CountMinShape shape = usable<TypeParam>({50, 3, 1, 16});
  CountMinWindow<TypeParam> window(shape, 7);
  window.add("apple", 5);
  expect_refused([&] { window.merge({shape, 8}); }, {"CountMinSketch: cannot merge: seed is 7 here"});
  expect_refused([&] { window.merge({usable<TypeParam>({100, 3, 1, 16}), 7}); }, {"cannot merge: width"});
  EXPECT_EQ(window.total_count(), 5u);
  using Sketch = CountMinSketch<TypeParam>;
  expect_refused([&] { CountMinWindow<TypeParam>(Sketch(shape, 7), Sketch(shape, 8)); }, {"seed is 7 here"});
}

TYPED_TEST(CountMinWindowOf, ABadShapeIsRefused) {
  expect_refused([] { CountMinWindow<TypeParam>({0, 3}, 7); }, {"CountMinSketch: width is 0"});
}

}  // namespace
}  // namespace tally::test
