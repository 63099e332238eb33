// Laws of CountMinSketch, for every row scheme, counter width and update, beside an exact multiset.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <vector>

#include "support/exact_multiset.hpp"
#include "support/expect_refused.hpp"
#include "support/random.hpp"
#include "support/row_schemes.hpp"
#include "tally/sketches/count_min.hpp"

namespace tally::test {
namespace {

constexpr std::uint64_t sketch_universe = 200;
constexpr std::uint64_t most = ~std::uint64_t{0};

// The same cases in every run, unless RC_PARAMS asks for others.
[[maybe_unused]] const int seed_is_fixed = setenv("RC_PARAMS", "seed=2026", 0);

template <class Sketch>
std::vector<std::uint64_t> words_of(const Sketch& sketch) {
  return {sketch.storage().words().begin(), sketch.storage().words().end()};
}

/// Keys of which a few are frequent.
std::vector<std::uint64_t> skewed_stream(Random& random, std::size_t length) {
  std::vector<std::uint64_t> keys(length);
  for (std::uint64_t& key : keys) key = random.below(random.between(1, sketch_universe));
  return keys;
}

std::vector<std::uint64_t> random_weights(Random& random, std::size_t length) {
  std::vector<std::uint64_t> weights(length);
  for (std::uint64_t& weight : weights) weight = random.below(8) == 0 ? random.next() : random.below(40);
  return weights;
}

template <class Rows>
class CountMin : public testing::Test {
 protected:
  using Sketch = CountMinSketch<Rows>;

  static Sketch make(CountMinShape shape, std::uint64_t seed = 7) { return {usable<Rows>(shape), seed}; }

  /// Empty sketches: crowded and roomy ones, one row and many, every width, both updates.
  template <class Act>
  static void for_each_empty(Act act) {
    for (const CountMinShape& size :
         {CountMinShape{1, 1}, CountMinShape{40, 4}, CountMinShape{23, 3, 2}, CountMinShape{5000, 5}}) {
      for (const std::uint32_t bits : {8u, 16u, 32u, 64u}) {
        for (const CounterUpdate update : {CounterUpdate::plain, CounterUpdate::conservative}) {
          CountMinShape shape = size;
          shape.counter_bits = bits;
          shape.update = update;
          ASSERT_NO_FATAL_FAILURE(act(make(shape)))
              << "width " << shape.width << " " << bits << " bits " << name_of(update);
        }
      }
    }
  }

  static void expect_never_below(const Sketch& sketch, const ExactMultiset& twin) {
    for (std::uint64_t key = 0; key < twin.universe(); ++key) {
      const CountEstimate estimate = sketch.estimate(key);
      const Wide truth = twin.count(key);
      ASSERT_TRUE(estimate.value >= truth || estimate.saturated) << "key " << key;
      ASSERT_TRUE(estimate.upper >= truth || estimate.upper == most) << "key " << key;
      ASSERT_LE(estimate.lower, estimate.value);
      ASSERT_LE(estimate.value, estimate.upper);
    }
  }
};
TYPED_TEST_SUITE(CountMin, AllRowSchemes, RowSchemeNames);

/// Every key's truth after a halving of the sketch.
void halve(ExactMultiset& twin) {
  ExactMultiset halved(twin.universe());
  for (const std::uint64_t key : twin.present())
    halved.insert(key, twin.count(key) / 2 + twin.count(key) % 2);
  twin = halved;
}

TYPED_TEST(CountMin, AnEmptySketchEstimatesNothing) {
  this->for_each_empty([](const auto& sketch) {
    ASSERT_EQ(sketch.total_count(), 0u);
    ASSERT_EQ(sketch.num_saturated(), 0u);
    const CountEstimate estimate = sketch.estimate("apple");
    ASSERT_EQ(estimate.upper, 0u);
    ASSERT_EQ(estimate.lower, 0u);
    ASSERT_FALSE(estimate.saturated);
    if (sketch.shape().update == CounterUpdate::conservative) return;
    ASSERT_EQ(sketch.inner_product(sketch).upper, 0u);
  });
}

TYPED_TEST(CountMin, NoEstimateIsEverBelowTheTruth) {
  this->for_each_empty([](auto sketch) {
    Random random(1);
    ExactMultiset twin(sketch_universe);
    const auto keys = skewed_stream(random, 600);
    const auto weights = random_weights(random, 600);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::uint64_t weight = i < 300 ? 1 : weights[i];
      sketch.add(keys[i], weight);
      twin.insert(keys[i], weight);
      if (i % 150 == 149) sketch.halve(), halve(twin);
    }
    CountMin<TypeParam>::expect_never_below(sketch, twin);
  });
}

TYPED_TEST(CountMin, WithoutCollisionsTheEstimateIsTheTruth) {
  auto sketch = this->make({100'000, 6, 1, 32});
  for (std::uint64_t key = 0; key < 50; ++key) sketch.add(key, 3 * key);
  for (std::uint64_t key = 0; key < 50; ++key) ASSERT_EQ(sketch.count(key), (Count{3 * key, false}));
  EXPECT_EQ(sketch.total_count(), 3u * 49 * 50 / 2);
}

TYPED_TEST(CountMin, BatchesAnswerAndChangeLikeOneByOneInOrder) {
  this->for_each_empty([](auto sketch) {
    Random random(2);
    auto single = sketch;
    const auto keys = skewed_stream(random, 300);
    const auto weights = random_weights(random, 300);
    std::uint64_t num_saturated = 0;
    for (const std::uint64_t key : keys) num_saturated += single.add(key) == InsertResult::saturated;
    ASSERT_EQ(sketch.add_batch(keys), num_saturated);
    ASSERT_EQ(words_of(sketch), words_of(single));
    num_saturated = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      num_saturated += single.add(keys[i], weights[i]) == InsertResult::saturated;
    }
    ASSERT_EQ(sketch.add_batch(keys, weights), num_saturated);
    ASSERT_EQ(words_of(sketch), words_of(single));
    ASSERT_EQ(sketch.total_count(), single.total_count());
    std::vector<Count> counts(keys.size());
    std::vector<CountEstimate> estimates(keys.size());
    sketch.count_batch(keys, counts);
    sketch.estimate_batch(keys, estimates);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(counts[i], single.count(keys[i]));
      ASSERT_EQ(estimates[i], single.estimate(keys[i]));
    }
  });
}

TYPED_TEST(CountMin, AMergeOfPlainSketchesIsTheSketchOfBothStreams) {
  this->for_each_empty([](auto left) {
    if (left.shape().update != CounterUpdate::plain) return;
    Random random(3);
    auto right = left;
    auto both = left;
    ExactMultiset twin(sketch_universe);
    for (auto* part : {&left, &right}) {
      const auto keys = skewed_stream(random, 200);
      const auto weights = random_weights(random, 200);
      part->add_batch(keys, weights);
      both.add_batch(keys, weights);
      for (std::size_t i = 0; i < keys.size(); ++i) twin.insert(keys[i], weights[i]);
    }
    left.merge(right);
    ASSERT_EQ(words_of(left), words_of(both));
    ASSERT_EQ(left.total_count(), both.total_count());
    CountMin<TypeParam>::expect_never_below(left, twin);
  });
}

TYPED_TEST(CountMin, AMergeOfConservativeSketchesIsNeverBelowTheTruthOfBoth) {
  this->for_each_empty([](auto left) {
    if (left.shape().update != CounterUpdate::conservative) return;
    Random random(4);
    auto right = left;
    ExactMultiset twin(sketch_universe);
    for (auto* part : {&left, &right}) {
      for (const std::uint64_t key : skewed_stream(random, 300)) {
        part->add(key);
        twin.insert(key);
      }
    }
    right.halve();
    left.halve();
    halve(twin);  // no more than the sum of both halved
    left.merge(right);
    CountMin<TypeParam>::expect_never_below(left, twin);
  });
}

TYPED_TEST(CountMin, ARefusedMergeNamesTheFirstFieldThatDiffersAndChangesNothing) {
  const CountMinShape shape = usable<TypeParam>({11, 3, 1, 8});
  CountMinSketch<TypeParam> sketch(shape, 7);
  sketch.add("apple");
  const auto before = words_of(sketch);
  const auto refused = [&](const std::string& field, auto change, std::uint64_t seed = 7) {
    CountMinShape other = shape;
    change(other);
    expect_refused([&] { sketch.merge(CountMinSketch<TypeParam>(other, seed)); },
                   {"CountMinSketch: cannot merge: " + field + " is"});
  };
  refused(
      "seed", [](CountMinShape&) {}, 8);
  refused("width", [](CountMinShape& s) { s.width = 13; });
  refused("depth", [](CountMinShape& s) { s.depth = 4; });
  if (TypeParam::law == RowLaw::two_hash) refused("num_copies", [](CountMinShape& s) { s.num_copies = 2; });
  refused("counter_bits", [](CountMinShape& s) { s.counter_bits = 16; });
  refused("update", [](CountMinShape& s) { s.update = CounterUpdate::conservative; });
  EXPECT_EQ(words_of(sketch), before);
  EXPECT_EQ(sketch.total_count(), 1u);
}

TYPED_TEST(CountMin, ConservativeUpdateIsNeverAbovePlainAndOftenBelow) {
  CountMinShape shape{30, 4, 1, 32, CounterUpdate::plain};
  auto plain = this->make(shape);
  shape.update = CounterUpdate::conservative;
  auto conservative = this->make(shape);
  Random random(5);
  std::uint64_t num_below = 0;
  for (int round = 0; round < 5; ++round) {
    const auto keys = skewed_stream(random, 400);
    plain.add_batch(keys);
    conservative.add_batch(keys);
    for (std::uint64_t key = 0; key < sketch_universe; ++key) {
      ASSERT_LE(conservative.count(key).value, plain.count(key).value);
      num_below += conservative.count(key).value < plain.count(key).value;
    }
    if (round % 2 == 1) plain.halve(), conservative.halve();
  }
  EXPECT_GT(num_below, sketch_universe);
}

TYPED_TEST(CountMin, HalvingRoundsUpAndLeavesWhatIsSaturated) {
  this->for_each_empty([](auto sketch) {
    Random random(6);
    const auto keys = skewed_stream(random, 500);
    sketch.add_batch(keys);
    const auto before = sketch;
    const std::uint64_t num_saturated = sketch.num_saturated();
    sketch.halve();
    ASSERT_EQ(sketch.total_count(), 250u);
    ASSERT_EQ(sketch.num_saturated(), num_saturated);
    const CounterArray& old = before.storage();
    for (std::uint64_t i = 0; i < old.size(); ++i) {
      const std::uint64_t value = old.get(i);
      ASSERT_EQ(sketch.storage().get(i), value == old.max() ? value : (value + 1) / 2);
    }
  });
}

// One counter holds the whole stream: it may be above the exactly halved sum only by rounding().
TYPED_TEST(CountMin, HalvingsAddNoMoreThanTheRoundingThatIsStated) {
  CountMinShape shape{1, 1};
  auto sketch = this->make(shape);
  shape = sketch.shape();
  Random random(7);
  std::vector<long double> exact(shape.width);
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t weight = random.below(9);
    sketch.add("apple", weight);
    const auto column = columns_of<TypeParam>({shape.width, 1, 1, 7}, sketch.hasher()("apple")).front();
    exact[column] += static_cast<long double>(weight);
    if (i % 3 == 2) {
      sketch.halve();
      for (long double& sum : exact) sum /= 2;
    }
    if (i % 20 == 19) {
      auto copy = sketch;
      sketch.merge(copy);
      for (long double& sum : exact) sum *= 2;
    }
    const auto counter = static_cast<long double>(sketch.storage().get(column));
    ASSERT_GE(counter, exact[column]);
    ASSERT_LE(counter, exact[column] + static_cast<long double>(sketch.rounding()));
    ASSERT_GE(static_cast<long double>(sketch.total_count()), exact[column]);
  }
  EXPECT_GE(sketch.rounding(), 1u);
  EXPECT_LE(sketch.rounding(), 4u);
}

TYPED_TEST(CountMin, ACounterThatIsSaturatedStaysSoAndShows) {
  for (const CounterUpdate update : {CounterUpdate::plain, CounterUpdate::conservative}) {
    auto sketch = this->make({1000, 3, 1, 8, update});
    EXPECT_EQ(sketch.add("apple", 254), InsertResult::counted);
    EXPECT_FALSE(sketch.estimate("apple").saturated);
    EXPECT_EQ(sketch.add("apple", 46), InsertResult::saturated);
    EXPECT_EQ(sketch.add("apple", 0), InsertResult::saturated);
    for (int i = 0; i < 3; ++i) {
      const CountEstimate estimate = sketch.estimate("apple");
      EXPECT_EQ(estimate.value, 255u);
      EXPECT_TRUE(estimate.saturated);
      EXPECT_EQ(estimate.upper, sketch.total_count());
      EXPECT_EQ(sketch.num_saturated(), 3u);
      sketch.halve();
    }
    EXPECT_FALSE(sketch.estimate("pear").saturated);
    sketch.clear();
    EXPECT_EQ(sketch.num_saturated(), 0u);
    EXPECT_EQ(sketch.rounding(), 0u);
    EXPECT_EQ(sketch.estimate("apple").upper, 0u);
  }
}

TYPED_TEST(CountMin, ASaturatedTotalMakesNoPromiseFromBelow) {
  auto sketch = this->make({1000, 2});
  sketch.add("apple", most - 5);
  sketch.add("pear", 4);
  EXPECT_EQ(sketch.total_count(), most - 1);
  EXPECT_GT(sketch.estimate("apple").lower, most / 2);
  sketch.add("plum", 7);
  sketch.halve();
  EXPECT_EQ(sketch.total_count(), most);
  EXPECT_EQ(sketch.estimate("apple").lower, 0u);
  EXPECT_EQ(sketch.inner_product(sketch).lower, 0u);
}

TYPED_TEST(CountMin, TheLowerBoundIsTheShareOfTheTotalBelowTheEstimate) {
  auto sketch = this->make({1000, 4});
  sketch.add("apple", 50'000);
  sketch.add("pear", 1'000'000);
  const CountMinBound bound = sketch.bound();
  const auto excess = static_cast<std::uint64_t>(bound.epsilon * 1'050'000);
  const CountEstimate estimate = sketch.estimate("apple");
  EXPECT_EQ(estimate.value, 50'000u);
  EXPECT_EQ(estimate.lower, 50'000 - excess);
  EXPECT_EQ(estimate.probability, 1 - bound.failure_probability);
  EXPECT_GT(estimate.probability, 0.98);
  sketch.halve();
  EXPECT_EQ(sketch.estimate("apple").lower, 25'000 - static_cast<std::uint64_t>(bound.epsilon * 525'000) - 1);
}

TYPED_TEST(CountMin, AnInnerProductIsNeverBelowTheTruthAndExactWithoutCollisions) {
  for (const std::uint64_t width : {20u, 200'000u}) {
    const CountMinShape shape{width, 4, 1, 32};
    auto left = this->make(shape);
    auto right = this->make({width, 4, 1, 16});
    std::vector<std::uint64_t> a(sketch_universe), b(sketch_universe);
    Random random(8);
    for (const std::uint64_t key : skewed_stream(random, 500)) left.add(key), ++a[key];
    for (const std::uint64_t key : skewed_stream(random, 300)) right.add(key, 2), b[key] += 2;
    std::uint64_t truth = 0;
    for (std::uint64_t key = 0; key < sketch_universe; ++key) truth += a[key] * b[key];
    const CountEstimate product = left.inner_product(right);
    EXPECT_GE(product.value, truth);
    EXPECT_EQ(product.upper, product.value);
    EXPECT_FALSE(product.saturated);
    if (width > 20) {
      EXPECT_EQ(product.value, truth);
      EXPECT_EQ(product.lower, truth - static_cast<std::uint64_t>(left.bound().epsilon * 500 * 600));
    }
    EXPECT_EQ(right.inner_product(left), product);
    left.halve();
    right.halve();
    EXPECT_GE(left.inner_product(right).value, truth / 4);
    EXPECT_LE(left.inner_product(right).lower, truth / 4);
  }
}

TYPED_TEST(CountMin, AnInnerProductIsTheLeastOfTheRowsSumsOfProducts) {
  auto left = this->make({7, 4, 1, 32});
  auto right = left;
  Random random(9);
  left.add_batch(skewed_stream(random, 500));
  right.add_batch(skewed_stream(random, 300));
  const CountMinShape& shape = left.shape();
  std::uint64_t least = most;
  for (std::uint32_t row = 0; row < shape.num_rows(); ++row) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = row * shape.width; i < (row + 1) * shape.width; ++i) {
      sum += left.storage().get(i) * right.storage().get(i);
    }
    least = std::min(least, sum);
  }
  EXPECT_EQ(left.inner_product(right).value, least);
}

TYPED_TEST(CountMin, AnInnerProductWithSaturatedCountersSaysSo) {
  auto left = this->make({1000, 2, 1, 8});
  left.add("apple", 1000);
  auto right = left;
  right.clear();
  EXPECT_FALSE(left.inner_product(right).saturated);
  right.add("apple", 10);
  const CountEstimate product = left.inner_product(right);
  EXPECT_TRUE(product.saturated);
  EXPECT_EQ(product.upper, 10'000u);
}

TYPED_TEST(CountMin, AnInnerProductWithConservativeUpdateIsRefused) {
  const auto plain = this->make({11, 2});
  const auto conservative = this->make({11, 2, 1, 64, CounterUpdate::conservative});
  expect_refused([&] { (void)plain.inner_product(conservative); }, {"update is conservative", "plain"});
  expect_refused([&] { (void)conservative.inner_product(plain); }, {"update is conservative"});
  expect_refused([&] { (void)plain.inner_product(this->make({11, 2}, 8)); }, {"seed"});
}

enum class Kind { add, halve, merge_copy, merge_other, clear };

struct Operation {
  Kind kind;
  std::uint64_t key;
  std::uint64_t weight;
};

std::ostream& operator<<(std::ostream& out, const Operation& operation) {
  return out << "operation " << static_cast<int>(operation.kind) << " key " << operation.key << " weight "
             << operation.weight;
}

// Any history: never below the model, never above what plain update has, shrunk to the shortest that fails.
TYPED_TEST(CountMin, EveryHistoryKeepsTheLaw) {
  using Model = CountMinSketch<TypeParam>;
  EXPECT_TRUE(rc::check([] {
    using namespace rc;
    CountMinShape shape{*gen::inRange<std::uint64_t>(1, 30), *gen::inRange<std::uint32_t>(1, 5),
                        *gen::inRange<std::uint32_t>(1, 3), *gen::element(8u, 16u, 32u, 64u)};
    shape = usable<TypeParam>(shape);
    const auto seed = *gen::arbitrary<std::uint64_t>();
    Model plain(shape, seed);
    shape.update = CounterUpdate::conservative;
    Model conservative(shape, seed);
    ExactMultiset twin(12);
    const auto operations = *gen::container<std::vector<Operation>>(gen::construct<Operation>(
        gen::weightedElement<Kind>({{12, Kind::add},
                                    {2, Kind::halve},
                                    {1, Kind::merge_copy},
                                    {1, Kind::merge_other},
                                    {1, Kind::clear}}),
        gen::inRange<std::uint64_t>(0, 12),
        gen::oneOf(gen::inRange<std::uint64_t>(0, 300), gen::arbitrary<std::uint64_t>())));
    for (const auto& [kind, key, weight] : operations) {
      ExactMultiset other(12);
      for (Model* sketch : {&plain, &conservative}) {
        if (kind == Kind::add) sketch->add(key, weight);
        if (kind == Kind::halve) sketch->halve();
        if (kind == Kind::merge_copy) sketch->merge(Model(*sketch));
        if (kind == Kind::clear) sketch->clear();
        if (kind == Kind::merge_other) {
          Model fresh(sketch->shape(), seed);
          fresh.add(key, weight);
          sketch->merge(fresh);
        }
      }
      if (kind == Kind::add || kind == Kind::merge_other) twin.insert(key, weight);
      if (kind == Kind::halve) halve(twin);
      if (kind == Kind::merge_copy) twin.merge(ExactMultiset(twin));
      if (kind == Kind::clear) twin = other;
      for (std::uint64_t asked = 0; asked < twin.universe(); ++asked) {
        const Count low = conservative.count(asked);
        RC_ASSERT(low.saturated || low.value >= twin.count(asked));
        RC_ASSERT(low.value <= plain.count(asked).value);
      }
    }
  }));
}

TYPED_TEST(CountMin, ABadShapeIsRefusedWithItsFieldAndRange) {
  const CountMinShape good = usable<TypeParam>({11, 3, 1, 32});
  const auto refused = [&](auto change, const std::vector<std::string>& fragments) {
    CountMinShape shape = good;
    change(shape);
    expect_refused([&] { CountMinSketch<TypeParam>(shape, 7); }, fragments);
  };
  refused([](CountMinShape& s) { s.width = 0; },
          {"CountMinSketch: width is 0; must be 1 to 72057594037927936"});
  refused([](CountMinShape& s) { s.width = (1ull << 56) + 1; }, {"width is 72057594037927937"});
  refused([](CountMinShape& s) { s.depth = 0; }, {"depth is 0; must be 1 to 1024"});
  refused([](CountMinShape& s) { s.depth = 1025; }, {"depth is 1025; must be 1 to 1024"});
  refused([](CountMinShape& s) { s.num_copies = 0; }, {"num_copies is 0; must be 1 to 1024"});
  refused([](CountMinShape& s) { s.counter_bits = 4; }, {"counter_bits is 4; must be 8, 16, 32 or 64"});
  refused([](CountMinShape& s) { s.counter_bits = 128; }, {"counter_bits is 128"});
  refused([](CountMinShape& s) { s.update = static_cast<CounterUpdate>(2); },
          {"update is 2; must be 0 (plain)"});
  if (TypeParam::law == RowLaw::independent) {
    refused([](CountMinShape& s) { s.num_copies = 2; }, {"num_copies is 2; must be 1 for the row scheme"});
    refused([](CountMinShape& s) { s.width = 1ull << 55; }, {"width is", "with 3 rows"});
  } else {
    refused([](CountMinShape& s) { s.width = 12; }, {"width is 12; must be 11 or 13 for the row scheme"});
    refused([](CountMinShape& s) { s.width = 1; }, {"width is 1; must be 2 for the row scheme"});
    refused([](CountMinShape& s) { s.depth = 12; }, {"depth is 12; must be at most the width, 11"});
    refused([](CountMinShape& s) { s.num_copies = 1024, s.depth = 2; }, {"depth is 2; must be 1 to 1"});
  }
}

}  // namespace
}  // namespace tally::test
