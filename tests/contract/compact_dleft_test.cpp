#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/batches_and_single_keys.hpp"
#include "support/compact_dleft.hpp"
#include "support/dleft.hpp"
#include "support/exact_multiset.hpp"
#include "support/random.hpp"
#include "tally/any_filter/similarity.hpp"

namespace tally {
namespace {

using test::ExactFingerprints;
using test::fingerprints_of;
using test::Random;

/// visit(an empty filter of each small shape).
template <class Visit>
void for_each_empty(Visit visit) {
  for (const CompactDLeftShape& shape : test::small_compact_shapes()) {
    SCOPED_TRACE("r " + std::to_string(shape.remainder_bits) + ", lines " +
                 std::to_string(shape.num_lines()) + ", spills " + std::to_string(shape.spill_capacity));
    visit(CompactDLeftFilter(shape, KeyHasher(7)));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

std::uint64_t fingerprint_of(const CompactDLeftFilter& filter, std::uint64_t key) {
  return filter.table().finder().fingerprint_of(filter.table().spot_of(filter.hasher()(key)));
}

/// What the filter holds against the exact multiset of fingerprints.
void expect_equal(const CompactDLeftFilter& filter, const ExactFingerprints& exact) {
  ASSERT_EQ(fingerprints_of(filter), exact);
  const CompactDLeftStatistics statistics = filter.statistics();
  ASSERT_EQ(statistics.num_fingerprints, exact.size());
  std::uint64_t num_keys = 0;
  std::uint64_t num_cells = 0;
  for (const auto& [fingerprint, count] : exact) {
    const auto [left, right] = test::num_copies_of(filter, fingerprint);
    ASSERT_TRUE(left == 0 || right == 0) << fingerprint << " is in both lines";
    ASSERT_GE(left + right, 1u) << fingerprint;
    ASSERT_EQ(left + right, std::min<std::uint64_t>(count, detail::max_compact_copies)) << fingerprint;
    ASSERT_EQ(filter.count_fingerprint(fingerprint), count);
    num_keys += count;
    num_cells += left + right;
  }
  ASSERT_EQ(statistics.num_keys, num_keys);
  ASSERT_EQ(statistics.num_used_cells, num_cells);
  ASSERT_EQ(statistics.spilled_total, num_keys - num_cells);
  std::uint64_t num_lines = 0;
  for (const auto& loads : statistics.loads)
    num_lines += std::accumulate(loads.begin(), loads.end(), std::uint64_t{0});
  ASSERT_EQ(num_lines, filter.shape().num_lines());
}

TEST(CompactDLeft, HoldsExactlyTheMultisetOfFingerprints) {
  for_each_empty([&](CompactDLeftFilter filter) {
    ExactFingerprints exact;
    Random random(1);
    const std::uint64_t universe = 2 * filter.shape().num_cells();
    for (int i = 0; i < 10'000; ++i) {
      // Low keys are frequent, so that there are counts of all sizes.
      const std::uint64_t key = random.below(random.below(universe) + 1);
      const std::uint64_t fingerprint = fingerprint_of(filter, key);
      const bool is_in = exact.contains(fingerprint);
      ASSERT_EQ(filter.may_contain(key), is_in);
      ASSERT_EQ(filter.count(key), (Count{is_in ? exact[fingerprint] : 0, false}));
      const bool grows = i / 2500 % 2 == 0;
      if (random.below(10) < (grows ? 6u : 4u)) {
        const bool looks = random.below(32) == 0;
        const auto before = looks ? std::make_unique<CompactDLeftFilter>(filter) : nullptr;
        if (filter.insert(key) == InsertResult::counted) {
          ++exact[fingerprint];
        } else if (looks) {
          ASSERT_EQ(filter.table(), before->table());
        }
      } else {
        ASSERT_EQ(filter.remove(key), is_in ? RemoveResult::removed : RemoveResult::refused);
        if (is_in && --exact[fingerprint] == 0) exact.erase(fingerprint);
      }
      if (!is_in && exact[fingerprint] == 0) exact.erase(fingerprint);
      if (i % 500 == 0) expect_equal(filter, exact);
    }
    expect_equal(filter, exact);
    EXPECT_GT(filter.totals().num_full, 0u);
    EXPECT_EQ(filter.totals().num_rescues > 0, filter.shape().moves == DLeftMoves::search);
    EXPECT_GT(filter.totals().num_refused_removes, 0u);
  });
}

TEST(CompactDLeft, NoKeyOfTheMultisetIsMissedAndNoCountIsTooLow) {
  for_each_empty([&](CompactDLeftFilter filter) {
    test::ExactMultiset exact(filter.shape().num_cells());
    Random random(2);
    for (int i = 0; i < 30'000; ++i) {
      if (random.below(100) < 55 || exact.empty()) {
        const std::uint64_t key = random.below(random.below(exact.universe()) + 1);
        if (filter.insert(key) == InsertResult::counted) exact.insert(key);
      } else {
        const std::uint64_t key = exact.present()[random.below(exact.present().size())];
        ASSERT_EQ(filter.remove(key), RemoveResult::removed);
        exact.remove(key);
      }
      if (i % 1000 != 0) continue;
      for (std::uint64_t key = 0; key < exact.universe(); ++key) {
        ASSERT_GE(filter.count(key).value, exact.count(key));
        ASSERT_TRUE(filter.may_contain(key) || exact.count(key) == 0);
      }
    }
  });
}

TEST(CompactDLeft, BatchesDoWhatSingleKeysDo) {
  for_each_empty([](const CompactDLeftFilter& filter) {
    test::expect_that_batches_do_what_single_keys_do(filter, 2 * filter.shape().num_cells());
  });
}

TEST(CompactDLeft, BatchesOfAFilterLargerThanCachesDoWhatSingleKeysDo) {
  const CompactDLeftFilter filter({.num_lines_per_subtable = 50'000}, KeyHasher(3));
  ASSERT_GT(num_bytes(filter.shape()), detail::near_bytes);
  test::expect_that_batches_do_what_single_keys_do(filter, 1000);
}

TEST(CompactDLeft, AKeyInsertedAMillionTimesAmongOthersIsCountedAndCanBeRemovedAMillionTimes) {
  for_each_empty([&](CompactDLeftFilter filter) {
    if (filter.shape().spill_capacity == 0) return;
    const std::uint64_t times = filter.shape().remainder_bits == 9 ? 1'000'000 : 10'000;
    const std::uint64_t hot = 5;
    std::vector<std::uint64_t> others;
    for (std::uint64_t key = 100; key < 130; ++key) others.push_back(key);
    for (std::uint64_t i = 0; i < times; ++i) {
      ASSERT_EQ(filter.insert(hot), InsertResult::counted);
      if (i % (times / 30) == 0 && i / (times / 30) < others.size()) {
        ASSERT_EQ(filter.insert(others[i / (times / 30)]), InsertResult::counted);
      }
    }
    ASSERT_EQ(filter.count(hot).value, times);
    ASSERT_EQ(filter.statistics().num_fingerprints, 31u);
    std::vector<std::uint64_t> keys(times - 4, hot);
    std::vector<RemoveResult> results(keys.size());
    filter.remove_batch(keys, results);
    ASSERT_EQ(std::count(results.begin(), results.end(), RemoveResult::removed), times - 4);
    for (std::uint64_t left = 4; left > 0; --left) {
      ASSERT_EQ(filter.count(hot).value, left);
      ASSERT_EQ(filter.statistics().num_spilled, left > detail::max_compact_copies);
      ASSERT_EQ(filter.remove(hot), RemoveResult::removed);
    }
    ASSERT_EQ(filter.remove(hot), RemoveResult::refused);
    for (const std::uint64_t key : others) ASSERT_EQ(filter.remove(key), RemoveResult::removed);
    expect_equal(filter, {});
    for (const std::uint64_t word : filter.table().words().words()) ASSERT_EQ(word, 0u);
  });
}

// When another key of a fingerprint comes and its line has no room, another fingerprint moves away.
TEST(CompactDLeft, ACopyThatFindsItsLineFullIsCountedAndStaysWithTheOthers) {
  CompactDLeftFilter filter({.num_lines_per_subtable = 50}, KeyHasher(3));
  ExactFingerprints exact;
  std::uint64_t num_keys = 0;
  while (filter.statistics().load_factor() < 0.95) {
    ASSERT_EQ(filter.insert(num_keys), InsertResult::counted);
    ++exact[fingerprint_of(filter, num_keys++)];
  }
  const std::uint64_t num_rescues = filter.totals().num_rescues;
  for (std::uint64_t key = 0; key < 150; ++key) {
    ASSERT_EQ(filter.insert(key), InsertResult::counted);
    ++exact[fingerprint_of(filter, key)];
    expect_equal(filter, exact);
  }
  EXPECT_GT(filter.totals().num_rescues, num_rescues + 20);
  for (std::uint64_t key = 0; key < num_keys; ++key) {
    for (int times = key < 150 ? 2 : 1; times > 0; --times)
      ASSERT_EQ(filter.remove(key), RemoveResult::removed);
  }
  expect_equal(filter, {});
}

TEST(CompactDLeft, AFullFilterRefusesAndChangesNothing) {
  for_each_empty([&](CompactDLeftFilter filter) {
    std::uint64_t key = 0;
    while (filter.statistics().num_used_cells < filter.shape().num_cells()) (void)filter.insert(key++);
    const CompactDLeftFilter before = filter;
    const std::uint64_t num_full = filter.totals().num_full;
    int num_refused = 0;
    for (int i = 0; i < 200; ++i) {
      const bool is_in = filter.may_contain(++key);
      if (is_in) continue;
      ASSERT_EQ(filter.insert(key), InsertResult::full);
      ASSERT_EQ(filter.table(), before.table());
      ++num_refused;
    }
    ASSERT_EQ(filter.totals().num_full, num_full + num_refused);
    ASSERT_GT(num_refused, 100);
  });
}

TEST(CompactDLeft, MovesRaiseTheLoadAtWhichAnInsertionFirstFails) {
  std::array<double, 2> loads{};
  for (const DLeftMoves moves : {DLeftMoves::none, DLeftMoves::search}) {
    CompactDLeftFilter filter({.num_lines_per_subtable = 1000, .moves = moves}, KeyHasher(1));
    std::uint64_t key = 0;
    while (filter.insert(key) == InsertResult::counted) ++key;
    for (std::uint64_t i = 0; i < key; ++i) ASSERT_TRUE(filter.may_contain(i));
    loads[moves == DLeftMoves::search] = filter.statistics().load_factor();
  }
  EXPECT_GT(loads[0], 0.90);
  EXPECT_LT(loads[0], 0.97);
  EXPECT_GT(loads[1], 0.99);
}

TEST(CompactDLeft, MergesAreExactAndAFullOneChangesNothing) {
  for_each_empty([&](CompactDLeftFilter filter) {
    CompactDLeftFilter other = filter;
    Random random(4);
    const std::uint64_t universe = filter.shape().num_cells() / 2;
    for (std::uint64_t i = 0; i < universe / 2; ++i)
      (void)filter.insert(random.below(random.below(universe) + 1));
    for (std::uint64_t i = 0; i < universe / 2; ++i)
      (void)other.insert(random.below(random.below(universe) + 1));
    for (auto [mine, theirs] :
         {std::pair{filter, other}, std::pair{other, filter}, std::pair{filter, filter}}) {
      ExactFingerprints sum = fingerprints_of(mine);
      const ExactFingerprints before = sum;
      for (const auto& [fingerprint, count] : fingerprints_of(theirs)) sum[fingerprint] += count;
      const bool fits = mine.merge(theirs);
      ASSERT_TRUE(fits || filter.shape().spill_capacity < 40);
      expect_equal(mine, fits ? sum : before);
    }
    if (filter.shape().spill_capacity >= 40) {
      ExactFingerprints doubled = fingerprints_of(filter);
      for (auto& [fingerprint, count] : doubled) count *= 2;
      ASSERT_TRUE(filter.merge(filter));
      expect_equal(filter, doubled);
    }
    CompactDLeftFilter full = other;
    std::uint64_t key = 1'000'000;
    for (std::uint64_t i = 0; i < 4 * universe; ++i) (void)full.insert(++key);
    const CompactDLeftFilter held = full;
    CompactDLeftFilter more(filter.shape(), filter.hasher());
    for (int i = 0; i < 50; ++i) (void)more.insert(++key);
    ASSERT_FALSE(full.merge(more));
    ASSERT_EQ(full, held);
  });
}

TEST(CompactDLeft, TwoFiltersTellHowManyKeysTheyShare) {
  const CompactDLeftShape shape{.num_lines_per_subtable = 100, .remainder_bits = 8};
  CompactDLeftFilter a(shape, 42);
  CompactDLeftFilter b(shape, 42);
  for (std::uint64_t key = 0; key < 4000; ++key) ASSERT_EQ(a.insert(key), InsertResult::counted);
  for (std::uint64_t key = 1000; key < 7000; ++key) ASSERT_EQ(b.insert(key), InsertResult::counted);
  const SetSimilarity found = estimate_similarity(a, b);
  EXPECT_NEAR(found.intersection_size.value, 3000, 15);
  EXPECT_NEAR(found.jaccard.value, 3.0 / 7, 0.003);
  EXPECT_LE(found.jaccard.low, 3.0 / 7);
  EXPECT_GE(found.jaccard.high, 3.0 / 7);
  const CompactDLeftFilter other({.num_lines_per_subtable = 101, .remainder_bits = 8}, 42);
  EXPECT_THROW((void)estimate_similarity(a, other), std::invalid_argument);
}

TEST(CompactDLeft, ASnapshotHasEveryKey) {
  CompactDLeftFilter filter({.num_lines_per_subtable = 8, .remainder_bits = 9}, 42);
  for (std::uint64_t key = 0; key < 50; ++key) ASSERT_EQ(filter.insert(key), InsertResult::counted);
  const BloomFilter<> snapshot = filter.snapshot({.num_bits = 10'000, .num_hashes = 5});
  std::uint64_t num_absent = 0;
  for (std::uint64_t key = 0; key < 2000; ++key) {
    const bool may = snapshot.may_contain(filter.snapshot_key(key));
    ASSERT_TRUE(may || !filter.may_contain(key));
    num_absent += !may;
  }
  EXPECT_GT(num_absent, 1900u);
}

TEST(CompactDLeft, ARangeOfKeysIsInsertedAndItsRefusalsAreCounted) {
  CompactDLeftFilter filter({.num_lines_per_subtable = 2, .remainder_bits = 9}, 42);
  std::vector<std::uint64_t> keys(1000);
  std::iota(keys.begin(), keys.end(), std::uint64_t{0});
  const std::uint64_t num_full = filter.insert_range(keys);
  EXPECT_EQ(num_full, filter.totals().num_full);
  EXPECT_EQ(filter.totals().num_insertions, 1000 - num_full);
  EXPECT_GE(num_full, 1000 - filter.shape().num_cells());
  const std::list<std::uint64_t> no_batch(keys.begin(), keys.begin() + 3);
  filter.clear();
  EXPECT_EQ(filter.insert_range(no_batch), 0u);
  EXPECT_TRUE(filter.may_contain(std::uint64_t{2}));
}

TEST(CompactDLeft, MergingRefusesOthersAndNamesTheField) {
  const CompactDLeftShape shape{.num_lines_per_subtable = 16};
  CompactDLeftFilter filter(shape, KeyHasher(1));
  const auto expect_named = [&](const CompactDLeftShape& other, std::uint64_t seed,
                                const std::string& field) {
    try {
      (void)filter.merge(CompactDLeftFilter(other, KeyHasher(seed)));
      ADD_FAILURE() << field;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(field), std::string::npos) << error.what();
    }
  };
  expect_named(shape, 2, "seed");
  expect_named({.num_lines_per_subtable = 17}, 1, "num_lines_per_subtable");
  expect_named({.num_lines_per_subtable = 16, .remainder_bits = 10}, 1, "remainder_bits");
  EXPECT_TRUE(
      filter.merge(CompactDLeftFilter({.num_lines_per_subtable = 16, .spill_capacity = 3}, KeyHasher(1))));
}

TEST(CompactDLeft, ClearingCopyingAndMovingKeepWhatTheySay) {
  for_each_empty([&](CompactDLeftFilter filter) {
    const CompactDLeftFilter empty = filter;
    for (std::uint64_t key = 0; key < 60; ++key) (void)filter.insert(key % 20);
    CompactDLeftFilter copy = filter;
    ASSERT_EQ(copy, filter);
    ASSERT_EQ(filter.insert(std::uint64_t{1000}), InsertResult::counted);
    ASSERT_NE(copy, filter);
    ASSERT_EQ(copy.count(std::uint64_t{1000}).value, 0u);
    CompactDLeftFilter moved = std::move(copy);
    ASSERT_TRUE(moved.may_contain(std::uint64_t{3}));
    ASSERT_EQ(moved.insert(std::uint64_t{1000}), InsertResult::counted);
    ASSERT_EQ(moved, filter);
    moved = empty;
    ASSERT_EQ(moved, empty);
    filter.clear();
    ASSERT_EQ(filter, empty);
    ASSERT_EQ(filter.statistics().num_fingerprints, 0u);
  });
}

}  // namespace
}  // namespace tally
