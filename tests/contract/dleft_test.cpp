#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/batches_and_single_keys.hpp"
#include "support/dleft.hpp"
#include "support/random.hpp"

namespace tally {
namespace {

using test::cells_of;
using test::ExactFingerprints;
using test::fingerprints_of;
using test::Random;

template <class Scheme>
class DLeft : public ::testing::Test {
 protected:
  using Filter = DLeftCountingBloomFilter<Scheme>;

  /// visit(an empty filter of each small shape that the scheme can use).
  template <class Visit>
  static void for_each_empty(Visit visit) {
    for (DLeftShape shape : test::small_dleft_shapes()) {
      // Not a power of two where the scheme allows it.
      if (Scheme::round_buckets(3, Rounding::up) == 3 && shape.buckets_per_subtable > 4)
        shape.buckets_per_subtable -= 3;
      SCOPED_TRACE("d " + std::to_string(shape.num_subtables) + ", c " +
                   std::to_string(shape.cells_per_bucket) + ", r " + std::to_string(shape.remainder_bits) +
                   ", counter bits " + std::to_string(shape.counter_bits));
      visit(Filter(shape, KeyHasher(7)));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }

  static std::uint64_t fingerprint_of(const Filter& filter, std::uint64_t key) {
    return filter.shape().fingerprint_space().fingerprint_of(filter.hasher()(key));
  }

  /// Everything that the filter says against the exact multiset of fingerprints.
  static void expect_equal(const Filter& filter, const ExactFingerprints& exact) {
    ASSERT_EQ(fingerprints_of(filter), exact);
    const DLeftStatistics statistics = filter.statistics();
    ASSERT_EQ(statistics.table.num_fingerprints, exact.size());
    ASSERT_EQ(filter.table().num_fingerprints(), exact.size());
    std::uint64_t num_keys = 0;
    for (const auto& [fingerprint, count] : exact) {
      ASSERT_EQ(test::num_cells_of(filter, fingerprint), 1) << fingerprint;
      num_keys += count;
    }
    ASSERT_EQ(statistics.table.num_keys, num_keys);
    // A spill above 0 means that the cell's counter is at its maximum.
    const std::uint64_t max = std::uint64_t{1} << filter.shape().counter_bits;
    std::uint64_t num_above = 0;
    for (const auto& [fingerprint, count] : exact) num_above += count > max;
    ASSERT_EQ(statistics.table.num_spilled, num_above);
  }
};

using Schemes = ::testing::Types<RotationBuckets, MultiplierBuckets>;
struct SchemeNames {
  template <class Scheme>
  static std::string GetName(int) {
    return std::string(Scheme::name);
  }
};
TYPED_TEST_SUITE(DLeft, Schemes, SchemeNames);

TYPED_TEST(DLeft, HoldsExactlyTheMultisetOfFingerprints) {
  this->for_each_empty([&](auto filter) {
    ExactFingerprints exact;
    std::vector<std::uint64_t> present;
    Random random(1);
    const std::uint64_t universe = 2 * filter.shape().num_cells();
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t key = random.below(random.below(universe) + 1);
      const std::uint64_t fingerprint = this->fingerprint_of(filter, key);
      const bool is_in = exact.contains(fingerprint);
      ASSERT_EQ(filter.may_contain(key), is_in);
      ASSERT_EQ(filter.count(key), (Count{is_in ? exact[fingerprint] : 0, false}));
      if (random.below(2) == 0) {
        const auto before = cells_of(filter);
        if (filter.insert(key) == InsertResult::full) {
          ASSERT_EQ(cells_of(filter), before);
        } else {
          ++exact[fingerprint];
        }
      } else {
        ASSERT_EQ(filter.remove(key), is_in ? RemoveResult::removed : RemoveResult::refused);
        if (is_in && --exact[fingerprint] == 0) exact.erase(fingerprint);
      }
      if (!exact.contains(fingerprint)) exact.erase(fingerprint);
      if (i % 500 == 0) this->expect_equal(filter, exact);
      if (i % 5000 == 4999) (void)filter.try_grow();
    }
    this->expect_equal(filter, exact);
  });
}

TYPED_TEST(DLeft, AKeyInsertedAMillionTimesIsCountedAndCanBeRemovedAMillionTimes) {
  this->for_each_empty([&](auto filter) {
    if (filter.shape().spill_capacity == 0) return;
    const std::uint64_t times = filter.shape().counter_bits == 4 ? 1'000'000 : 10'000;
    for (std::uint64_t i = 1; i <= times; ++i)
      ASSERT_EQ(filter.insert(std::uint64_t{5}), InsertResult::counted);
    ASSERT_EQ(filter.count(std::uint64_t{5}).value, times);
    ASSERT_EQ(filter.statistics().table.num_fingerprints, 1u);
    for (std::uint64_t i = 1; i <= times; ++i)
      ASSERT_EQ(filter.remove(std::uint64_t{5}), RemoveResult::removed);
    ASSERT_EQ(filter.remove(std::uint64_t{5}), RemoveResult::refused);
    this->expect_equal(filter, {});
  });
}

TYPED_TEST(DLeft, BatchesOfAFilterLargerThanCachesDoWhatSingleKeysDo) {
  const DLeftCountingBloomFilter<TypeParam> filter(
      {.buckets_per_subtable = std::uint64_t{1} << 16, .num_subtables = 2, .cells_per_bucket = 32},
      KeyHasher(3));
  ASSERT_GT(num_bytes(filter.shape()), detail::near_bytes);
  test::expect_that_batches_do_what_single_keys_do(filter, 1000);
}

TYPED_TEST(DLeft, MergesAreExactAndAFullOneChangesNothing) {
  this->for_each_empty([&](auto filter) {
    auto other = filter;
    Random random(3);
    const std::uint64_t universe = filter.shape().num_cells();
    for (std::uint64_t i = 0; i < universe / 3; ++i) (void)filter.insert(random.below(universe));
    for (std::uint64_t i = 0; i < universe / 4; ++i) (void)other.insert(random.below(universe));
    if (random.below(2) == 0) (void)other.try_grow();
    for (auto [mine, theirs] : {std::pair{filter, other}, std::pair{other, filter}}) {
      ExactFingerprints sum = fingerprints_of(mine);
      const ExactFingerprints before = sum;
      for (const auto& [fingerprint, count] : fingerprints_of(theirs)) sum[fingerprint] += count;
      const bool fits = mine.merge(theirs);
      this->expect_equal(mine, fits ? sum : before);
    }
    auto full = filter;
    std::uint64_t key = 1'000'000;
    for (std::uint64_t i = 0; i < 3 * universe; ++i) (void)full.insert(++key);
    const ExactFingerprints held = fingerprints_of(full);
    auto more = filter;
    for (int i = 0; i < 50; ++i) (void)more.insert(++key);
    if (!full.merge(more)) {
      this->expect_equal(full, held);
    }
  });
}

TYPED_TEST(DLeft, DoublingAndHalvingChangeNoCount) {
  this->for_each_empty([&](auto filter) {
    Random random(4);
    const std::uint64_t num_keys = filter.shape().num_cells() / 2;
    for (std::uint64_t i = 0; i < num_keys; ++i) (void)filter.insert(random.below(2 * num_keys));
    const ExactFingerprints exact = fingerprints_of(filter);
    std::uint32_t doublings = 0;
    while (filter.try_grow()) {
      ASSERT_EQ(filter.shape().num_doublings, ++doublings);
      this->expect_equal(filter, exact);
    }
    ASSERT_EQ(doublings, filter.shape().remainder_bits - filter.shape().least_remainder_bits);
    for (; doublings > 0; --doublings) {
      ASSERT_TRUE(filter.try_halve());
      this->expect_equal(filter, exact);
    }
    ASSERT_FALSE(filter.try_halve());
  });
}

TYPED_TEST(DLeft, AHalvingThatDoesNotFitChangesNothing) {
  this->for_each_empty([&](auto filter) {
    const std::uint64_t num_cells = filter.shape().num_cells();
    if (!filter.try_grow()) return;
    for (std::uint64_t key = 0; key < num_cells + num_cells / 4; ++key) (void)filter.insert(key);
    if (filter.table().num_fingerprints() <= num_cells) return;
    const ExactFingerprints exact = fingerprints_of(filter);
    ASSERT_FALSE(filter.try_halve());
    this->expect_equal(filter, exact);
  });
}

TYPED_TEST(DLeft, GrowsByItselfWhereAskedToAndLosesNothing) {
  this->for_each_empty([&](const auto& filter) {
    DLeftShape shape = filter.shape();
    shape.grows = true;
    DLeftCountingBloomFilter<TypeParam> growing(shape, filter.hasher());
    ExactFingerprints exact;
    for (std::uint64_t key = 0; key < 8 * shape.num_cells(); ++key) {
      std::vector<InsertResult> result(1);
      growing.insert_batch(std::span(&key, 1), result);
      if (result[0] == InsertResult::full) break;
      ++exact[this->fingerprint_of(growing, key)];
    }
    this->expect_equal(growing, exact);
    if (shape.spill_capacity > 0) {
      EXPECT_EQ(growing.shape().num_doublings > 0, shape.remainder_bits > shape.least_remainder_bits);
    }
  });
}

TYPED_TEST(DLeft, ASnapshotHasEveryKey) {
  this->for_each_empty([&](auto filter) {
    for (std::uint64_t key = 0; key < 50; ++key) (void)filter.insert(key);
    const BloomFilter<> snapshot = filter.snapshot({.num_bits = 10'000, .num_hashes = 5});
    std::uint64_t num_absent = 0;
    for (std::uint64_t key = 0; key < 2000; ++key) {
      const bool may = snapshot.may_contain(filter.snapshot_key(key));
      ASSERT_TRUE(may || !filter.may_contain(key));
      num_absent += !may;
    }
    if (filter.shape().fingerprint_space().num_fingerprints() > 10'000) {
      EXPECT_GT(num_absent, 1900u);
    }
  });
}

TYPED_TEST(DLeft, MergingRefusesOthersAndNamesTheField) {
  using OfScheme = DLeftCountingBloomFilter<TypeParam>;
  const DLeftShape shape{.buckets_per_subtable = 16, .least_remainder_bits = 10};
  OfScheme filter(shape, KeyHasher(1));
  const auto expect_named = [&](const DLeftShape& other, std::uint64_t seed, const std::string& field) {
    try {
      (void)filter.merge(OfScheme(other, KeyHasher(seed)));
      ADD_FAILURE() << field;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(field), std::string::npos) << error.what();
    }
  };
  expect_named(shape, 2, "seed");
  DLeftShape other = shape;
  other.num_subtables = 3;
  expect_named(other, 1, "num_subtables");
  other = shape;
  other.buckets_per_subtable = 32;
  expect_named(other, 1, "buckets_per_subtable");
  other = shape;
  other.cells_per_bucket = 9;
  expect_named(other, 1, "cells_per_bucket");
  other = shape;
  other.remainder_bits = 13;
  other.counter_bits = 3;
  expect_named(other, 1, "remainder_bits");
  other = shape;
  other.least_remainder_bits = 11;
  expect_named(other, 1, "least_remainder_bits");
}

// With independent hashes in place of permutations a fingerprint finds strangers' cells: two cells for one, and counts that are
// not those of its fingerprint. The same table code shows it, so the laws above do not hold by chance.
TEST(DLeftFlawed, IndependentHashesBreakTheClaims) {
  const DLeftShape shape{.buckets_per_subtable = 16,
                         .num_subtables = 4,
                         .cells_per_bucket = 8,
                         .remainder_bits = 6,
                         .counter_bits = 2,
                         .least_remainder_bits = 6,
                         .moves = DLeftMoves::none};
  DLeftCountingBloomFilter<test::IndependentBuckets> filter(shape, KeyHasher(7));
  std::vector<std::uint64_t> inserted;
  Random random(5);
  int num_ambiguous = 0;
  int num_lost = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (random.below(2) == 0 || inserted.empty()) {
      const std::uint64_t key = random.next();
      if (filter.insert(key) == InsertResult::counted) inserted.push_back(key);
    } else {
      std::swap(inserted[random.below(inserted.size())], inserted.back());
      const std::uint64_t key = inserted.back();
      inserted.pop_back();
      num_ambiguous +=
          test::num_cells_of(filter, shape.fingerprint_space().fingerprint_of(filter.hasher()(key))) > 1;
      num_lost += filter.remove(key) == RemoveResult::refused;
    }
  }
  EXPECT_GT(num_ambiguous, 0);
  EXPECT_GT(num_lost, 0);
}

}  // namespace
}  // namespace tally
