// Laws of every filter, whatever its structure, scheme and counter width.

#include <gtest/gtest.h>

#include <utility>

#include "support/expect_refused.hpp"
#include "support/filters.hpp"

namespace tally::test {
namespace {

constexpr std::uint64_t universe = 150;

template <class Filter>
class EveryFilter : public testing::Test {
 protected:
  /// act(filter, its exact twin) for every shape, small and crowded or roomy, filled with skewed keys.
  template <class Act>
  static void for_each_filled(Act act) {
    for (const auto& [m, k] : {std::pair{300u, 3u}, std::pair{5000u, 7u}, std::pair{2000u, 40u}}) {
      for (const auto& shape : Subject<Filter>::shapes(m, k)) {
        Filter filter(shape, 7);
        ExactMultiset twin(universe);
        Random random(m);
        insert_into_both(filter, twin, skewed_keys(random, universe, 400));
        ASSERT_NO_FATAL_FAILURE(act(filter, twin));
      }
    }
  }
};
TYPED_TEST_SUITE(EveryFilter, AllFilters, FilterNames);

TYPED_TEST(EveryFilter, HasNoFalseNegatives) {
  this->for_each_filled(
      [](const TypeParam& filter, const ExactMultiset& twin) { expect_promises_kept(filter, twin); });
}

TYPED_TEST(EveryFilter, InsertedInABatchOrOneByOneIsTheSame) {
  this->for_each_filled([](const TypeParam& filled, const ExactMultiset&) {
    Random random(1);
    const auto keys = skewed_keys(random, universe, 300);
    TypeParam single(filled.shape(), 7);
    for (const std::uint64_t key : keys) single.insert(key);
    TypeParam batched(filled.shape(), 7);
    Subject<TypeParam>::insert_batch(batched, keys);
    ASSERT_EQ(words_of(batched), words_of(single));
    ASSERT_EQ(batched.statistics().num_insertions, 300u);
    ASSERT_EQ(single.statistics().num_insertions, 300u);
  });
}

TYPED_TEST(EveryFilter, AMovedToFilterAnswersLikeTheOld) {
  this->for_each_filled([](TypeParam& filter, const ExactMultiset& twin) {
    const TypeParam before = filter;
    TypeParam moved = std::move(filter);
    ASSERT_EQ(words_of(moved), words_of(before));
    ASSERT_EQ(moved.shape(), before.shape());
    ASSERT_EQ(moved.hasher(), before.hasher());
    expect_promises_kept(moved, twin);
    filter = std::move(moved);
    ASSERT_EQ(words_of(filter), words_of(before));
    expect_promises_kept(filter, twin);
    filter.insert(std::uint64_t{5});
  });
}

TYPED_TEST(EveryFilter, CopiesAreIndependent) {
  this->for_each_filled([](TypeParam& filter, const ExactMultiset& twin) {
    const Words before = words_of(filter);
    TypeParam copy = filter;
    for (std::uint64_t key = 1000; key < 1100; ++key) copy.insert(key);
    ASSERT_EQ(words_of(filter), before);
    TypeParam assigned(filter.shape(), 8);
    assigned = filter;
    const Words of_copy = words_of(copy);
    for (std::uint64_t key = 2000; key < 2100; ++key) filter.insert(key);
    ASSERT_EQ(words_of(copy), of_copy);
    ASSERT_EQ(words_of(assigned), before);
    expect_promises_kept(assigned, twin);
  });
}

TYPED_TEST(EveryFilter, TakesOverWhatAFileHeld) {
  this->for_each_filled([](const TypeParam& filter, const ExactMultiset& twin) {
    const auto storage = filter.storage();
    const auto restored = [&] {
      if constexpr (Subject<TypeParam>::has_remove) {
        return TypeParam(filter.shape(), filter.hasher(), filter.totals(), storage);
      } else {
        return TypeParam(filter.shape(), filter.hasher(), filter.num_insertions(), storage);
      }
    }();
    ASSERT_EQ(words_of(restored), words_of(filter));
    ASSERT_EQ(restored.statistics().num_insertions, 400u);
    expect_promises_kept(restored, twin);
  });
}

TYPED_TEST(EveryFilter, AMergeKeepsThePromisesOfBoth) {
  this->for_each_filled([](TypeParam& filter, ExactMultiset& twin) {
    TypeParam other(filter.shape(), 7);
    ExactMultiset others(universe);
    Random random(2);
    insert_into_both(other, others, skewed_keys(random, universe, 300));
    const Words before = words_of(other);
    filter.merge(other);
    twin.merge(others);
    expect_promises_kept(filter, twin);
    ASSERT_EQ(words_of(other), before);
    ASSERT_EQ(filter.statistics().num_insertions, 700u);
  });
}

TYPED_TEST(EveryFilter, AMergeWithItselfKeepsThePromises) {
  this->for_each_filled([](TypeParam& filter, ExactMultiset& twin) {
    filter.merge(filter);
    twin.merge(twin);
    expect_promises_kept(filter, twin);
  });
}

TYPED_TEST(EveryFilter, AMergeWithAnEmptyFilterChangesNothing) {
  this->for_each_filled([](TypeParam& filter, const ExactMultiset&) {
    const Words before = words_of(filter);
    filter.merge(TypeParam(filter.shape(), 7));
    ASSERT_EQ(words_of(filter), before);
    TypeParam empty(filter.shape(), 7);
    empty.merge(filter);
    ASSERT_EQ(words_of(empty), before);
  });
}

template <class Shape>
struct ChangedShape {
  Shape shape;
  std::string field;
};

/// Shapes that differ from `shape` in one field each. `other_k` has another num_hashes (and, with a scheme
/// that needs it, another number of positions, which is then the first difference).
template <class Shape>
std::vector<ChangedShape<Shape>> changed_shapes(const Shape& shape, const Shape& more, const Shape& other_k) {
  return {{more, "num_bits"}, {other_k, other_k.num_bits == shape.num_bits ? "num_hashes" : "num_bits"}};
}
template <class Shape>
requires requires(Shape shape) { shape.max_threshold; }
std::vector<ChangedShape<Shape>> changed_shapes(const Shape& shape, const Shape& more, const Shape& other_k) {
  Shape width = shape;
  ++width.counter_bits;
  Shape threshold = shape;
  --threshold.max_threshold;
  return {{more, "num_counters"},
          {other_k, other_k.num_counters == shape.num_counters ? "num_hashes" : "num_counters"},
          {width, "counter_bits"},
          {threshold, "max_threshold"}};
}
std::vector<ChangedShape<ThresholdShape>> changed_shapes(const ThresholdShape& shape,
                                                         const ThresholdShape& more,
                                                         const ThresholdShape& other_k) {
  ThresholdShape threshold = shape;
  --threshold.threshold;
  ThresholdShape update = shape;
  update.update = shape.update == CounterUpdate::plain ? CounterUpdate::conservative : CounterUpdate::plain;
  return {{more, "num_counters"},
          {other_k, other_k.num_counters == shape.num_counters ? "num_hashes" : "num_counters"},
          {threshold, "threshold"},
          {update, "update"}};
}

TYPED_TEST(EveryFilter, AMergeRefusesNamingTheFirstDifferenceAndChangesNothing) {
  using S = Subject<TypeParam>;
  constexpr std::uint64_t m =
      23040;  // whole lines of every width used here, and equal parts for k = 5 and 10
  const std::size_t chosen = S::shapes(m, 5).size() / 2;
  const auto shape = S::shapes(m, 5)[chosen];
  const auto more = S::shapes(2 * m, 5)[chosen];
  const auto other_k = S::shapes(m, 10)[chosen];
  TypeParam filter(shape, 7);
  ExactMultiset twin(universe);
  Random random(3);
  insert_into_both(filter, twin, skewed_keys(random, universe, 300));
  const Words before = words_of(filter);
  const auto expect_refused_by = [&](const auto& other_shape, const KeyHasher& hasher,
                                     const std::string& field) {
    TypeParam other(other_shape, hasher);
    other.insert(std::uint64_t{9});
    expect_refused([&] { filter.merge(other); }, {"cannot merge: " + field + " is ", " here and ", " there"});
    EXPECT_EQ(words_of(filter), before);
    EXPECT_EQ(filter.statistics().num_insertions, 300u);
  };
  expect_refused_by(shape, 8, "seed");
  expect_refused_by(more, 8, "seed");
  expect_refused_by(shape, KeyHasher::keyed(HashKey{}), "hash");
  for (const auto& changed : changed_shapes(shape, more, other_k))
    expect_refused_by(changed.shape, 7, changed.field);
}

}  // namespace
}  // namespace tally::test
