// The side table of d-left filters, against theory/dleft_spills.hpp and the plans that use it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "random.hpp"
#include "tally/filters/compact_dleft.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/planner/plan_compact_dleft.hpp"
#include "tally/planner/plan_dleft.hpp"
#include "tally/theory/dleft_spills.hpp"

namespace tally::test {
namespace {

struct Group {
  std::uint64_t count;
  std::uint64_t num_keys;
};

theory::CountHistogram histogram_of(const std::vector<Group>& groups) {
  std::vector<std::pair<std::uint64_t, double>> counts;
  for (const Group& group : groups) counts.emplace_back(group.count, static_cast<double>(group.num_keys));
  return theory::make_count_histogram(counts, 64);
}

/// A filter with keys of these counts; one key after the other is replaced by a new one of the same count.
template <class Filter, class Shape>
class Filled {
 public:
  Filled(const Shape& shape, const std::vector<Group>& groups, std::uint64_t seed)
      : filter_(shape, seed), random_(seed) {
    for (const Group& group : groups)
      for (std::uint64_t i = 0; i < group.num_keys; ++i) keys_.push_back({random_.digest(), group.count});
    for (const auto& key : keys_) insert(key);
  }

  void replace(std::uint64_t num_replacements) {
    for (std::uint64_t i = 0; i < num_replacements; ++i) {
      auto& key = keys_[random_.below(keys_.size())];
      for (std::uint64_t c = 0; c < key.second; ++c)
        EXPECT_EQ(filter_.remove(key.first), RemoveResult::removed);
      key.first = random_.digest();
      insert(key);
    }
  }

  std::uint64_t num_spilled() const { return filter_.statistics().table.num_spilled; }
  std::uint64_t num_full() const { return num_full_; }

 private:
  void insert(const std::pair<Hash128, std::uint64_t>& key) {
    for (std::uint64_t c = 0; c < key.second; ++c)
      num_full_ += filter_.insert(key.first) == InsertResult::full;
  }

  Filter filter_;
  Random random_;
  std::vector<std::pair<Hash128, std::uint64_t>> keys_;
  std::uint64_t num_full_ = 0;
};

using DLeft = Filled<DLeftCountingBloomFilter<RotationBuckets>, DLeftShape>;

/// 4 standard deviations: each limit fails by chance once in 30,000 times.
constexpr double limit = 4;

TEST(DLeftSpills, AreAsManyAsPredictedForAnyHistogram) {
  const std::vector<std::vector<Group>> histograms = {
      {{1, 20'000}}, {{3, 20'000}}, {{1, 15'000}, {2, 4000}, {5, 900}, {40, 100}}, {{2, 10'000}, {7, 500}}};
  for (const std::vector<Group>& groups : histograms) {
    for (const std::uint32_t counter_bits : {0u, 1u, 2u, 3u}) {
      const DLeftShape shape{.buckets_per_subtable = 1024,
                             .num_subtables = 4,
                             .cells_per_bucket = 8,
                             .remainder_bits = 8 - counter_bits,
                             .counter_bits = counter_bits,
                             .least_remainder_bits = 8 - counter_bits,
                             .spill_capacity = 30'000};
      const FingerprintSpace space = shape.fingerprint_space();
      const double expected = theory::dleft_expected_spills(histogram_of(groups), space.num_buckets,
                                                            space.num_remainders(), 1u << counter_bits);
      DLeft filled(shape, groups, 3);
      EXPECT_EQ(filled.num_full(), 0u);
      // Their number varies less than a Poisson number, and the law is above the mean by the order of 1 / (B R).
      const auto found = static_cast<double>(filled.num_spilled());
      EXPECT_NEAR(found, expected, limit * std::sqrt(expected) + 1) << groups.size() << " " << counter_bits;
    }
  }
}

TEST(DLeftSpills, StayWithinTheCapacityOfTheirLifeAndNearTheirExpectedMaximum) {
  const std::vector<Group> groups = {{1, 3000}, {2, 500}, {3, 200}};
  const DLeftShape shape{.buckets_per_subtable = 160,
                         .num_subtables = 4,
                         .cells_per_bucket = 8,
                         .remainder_bits = 6,
                         .counter_bits = 2,
                         .least_remainder_bits = 6,
                         .spill_capacity = 5000};
  const FingerprintSpace space = shape.fingerprint_space();
  const double expected =
      theory::dleft_expected_spills_bound(histogram_of(groups), space.num_buckets, space.num_remainders(), 4);
  DLeft filled(shape, groups, 4);
  std::uint64_t most = filled.num_spilled();
  constexpr std::uint64_t num_replacements = 150'000;
  for (std::uint64_t i = 0; i < num_replacements; i += 50) {
    filled.replace(50);
    most = std::max(most, filled.num_spilled());
  }
  EXPECT_EQ(filled.num_full(), 0u);
  EXPECT_LE(most, theory::dleft_spill_capacity(expected, num_replacements, 1e-4));
  EXPECT_LE(static_cast<double>(most), theory::dleft_expected_most_spills(expected, num_replacements));
  EXPECT_GE(static_cast<double>(most), expected + 1.5 * std::sqrt(expected));
}

TEST(DLeftSpills, APlanForKeysThatAreEachInTheFilterSeveralTimesIsNeverFull) {
  for (const std::uint64_t times : {1u, 3u, 5u, 12u}) {
    constexpr std::uint64_t num_keys = 30'000;
    for (const bool by_histogram : {false, true}) {
      Requirements requirements{.false_positive_rate = 0.01};
      if (by_histogram) {
        requirements.histogram = histogram_of({{times, num_keys}});
      } else {
        requirements.num_keys = num_keys;
        requirements.num_insertions = num_keys * times;
      }
      DLeft filled(plan_dleft(requirements), {{times, num_keys}}, times);
      filled.replace(num_keys);
      EXPECT_EQ(filled.num_full(), 0u) << times;
    }
    if (times > dleft_common_key_count) continue;
    DLeft filled(plan_dleft({.num_keys = num_keys, .false_positive_rate = 0.01}), {{times, num_keys}}, times);
    filled.replace(num_keys);
    EXPECT_EQ(filled.num_full(), 0u) << times;
  }
}

TEST(DLeftSpills, APlanForInsertionsOfRandomKeysIsNeverFull) {
  for (const double mean : {1.5, 4.0, 9.0}) {
    constexpr std::uint64_t num_drawn = 20'000;
    const auto num_insertions = static_cast<std::uint64_t>(mean * num_drawn);
    Random random(9);
    std::vector<std::uint64_t> counts(num_drawn);
    for (std::uint64_t i = 0; i < num_insertions; ++i) ++counts[random.below(num_drawn)];
    const auto num_keys = static_cast<std::uint64_t>(num_drawn - std::ranges::count(counts, 0u));
    std::vector<Group> groups;
    for (const std::uint64_t count : counts)
      if (count > 0) groups.push_back({count, 1});
    DLeft filled(
        plan_dleft({.num_keys = num_keys, .false_positive_rate = 0.01, .num_insertions = num_insertions}),
        groups, 10);
    filled.replace(num_keys);
    EXPECT_EQ(filled.num_full(), 0u) << mean;
  }
}

TEST(DLeftSpills, OfUniqueKeysNeedHardlyAnyMemoryAndAreNeverFull) {
  for (const std::uint64_t num_keys : {10u, 100u, 1000u, 10'000u}) {
    const Requirements requirements{.num_keys = num_keys, .false_positive_rate = 0.05, .keys_repeat = false};
    for (std::uint64_t seed = 0; seed < 10'000 / num_keys; ++seed) {
      DLeft filled(plan_dleft(requirements), {{1, num_keys}}, seed);
      filled.replace(2 * num_keys);
      EXPECT_EQ(filled.num_full(), 0u) << num_keys;
      Filled<CompactDLeftFilter, CompactDLeftShape> compact(plan_compact_dleft(requirements), {{1, num_keys}},
                                                            seed);
      compact.replace(2 * num_keys);
      EXPECT_EQ(compact.num_full(), 0u) << num_keys;
    }
  }
}

}  // namespace
}  // namespace tally::test
